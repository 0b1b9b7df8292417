/* SPDX-License-Identifier: Apache-2.0 */
/* session: recordings. The same file gives the same profile, damaged files give errors and never harm. */
#include "base/buf.h"
#include "export/export.h"
#include "session/session.h"
#include "tests/tap.h"
#include "wire/layout.h"

#include <sys/mman.h>
#include <unistd.h>

#define FIXTURE_SAMPLES 11
#define DAMAGED_ROUNDS  500

static unsigned char *fixture;
static size_t fixture_bytes;
static char fixture_path[512];

static void read_fixture(void)
{
	const char *srcdir = getenv("srcdir");
	FILE *f;

	snprintf(fixture_path, sizeof(fixture_path), "%s/tests/session/compile.raw",
		srcdir ? srcdir : ".");
	f = fopen(fixture_path, "re");
	fixture = xmalloc(1 << 20);
	if (f) {
		fixture_bytes = fread(fixture, 1, 1 << 20, f);
		fclose(f);
	}
	ok(fixture_bytes > 10000, "there is a recording of %zu bytes", fixture_bytes);
}

static struct vitals *replayed_vitals; /* where they are wanted */

/* All of a recording: its stacks as text, its samples, the error that ended it. */
static int64_t replay(const char *path, struct buf *text, struct err *end)
{
	struct profile *p = profile_new();
	struct err err = {0};
	struct session *s = session_replay(path, true, p, &err);
	struct export_options options = {
		.query = {.event = EVENT_CPU, .to = UINT32_MAX, .thread = PROFILE_ANY_THREAD}};
	int64_t samples = -1;

	*end = err;
	if (s) {
		while (session_replay_step(s))
			session_vitals(s);
		session_drain(s, end);
		if (replayed_vitals)
			*replayed_vitals = *session_vitals(s);
		samples = (int64_t)profile_sum(p, &options.query).count;
		if (text)
			export_format_by_path("x.collapsed")->write(text, p, &options);
	}
	session_close(s);
	profile_free(p);
	return samples;
}

static void test_same(void)
{
	struct buf first = {0}, second = {0};
	struct err end = {0};

	is_int(replay(fixture_path, &first, &end), FIXTURE_SAMPLES, "all samples are replayed");
	is_int(end.kind, ERR_GONE, "the end is an end");
	replay(fixture_path, &second, &end);
	is_str(buf_str(&first), buf_str(&second), "the same file gives the same stacks");
	ok(strstr(buf_str(&first), "com/sun/tools/javac/") != NULL, "Java names are in it");
	ok(strstr(buf_str(&first), "LinearScan::allocate_registers") != NULL,
		"the JVM's own, demangled");
	ok(strstr(buf_str(&first), "_raw_spin_unlock_irqrestore_[k]") != NULL, "and the kernel's");
	buf_done(&first);
	buf_done(&second);
}

static void test_steps(void)
{
	struct profile *p = profile_new();
	struct err err = {0};
	struct session *s = session_replay(fixture_path, true, p, &err);
	const struct vitals *v;
	uint32_t before;
	int steps = 0;

	do {
		before = profile_info(p).now;
		steps++;
	} while (session_replay_step(s) && profile_info(p).now <= before + 1);
	ok(steps >= 2 && profile_info(p).now <= (uint32_t)steps, "a step is a second (%d steps)",
		steps);
	v = session_vitals(s);
	ok(v->pid > 0 && strstr(v->name, "Compile") != NULL, "the vitals know the JVM: %s",
		v->name);
	ok(v->heap_max > 0 && *v->gc_name,
		"and its heap, though the file is older than some of them");
	is_str(v->walker, "vmstructs", "and its walker");
	is_str(v->events[EVENT_CPU].engine, "perf", "and the engine");
	is_int(v->events[EVENT_CPU].samples, FIXTURE_SAMPLES, "and how many samples were taken");
	ok(!v->alive, "nothing is alive in a recording");
	ok(session_duration_ns(s) > 900000000 && session_duration_ns(s) < 2000000000,
		"it took about a second");
	is_int(session_event_start(s, EVENT_CPU, 0, &err), -1, "no event can be started in it");
	session_close(s);
	profile_free(p);
}

static void test_clock(void)
{
	struct profile *p = profile_new();
	struct err err = {0};
	struct session *s = session_replay(fixture_path, false, p, &err);
	int rc, waits = 0;

	while ((rc = session_drain(s, &err)) >= 0) {
		session_wait(s, 1000);
		waits++;
	}
	ok(err.kind == ERR_GONE && waits > 2, "without steps it takes its time");
	session_close(s);
	profile_free(p);
}

/* --- damage ------------------------------------------------------------------------------------------ */

static int64_t replay_bytes(const unsigned char *bytes, size_t size, struct err *end)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	char path[64];
	int64_t samples;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, bytes, size) != (ssize_t)size)
		diag("the damaged copy could not be written");
	samples = replay(path, NULL, end);
	close(fd);
	return samples;
}

