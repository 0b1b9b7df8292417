/* SPDX-License-Identifier: Apache-2.0 */
/* recording: truncated, corrupt and unsupported files. None does harm, each yields an error message. */
#include "base/buf.h"
#include "recording/format.h"
#include "recording/reader.h"
#include "recording/recording.h"
#include "tests/profile/add.h"
#include "tests/tap.h"

#include <endian.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECONDS 6
#define ROUNDS  3000

static struct buf packed, plain;

static struct profile *small_profile(void)
{
	struct profile *p = profile_new();
	uint32_t stack = PROFILE_ROOT_STACK;

	profile_thread_set(p, 0, &(struct profile_thread){.tid = 7, .name = "main"});
	profile_event_set(p, EVENT_USER_FIRST, "faults", "events", 1);
	for (uint32_t s = 0; s < SECONDS; s++) {
		char name[16];

		snprintf(name, sizeof(name), "m%u", s);
		stack = profile_stack_child(p, stack,
			profile_frame(
				p, profile_method(p, "a.B", name, "()V", ""), FRAME_C1, s, 1));
		profile_event_runs(p, EVENT_CPU, s, true);
		profile_add(p, EVENT_CPU, s, stack, 0, 1, 1000);
		profile_add_pulse(
			p, EVENT_CPU, s * 1000000000ull, s * 1000000000ull + 70000000, 1000);
		profile_add_process(p, s, 5000);
	}
	profile_add_link(p, &(struct profile_link){
				    .second = 1, .event = EVENT_CPU, .stack = stack, .count = 1});
	profile_gap(p, 2, 3);
	profile_interval_add(p, EVENT_CPU, 1000);
	profile_wait_set(p, &(struct profile_wait){
				    .owner = PROFILE_NONE, .method = 1, .lock = 9, .until_ns = 5});
	return p;
}

/* In a file in memory; the path is good while it is open. */
static int in_memory(const struct buf *bytes, char path[64])
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	snprintf(path, 64, "/proc/self/fd/%d", fd);
	if (bytes && write(fd, buf_str(bytes), bytes->len) != (ssize_t)bytes->len)
		diag("it could not be written");
	return fd;
}

static void make(void)
{
	const struct recording_meta meta = {.host = "box"};
	struct vitals v = {.pid = 12, .name = "Small"};
	struct profile *p = small_profile();
	struct err err = {0};
	char path[64], piece[4096];
	int fd = in_memory(NULL, path);
	struct unzip *in;
	ssize_t n;

	vitals_unknown(&v);
	ok(!recording_save(path, p, &meta, &v, 6000000000ull, &err), "the recording is saved %s",
		err.what);
	lseek(fd, 0, SEEK_SET);
	buf_read_all(&packed, fd, 1 << 20);
	in = unzip_open(path, &err);
	while ((n = unzip_read(in, piece, sizeof(piece), &err)) > 0)
		buf_add(&plain, piece, (size_t)n);
	unzip_close(in);
	close(fd);
	profile_free(p);
	ok(plain.len > 500 && packed.len > 300, "the recording has %zu bytes, %zu packed",
		plain.len, packed.len);
}

struct seen {
	int rc; /* -2: it was not opened */
	int64_t samples;
	char note[160];
	struct err err;
};

static struct seen look(const struct buf *bytes)
{
	struct profile *p = profile_new();
	struct profile_query q = profile_whole(EVENT_CPU);
	struct seen s = {.rc = -2};
	char path[64];
	int fd = in_memory(bytes, path);
	struct recording *r = recording_open(path, p, &s.err);

	if (r) {
		s.rc = recording_read(r, UINT32_MAX, &s.err);
		snprintf(s.note, sizeof(s.note), "%s", recording_note(r));
		recording_duration_ns(r);
	}
	s.samples = (int64_t)profile_sum(p, &q).count;
	recording_free(r);
	profile_free(p);
	close(fd);
	return s;
}

/* --- cut off ----------------------------------------------------------------------------------------- */

