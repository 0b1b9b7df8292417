/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending unwind rows to the agent, from the front end's side: order, chunks, every kind of reply. The modules are
 * this process's own files; the test plays the agent, and checks rows with the agent's code.
 */
#include "session/unwind_feed.h"
#include "symbols/child/child.h"
#include "tests/tap.h"
#include "walk/frames/unwind.h"
#include "wire/unwind.h"

#include <errno.h>
#include <unistd.h>

#define STAGING (256 << 10)
#define SMALL   4096
#define MODULES 64
/* The only mapped file besides libc's, with either libc. */
#define OWN "/test_unwind_feed"

/* The agent's side: the chunks that it has received. */
struct agent {
	uint32_t order[MODULES]; /* ids in the order in which their rows were complete */
	unsigned complete;
	uint32_t module, have, total;
	unsigned char *rows;
	unsigned commands, chunks, bad, evicted;
	uint32_t last_evicted;
};

struct mapped {
	char path[256];
	uint64_t start, end, offset;
};

static struct mapped maps[MODULES];
static unsigned map_count;

static void maps_read(void)
{
	char line[4096], perms[8];
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && map_count < MODULES && fgets(line, sizeof line, f)) {
		struct mapped *m = &maps[map_count];

		m->path[0] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255[^\n]",
			    &m->start, &m->end, perms, &m->offset, m->path) == 5 &&
			perms[2] == 'x' && strcmp(m->path, "[vsyscall]"))
			map_count++;
	}
	if (f)
		fclose(f);
}

static uint32_t id_of(const char *name)
{
	for (unsigned i = 0; i < map_count; i++)
		if (strstr(maps[i].path, name))
			return i + 1;
	return 0;
}

static struct unwind_feed *feed_of_all(void)
{
	struct unwind_feed *f = unwind_feed_new(0);

	for (unsigned i = map_count;
		i-- > 0;) /* the reverse order: the feed has an order of its own */
		unwind_feed_module(f, i + 1,
			&(struct proc_map){.path = maps[i].path,
				.start = maps[i].start,
				.end = maps[i].end,
				.offset = maps[i].offset});
	return f;
}

static void agent_accept(struct agent *a, const struct wire_unwind_chunk *head)
{
	a->chunks++;
	if (!head->total_bytes) {
		a->evicted++;
		a->last_evicted = head->module;
		return;
	}
	if (!head->offset) {
		free(a->rows);
		a->rows = malloc(head->total_bytes);
		a->module = head->module;
		a->total = head->total_bytes;
		a->have = 0;
	}
	if (head->module != a->module || head->offset != a->have ||
		head->bytes > a->total - a->have || head->bytes % 4) {
		a->bad++;
		return;
	}
	memcpy(a->rows + a->have, head->data, head->bytes);
	a->have += head->bytes;
	if (a->have < a->total)
		return;
	a->bad += !unwind_rows_check(a->rows, a->total);
	if (a->complete < MODULES)
		a->order[a->complete++] = a->module;
}

typedef int refuse_fn(const struct wire_unwind_chunk *);

/* The agent's answer to a command: accepts chunks until one is refused. */
static int agent_command(struct agent *a, const char *staging, size_t bytes, refuse_fn *refuse)
{
	int accepted = 0, answer;

	a->commands++;
	for (size_t at = 0; at < bytes; accepted++) {
		const struct wire_unwind_chunk *head = (const void *)(staging + at);

		if (bytes - at < sizeof *head || head->bytes > bytes - at - sizeof *head) {
			a->bad++;
			return -EINVAL;
		}
		answer = refuse ? refuse(head) : 0;
		if (answer)
			return accepted ? accepted : answer;
		agent_accept(a, head);
		at += sizeof *head + head->bytes;
	}
	return accepted;
}