static void test_cut(void)
{
	struct err end = {0};
	int64_t whole = 0, part;
	bool growing = true, told = true;

	is_int(replay("/nonexistent/x.raw", NULL, &end), -1, "a file that is not there");
	is_int(end.kind, ERR_INPUT, "is an input error");
	is_int(replay_bytes(fixture, 0, &end), -1, "an empty file is no recording");
	is_int(replay_bytes((const unsigned char *)"hello\n", 6, &end), -1, "a text is none");
	ok(strstr(end.what, "not a recording") != NULL, "and that is said");
	for (size_t size = sizeof(struct wire_header) + 200; size < fixture_bytes; size += 997) {
		part = replay_bytes(fixture, size, &end);
		growing = growing && part >= whole;
		told = told && (end.kind == ERR_INPUT || size % 8 == 0);
		whole = part;
	}
	ok(growing && whole > 0, "a recording that was cut off is good up to there");
	ok(told, "and the cut is told");
	replay_bytes(fixture, fixture_bytes - 4, &end);
	ok(strstr(end.what, "ends in the middle of a record, at byte ") != NULL,
		"with its place: %s", end.what);
}

/* The record at or behind a random place. */
static size_t some_record(unsigned *seed)
{
	size_t at = sizeof(struct wire_header), target = (size_t)rand_r(seed) % fixture_bytes, next;
	struct wire_record rec;

	for (;; at = next) {
		memcpy(&rec, fixture + at, sizeof(rec));
		next = at + rec.size;
		if (next >= target || next + sizeof(rec) > fixture_bytes)
			return at;
	}
}

static void damage(unsigned char *bytes, unsigned *seed)
{
	static const uint32_t values[] = {
		0, 1, 7, 8, 0x7fffffff, 0x80000000, 0xffffffff, 65536, 65537, 4711};
	size_t rec = some_record(seed), at = rec + 4 * ((size_t)rand_r(seed) % 16);

	switch (rand_r(seed) % 4) {
	case 0: /* any bit */
		bytes[(size_t)rand_r(seed) % fixture_bytes] ^=
			(unsigned char)(1 << rand_r(seed) % 8);
		break;
	case 1: /* a record's type */ bytes[rec + 4] = (unsigned char)(rand_r(seed) % 9); break;
	default: /* a field behind its head */
		if (at + 4 <= fixture_bytes && at > rec + 4)
			memcpy(bytes + at, &values[(size_t)rand_r(seed) % 10], 4);
	}
}

static void test_damage(void)
{
	unsigned char *bytes = xmalloc(fixture_bytes);
	unsigned seed = 4711;
	int refused = 0, read = 0;

	for (int round = 0; round < DAMAGED_ROUNDS; round++) {
		struct err end = {0};

		memcpy(bytes, fixture, fixture_bytes);
		for (int i = 0; i < 1 + round % 8; i++)
			damage(bytes, &seed);
		replay_bytes(bytes, fixture_bytes, &end);
		*(end.kind == ERR_GONE ? &read : &refused) += 1;
	}
	ok(refused > 0 && read > 0,
		"%d damaged recordings: %d refused, %d read to the end, no harm", DAMAGED_ROUNDS,
		refused, read);
	free(bytes);
}

/* Vitals and the agent's page filled with a byte: what is shown of them can be. */
static void test_absurd(void)
{
	static const unsigned char fills[] = {0x7f, 0x80, 0xff};
	const size_t heads[] = {offsetof(struct wire_file_vitals, vitals),
		offsetof(struct wire_file_status, status)};
	unsigned char *bytes = xmalloc(fixture_bytes);
	struct vitals last;
	struct err end;
	size_t filled = 0;

	for (size_t f = 0; f < sizeof(fills); f++) {
		struct vitals bounded;
		struct wire_record rec;

		memcpy(bytes, fixture, fixture_bytes);
		for (size_t at = sizeof(struct wire_header); at + sizeof(rec) < fixture_bytes;
			at += rec.size) {
			memcpy(&rec, fixture + at, sizeof(rec));
			if (rec.type != WIRE_REC_FILE_VITALS && rec.type != WIRE_REC_FILE_STATUS)
				continue;
			size_t head = heads[rec.type == WIRE_REC_FILE_STATUS];

			memset(bytes + at + head, fills[f], rec.size - head);
			filled++;
		}
		replayed_vitals = &last;
		replay_bytes(bytes, fixture_bytes, &end);
		replayed_vitals = NULL;
		bounded = last;
		vitals_bound(&bounded);
		ok(!memcmp(&bounded, &last, sizeof(last)),
			"filled with %#x: no absurd number comes in", fills[f]);
	}
	ok(filled >= 6, "%zu records were filled", filled);
	free(bytes);
}

int main(void)
{
	read_fixture();
	if (!fixture_bytes)
		return tap_done();
	test_same();
	test_steps();
	test_clock();
	test_cut();
	test_damage();
	test_absurd();
	free(fixture);
	return tap_done();
}