/* Truncated at every byte: there is a message each time, and more bytes never yield less data. */
static void test_cut(const struct buf *whole, const char *what)
{
	struct buf part = {0};
	bool said = true, growing = true;
	int64_t before = 0;
	struct seen s;

	for (size_t len = 0; len < whole->len; len++) {
		buf_clear(&part);
		buf_add(&part, whole->data, len);
		s = look(&part);
		growing = growing && s.samples >= before;
		before = s.samples;
		/* Without gzip's own check at the end, which is nothing of ours, all is there. */
		said = said && (s.rc == -2 ? s.err.kind == ERR_INPUT
					   : !s.rc && (*s.note || len + 24 > whole->len));
		if (!said || !growing) {
			diag("at %zu: %d %s %s", len, s.rc, s.note, s.err.what);
			break;
		}
	}
	ok(said, "%s: truncation is reported at each byte", what);
	ok(growing && before == SECONDS, "%s: a truncated recording has the samples before the cut",
		what);
	s = look(whole);
	ok(!s.rc && !*s.note && s.samples == SECONDS, "%s: the complete recording has no note",
		what);
	buf_done(&part);
}

/* --- other versions ---------------------------------------------------------------------------------- */

static struct seen with_head(uint16_t major, uint16_t minor)
{
	struct buf other = {0};
	struct format_head head;
	struct seen s;

	buf_add(&other, plain.data, plain.len);
	memcpy(&head, other.data, sizeof(head));
	head.major = htole16(major);
	head.minor = htole16(minor);
	memcpy(other.data, &head, sizeof(head));
	s = look(&other);
	buf_done(&other);
	return s;
}

static void chunk(struct buf *out, uint32_t type, const char *bytes, size_t count)
{
	struct format_chunk head = {htole32((uint32_t)count), htole32(type)};

	buf_add(out, &head, sizeof(head));
	buf_add(out, bytes, count);
}

static void test_versions(void)
{
	struct buf more = {0};
	char junk[9000] = "\xff\xff";
	struct seen s = with_head(FORMAT_MAJOR, FORMAT_MINOR + 7);

	ok(!s.rc && s.samples == SECONDS, "a later minor version is read");
	s = with_head(FORMAT_MAJOR + 1, 0);
	ok(s.rc == -2 && strstr(s.err.what, "its format version is 2.0, this jhot reads 1."),
		"a later major version is refused: %s", s.err.what);
	s = with_head(0, 0);
	ok(s.rc == -2 && s.err.kind == ERR_INPUT, "an earlier major version is refused");
	buf_add(&more, plain.data, sizeof(struct format_head));
	chunk(&more, 4711, junk, sizeof(junk));
	chunk(&more, 0, NULL, 0);
	buf_add(&more, plain.data + sizeof(struct format_head),
		plain.len - sizeof(struct format_head));
	s = look(&more);
	ok(!s.rc && !*s.note && s.samples == SECONDS, "chunks of unknown types are skipped");
	buf_done(&more);
}

/* --- damaged ----------------------------------------------------------------------------------------- */

static struct seen behind_head(uint32_t type, const char *bytes, size_t count)
{
	struct buf out = {0};
	struct seen s;

	buf_add(&out, plain.data, sizeof(struct format_head));
	chunk(&out, type, bytes, count);
	s = look(&out);
	buf_done(&out);
	return s;
}

static void refused(uint32_t type, const char *bytes, size_t count, const char *what)
{
	struct seen s = behind_head(type, bytes, count);

	ok(s.rc == -1 && s.err.kind == ERR_INPUT && strstr(s.err.what, "byte 16"),
		"%s is refused: %s", what, s.err.what);
}