/* Runs the feed to its end; refuse decides per chunk (0: accept). */
static void run(struct unwind_feed *f, struct agent *a, size_t space, refuse_fn *refuse)
{
	static uint64_t staging[STAGING / 8];

	while (unwind_feed_busy(f)) {
		size_t bytes = unwind_feed_step(f, staging, space, 1000000);

		if (bytes > space)
			a->bad++;
		else if (bytes)
			unwind_feed_answer(f, agent_command(a, (char *)staging, bytes, refuse));
	}
}

static void test_order(size_t space)
{
	struct unwind_feed *f = feed_of_all();
	struct unwind_feed_status st;
	struct agent a = {0};

	run(f, &a, space, NULL);
	unwind_feed_status(f, &st);
	is_int(a.bad, 0, "the chunks fit together, and the rows pass the agent's check");
	is_int(a.complete, map_count, "the rows of every module are complete");
	is_int(st.sent, map_count, "every module is counted as sent");
	diag("%u modules, %zu bytes in %u chunks and %u commands", a.complete, st.bytes, a.chunks,
		a.commands);
	unwind_feed_free(f);
	free(a.rows);
}

/* Compiled one at a time and sent at once, the modules arrive in order of use. */
static void test_first(void)
{
	struct unwind_feed *f = feed_of_all();
	struct agent a = {0};

	run(f, &a, SMALL, NULL);
	is_int(a.order[0], id_of("libc.so"), "libc's rows come first");
	ok(!id_of("[vdso]") || a.order[1] == id_of("[vdso]"), "the vDSO's rows come second");
	unwind_feed_free(f);
	free(a.rows);
}

static unsigned again;

static int refuse_often(const struct wire_unwind_chunk *head)
{
	(void)head;
	return again++ % 3 ? -EAGAIN : 0;
}

static void test_again(void)
{
	struct unwind_feed *f = feed_of_all();
	struct agent a = {0};

	run(f, &a, STAGING, refuse_often);
	ok(!a.bad && a.complete == map_count,
		"every chunk answered with EAGAIN is sent again until accepted");
	unwind_feed_free(f);
	free(a.rows);
}

static int refuse_libc(const struct wire_unwind_chunk *head)
{
	return head->module == id_of("libc.so") ? -ENOSPC : 0;
}

static int refuse_with_gone(const struct wire_unwind_chunk *head)
{
	return head->module == id_of(OWN) ? -ENOENT : 0;
}

static int refuse_always(const struct wire_unwind_chunk *head)
{
	(void)head;
	return -EAGAIN;
}

static void test_refusals(void)
{
	struct unwind_feed *f = feed_of_all();
	struct unwind_feed_status st;
	struct agent a = {0};

	run(f, &a, STAGING, refuse_libc);
	unwind_feed_status(f, &st);
	is_int(a.complete, map_count - 1, "when one module does not fit the others are sent");
	ok(st.without_space == 1 && strstr(st.note, "libc.so"),
		"the note names the module that does not fit: %s", st.note);
	unwind_feed_free(f);

	f = feed_of_all();
	a.complete = 0;
	run(f, &a, STAGING, refuse_with_gone);
	unwind_feed_status(f, &st);
	ok(a.complete == map_count - 1 && !st.without_space && !st.without_rows,
		"a module that the agent has unloaded does not count as missing");
	unwind_feed_free(f);

	f = feed_of_all();
	a.complete = 0;
	run(f, &a, STAGING, refuse_always);
	ok(!a.complete, "the feed ends although the agent always answers EAGAIN");
	unwind_feed_free(f);
	free(a.rows);
}

/*
 * A module without frame pointers: libz, or this program if libz is linked statically (sanitizers add frame pointers).
 */
static uint32_t plain_id(void)
{
	uint32_t libz = id_of("libz.so");

	return libz ? libz : id_of(OWN);
}

/* libjvm keeps frame pointers: its rows are evicted when a later library finds no space. */
static bool jvm_evicted;