static void test_impossible(void)
{
	struct buf big = {0};
	struct format_chunk head = {htole32(FORMAT_CHUNK_MAX + 1), htole32(CHUNK_STACKS)};
	struct seen s;

	refused(CHUNK_STACKS, "\1\0", 2, "a stack of a frame that is not there");
	refused(CHUNK_STACKS, "\0\0", 2, "a stack that is its own parent");
	refused(CHUNK_FRAMES, "\0\0\0\0", 4, "a frame of a method that is not there");
	refused(CHUNK_METHODS, "\1a\1b\0\5z", 7, "a text that goes beyond its end");
	refused(CHUNK_SAMPLES, "\0\0\0\0\1\1", 6, "samples of no second");
	refused(CHUNK_THREADS, "\5\0\0\0\0\0", 6, "a thread out of order");
	refused(CHUNK_SECOND, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11,
		"an endless number");
	refused(CHUNK_RUN, "\x63\0\1", 3, "an event that is not there");
	refused(CHUNK_STATE, "\0\0", 2, "vitals without fields");
	refused(CHUNK_WAITS, "\0\0\0\0\0\0\0\0", 8, "a wait of no thread");
	buf_add(&big, plain.data, sizeof(struct format_head));
	buf_add(&big, &head, sizeof(head));
	s = look(&big);
	ok(s.rc == -1 && strstr(s.err.what, "too large"),
		"a chunk that is too large is refused: %s", s.err.what);
	s = behind_head(CHUNK_RETAINED, "\xff\xff\xff\xff\7\xff\xff\xff\xff\7", 10);
	ok(!s.rc, "an early time is accepted");
	buf_done(&big);
}

/* What is shown of vitals can be. */
static void test_absurd(void)
{
	const struct recording_meta meta = {.host = NULL};
	struct profile *p = small_profile(), *q = profile_new();
	struct vitals v, last, bounded;
	struct err err = {0};
	char path[64];
	int fd = in_memory(NULL, path);
	struct recording *r;

	memset(&v, 0x7f, sizeof(v));
	v.counter_count = 1;
	for (char *texts[] = {v.name, v.jdk, v.vm, v.user, v.gc_name, v.vitals_note, v.walker,
		     v.walker_note, v.command, v.vm_args, v.vm_flags, v.agent_note,
		     v.counters[0].name, NULL},
		  **t = texts;
		*t; t++)
		memcpy(*t, "a\33[31m\xff", 8);
	for (int i = 0; i < VITALS_EVENTS; i++)
		v.events[i].engine[3] = v.events[i].note[3] = '\0';
	recording_save(path, p, &meta, &v, 0, &err);
	r = recording_open(path, q, &err);
	is_int(recording_read(r, UINT32_MAX, &err), 0, "vitals out of range are read");
	last = bounded = *recording_vitals_now(r);
	vitals_bound(&bounded);
	ok(!memcmp(&last, &bounded, sizeof(last)) && last.heap_used == -1,
		"vitals out of range are replaced");
	ok(!strchr(last.name, '\33') && !strchr(last.counters[0].name, '\33'),
		"control characters in vitals are replaced");
	recording_free(r);
	profile_free(p);
	profile_free(q);
	close(fd);
}

static void test_damaged(const struct buf *whole, const char *what)
{
	struct buf other = {0};
	unsigned seed = 4711;
	int read = 0, told = 0;
	bool placed = true;

	for (int round = 0; round < ROUNDS; round++) {
		struct seen s;

		buf_clear(&other);
		buf_add(&other, whole->data, whole->len);
		for (int i = 0; i <= round % 3; i++)
			other.data[(size_t)rand_r(&seed) % whole->len] = (char)rand_r(&seed);
		s = look(&other);
		read += s.rc == 0;
		told += s.rc != 0;
		placed = placed && (!s.rc || s.err.kind == ERR_INPUT);
	}
	ok(placed && told > ROUNDS / 50,
		"%s: %d damaged recordings: %d refused, %d read, without a fault", what, ROUNDS,
		told, read);
	buf_done(&other);
}

int main(void)
{
	make();
	test_cut(&packed, "packed");
	test_cut(&plain, "plain");
	test_versions();
	test_impossible();
	test_absurd();
	test_damaged(&packed, "packed");
	test_damaged(&plain, "plain");
	buf_done(&packed);
	buf_done(&plain);
	return tap_done();
}