static int refuse_until_jvm_goes(const struct wire_unwind_chunk *head)
{
	if (head->module == 1000 && !head->total_bytes)
		jvm_evicted = true;
	return head->module == plain_id() && !jvm_evicted ? -ENOSPC : 0;
}

static void test_eviction(const char *libjvm)
{
	struct unwind_feed *f = unwind_feed_new(0);
	struct unwind_feed_status st;
	struct agent a = {0};
	uint32_t plain = plain_id();

	unwind_feed_module(f, 1000, &(struct proc_map){.path = libjvm});
	run(f, &a, STAGING, refuse_until_jvm_goes);
	is_int(a.complete, 1, "libjvm's rows are sent");
	unwind_feed_module(f, plain,
		&(struct proc_map){.path = maps[plain - 1].path,
			.start = maps[plain - 1].start,
			.end = maps[plain - 1].end});
	run(f, &a, STAGING, refuse_until_jvm_goes);
	unwind_feed_status(f, &st);
	ok(a.evicted == 1 && a.last_evicted == 1000,
		"libjvm's rows are evicted in favour of the library's");
	ok(a.complete == 2 && a.order[1] == plain,
		"the library's rows are sent after the eviction");
	ok(st.sent == 1 && strstr(st.note, "libjvm"),
		"the note says that libjvm's rows were evicted: %s", st.note);
	unwind_feed_free(f);
	free(a.rows);
}

static void test_no_file(void)
{
	struct unwind_feed *f = unwind_feed_new(0);
	struct unwind_feed_status st;
	struct agent a = {0};

	unwind_feed_module(f, 1, &(struct proc_map){.path = "/nowhere/libgone.so"});
	unwind_feed_module(f, 2, &(struct proc_map){.path = "/proc/self/status"});
	unwind_feed_module(f, 3, &(struct proc_map){.path = "/tmp/libjhot-1-2-3.so"});
	run(f, &a, STAGING, NULL);
	unwind_feed_status(f, &st);
	ok(!a.chunks && st.without_rows == 2 && strstr(st.note, "libgone"),
		"the note names a missing file, but not one that is no ELF file: %s", st.note);
	ok(!strstr(st.note, "libjhot"), "the note does not name the agent's own file");
	unwind_feed_free(f);
}

static bool announce_libc(void *ctx, const struct proc_map *m)
{
	if (!strstr(m->path, "/libc.so") || m->perms[2] != 'x')
		return true;
	unwind_feed_module(ctx, 7, m);
	return false;
}

static void test_ahead(void)
{
	struct unwind_feed *f = unwind_feed_new(getpid());
	struct unwind_feed_status st;
	struct agent a = {0};

	unwind_feed_ahead(f);
	unwind_feed_status(f, &st);
	ok(!unwind_feed_busy(f) && !st.waiting, "a module compiled ahead is not pending");
	proc_maps(getpid(), announce_libc, f);
	unwind_feed_status(f, &st);
	is_int(st.waiting, 1, "a module compiled ahead is pending once announced");
	run(f, &a, STAGING, NULL);
	ok(a.complete == 1 && a.order[0] == 7 && !a.bad,
		"the rows of a module compiled ahead are sent once, under the announced id");
	unwind_feed_free(f);
	free(a.rows);
}

int main(int argc, char **argv)
{
	char libjvm[4096], *home = getenv("JAVA") ? realpath(getenv("JAVA"), NULL) : NULL;

	if (elf_child_main(argc, argv, NULL))
		return 0;
	maps_read();
	test_order(STAGING);
	test_order(SMALL);
	test_first();
	test_again();
	test_refusals();
	test_no_file();
	test_ahead();
	if (home) {
		snprintf(libjvm, sizeof libjvm, "%.*s/../lib/server/libjvm.so",
			(int)(strrchr(home, '/') - home), home);
		if (fopen(libjvm, "r"))
			test_eviction(libjvm);
		else
			diag("%s: not found, eviction not tested", libjvm);
	}
	free(home);
	return tap_done();
}
