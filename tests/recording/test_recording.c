/* SPDX-License-Identifier: Apache-2.0 */
/* recording: a round trip of every kind of profile, changes to the file in the meantime, and the bytes of a small one. */
#include "base/clock.h"
#include "profile/history.h"
#include "recording/format.h"
#include "recording/recording.h"
#include "tests/profile/feed.h"
#include "tests/recording/kinds.h"
#include "tests/tap.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* All of a file; NULL: it could not be opened. */
static struct profile *read_back(const char *path, int *rc, char note[160], struct err *err)
{
	struct profile *p = profile_new();
	struct recording *r = recording_open(path, p, err);

	if (!r) {
		profile_free(p);
		return NULL;
	}
	*rc = recording_read(r, UINT32_MAX, err);
	snprintf(note, 160, "%s", recording_note(r));
	recording_free(r);
	return p;
}

static void is_same(const struct profile *p, const char *path, const char *what)
{
	struct err err = {0};
	char note[160] = "";
	int rc = -2;
	struct profile *q = read_back(path, &rc, note, &err);

	if (!ok(q && !rc && !*note, "%s: the recording is read to its end %s%s", what, err.what,
		    note))
		return;
	same(same_text(p, false), same_text(q, false), what);
	profile_free(q);
}

static void save(const struct profile *p, const char *path)
{
	struct vitals v = some_vitals();
	struct err err = {0};

	if (recording_save(path, p, &meta, &v, 5 * NS_PER_S, &err))
		ok(false, "a recording is saved: %s", err.what);
}

static void test_at_once(void)
{
	struct profile *p = all_kinds(37, NULL), *empty = profile_new();

	save(p, path_of("all.jhot"));
	is_same(p, path_of("all.jhot"), "all kinds at once");
	save(empty, path_of("empty.jhot"));
	is_same(empty, path_of("empty.jhot"), "nothing");
	profile_free(p);
	profile_free(empty);
}

static void test_followed(void)
{
	struct err err = {0};
	struct recording_writer *w = recording_create(path_of("f.jhot"), &err);
	struct profile *p = all_kinds(53, w);

	ok(!recording_finish(w, 5 * NS_PER_S, &err), "the recording is finished %s", err.what);
	recording_close(w);
	is_same(p, path_of("f.jhot"), "followed, with samples that come late");
	profile_free(p);
}

/* What has left the history, and steps of 10 s. */
static void test_merged(void)
{
	struct profile *p = profile_new();
	struct profile_info info;

	name_threads(p);
	profile_set_budget(p, 1 << 20);
	for (uint32_t s = 0; s < 900; s++)
		second_of(p, s);
	info = profile_info(p);
	ok(info.oldest && info.merged_before > info.oldest,
		"before %u sums, before %u steps, of %u", info.oldest, info.merged_before,
		info.now);
	save(p, path_of("m.jhot"));
	is_same(p, path_of("m.jhot"), "merged");
	profile_free(p);
}

/* --- long ones --------------------------------------------------------------------------------------- */

#define LONG_S 1990

/* A program whose classes come and go, so that the profile's numbers are given again. */
static void long_second(struct profile *p, uint32_t s)
{
	for (uint32_t i = 0; i < 60; i++)
		profile_add(p, EVENT_CPU, s, stack_of(p, s * 1009 + i * 7919), i % 17, 1, 1000);
	for (uint32_t i = 0; s % 650 == 0 && i < 50; i++) /* what comes again after long */
		profile_add(p, EVENT_CPU, s, stack_of(p, i * 77), i % 17, 1, 1000);
	profile_advance(p, s + 1);
}

/* Who reads it may have little memory: what the file has numbers for still is what it was. */
static void test_read_by_one_that_sweeps(const struct profile *truth)
{
	struct profile *p = profile_new();
	struct err err = {0};
	struct recording *r;
	struct buf last = {0}, want = {0};

	save(truth, path_of("t.jhot")); /* all numbers are given once */
	r = recording_open(path_of("t.jhot"), p, &err);
	profile_set_budget(p, 1 << 20);
	is_int(recording_read(r, UINT32_MAX, &err), 0, "the recording is read with little memory");
	for (uint32_t s = LONG_S - 50; s < LONG_S; s++) {
		same_seconds(p, &last, EVENT_CPU, s, s + 1);
		same_seconds(truth, &want, EVENT_CPU, s, s + 1);
	}
	ok(profile_info(p).swept > 3, "reading with little memory evicted entries %u times",
		profile_info(p).swept);
	same(buf_steal(&want), buf_steal(&last), "its last seconds");
	recording_free(r);
	profile_free(p);
}

/* A limit ends the reading with an error that does not call the file damaged, and what precedes it is kept. */
static void test_limited(void)
{
	struct profile *p = profile_new();
	struct err err = {0};
	struct recording *r = recording_open(path_of("t.jhot"), p, &err);

	recording_limit(r, 4 << 20);
	is_int(recording_read(r, UINT32_MAX, &err), -1,
		"a recording that exceeds its limit is an error");
	ok(strstr(err.what, "does not fit into 4 MiB") && !strstr(err.what, "damaged"),
		"the error names the limit: %s", err.what);
	ok(profile_info(p).bytes > 0 && profile_info(p).bytes < 64 << 20,
		"reading ended near the limit, after %llu bytes",
		(unsigned long long)profile_info(p).bytes);
	recording_free(r);
	profile_free(p);
}

/* Beside one that forgets nothing: a recording of one that sweeps and merges has all the seconds. */
static void test_swept(void)
{
	struct profile *truth = profile_new(), *small = profile_new(), *q;
	struct err err = {0};
	struct recording_writer *w = recording_create(path_of("s.jhot"), &err);
	struct vitals v = some_vitals();
	char note[160];
	int rc = -2;

	profile_set_history(truth, UINT32_MAX);
	profile_set_budget(small, 1 << 20);
	profile_set_history(small, 150);
	name_threads(truth);
	name_threads(small);
	recording_begin(w, small, &meta);
	for (uint32_t s = 0; s < LONG_S; s++) {
		long_second(truth, s);
		long_second(small, s);
		recording_vitals(w, &v);
		if (s % 500 < 300) /* now and then it cannot be written for long */
			rc = recording_follow(w, &err);
	}
	ok(!rc && profile_info(small).swept > 5 && !profile_info(truth).swept,
		"ids were reused: %u times", profile_info(small).swept);
	ok(profile_info(small).oldest > LONG_S / 2,
		"%u of %d seconds were evicted from the history", profile_info(small).oldest,
		LONG_S);
	ok(!recording_finish(w, 5 * NS_PER_S, &err), "the recording is finished %s", err.what);
	recording_close(w);
	q = read_back(path_of("s.jhot"), &rc, note, &err);
	ok(q && !rc, "the recording is read %s", err.what);
	same(same_text(truth, true), same_text(q, true), "swept");
	is_int(profile_info(q).oldest, 0, "the recording has all seconds");
	test_read_by_one_that_sweeps(truth);
	test_limited();
	profile_free(truth);
	profile_free(small);
	profile_free(q);
}

/* --- what it says beside ----------------------------------------------------------------------------- */

static void test_vitals(void)
{
	struct profile *p = all_kinds(5, NULL), *q = profile_new();
	struct vitals v = some_vitals(), now;
	const char *const *labels;
	struct err err = {0};
	struct recording *r;

	save(p, path_of("v.jhot"));
	r = recording_open(path_of("v.jhot"), q, &err);
	is_int(recording_read(r, UINT32_MAX, &err), 0, "the recording is read");
	now = *recording_vitals_now(r);
	ok(!memcmp(&now, &v, sizeof(v)), "the vitals are the same byte for byte");
	is_str(recording_host(r), "box", "the host is the same");
	is_int(recording_labels(r, &labels), 2, "both labels are read");
	is_str(labels[0], "version=1.4", "the first label is the same");
	is_int((long)(recording_duration_ns(r) / NS_PER_S), 5, "the duration is the same");
	recording_free(r);
	profile_free(q);
	profile_free(p);
}

static void test_steps(void)
{
	struct err err = {0};
	struct recording_writer *w = recording_create(path_of("f.jhot"), &err);
	struct profile *p = all_kinds(30, w), *q = profile_new();
	struct recording *r;
	struct profile_query all = profile_whole(EVENT_CPU), part = all;
	int64_t heap = 0;
	bool exact = true, growing = true;
	uint32_t s;

	recording_finish(w, 30 * NS_PER_S, &err);
	recording_close(w);
	r = recording_open(path_of("f.jhot"), q, &err);
	for (s = 1; recording_read(r, s, &err) > 0; s++) {
		part.to = s;
		exact = exact && profile_info(q).now == s &&
			profile_sum(q, &all).weight == profile_sum(p, &part).weight;
		growing = growing && recording_vitals_now(r)->heap_used >= heap;
		heap = recording_vitals_now(r)->heap_used;
	}
	ok(exact, "reading second by second yields exactly the samples up to that second");
	ok(growing && heap >= some_vitals().heap_used + 25 * 1000 &&
			heap < recording_vitals_now(r)->heap_used,
		"reading second by second yields the vitals of that second");
	is_int((long)s, 30, "the recording has 30 seconds");
	recording_free(r);
	profile_free(p);
	profile_free(q);
}

/* --- the file ---------------------------------------------------------------------------------------- */

static int files_in_folder(void)
{
	DIR *d = opendir(folder);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 2;
}

static int64_t samples_of(const char *path, char note[160])
{
	struct err err = {0};
	struct profile_query q = profile_whole(EVENT_CPU);
	int rc;
	struct profile *p = read_back(path, &rc, note, &err);
	int64_t count = p ? (int64_t)profile_sum(p, &q).count : -1;

	profile_free(p);
	return count;
}

/* Writes 20 seconds and is gone. */
static void be_killed(const char *path)
{
	struct err err;

	if (!fork()) {
		all_kinds(20, recording_create(path, &err));
		_exit(0);
	}
	wait(NULL);
}

static void test_killed(void)
{
	struct profile *p = all_kinds(20, NULL);
	struct profile_query q = profile_whole(EVENT_CPU);
	char note[160];

	be_killed(path_of("k.jhot"));
	q.to = profile_info(p).now - 2;
	is_int(samples_of(path_of("k.jhot"), note), (long)profile_sum(p, &q).count,
		"a recording whose writer was killed lacks only the last seconds");
	ok(strstr(note, "is incomplete") != NULL, "the note says that it is incomplete: %s", note);
	profile_free(p);
}

static void test_older(void)
{
	struct profile *p = all_kinds(3, NULL);
	struct err err = {0};
	struct recording_writer *a, *b;
	struct profile *of_a, *of_b;
	struct stat st;
	char note[160];
	int before;
	int64_t old;

	save(p, path_of("o.jhot"));
	old = samples_of(path_of("o.jhot"), note);
	before = files_in_folder();
	be_killed(path_of("o.jhot"));
	is_int(samples_of(path_of("o.jhot"), note), old,
		"an existing file is kept while its successor's writer is killed");
	ok(!*note && files_in_folder() == before + 1,
		"the existing file is complete, and the new data is in a file beside it");
	a = recording_create(path_of("two.jhot"), &err);
	b = recording_create(path_of("two.jhot"), &err);
	of_a = all_kinds(20, a);
	of_b = all_kinds(10, b);
	ok(samples_of(path_of("two.jhot"), note) > old, "of two writers one gets the name");
	recording_close(b);
	recording_close(a);
	ok(samples_of(path_of("two.jhot"), note) > old,
		"the file is kept after both writers ended");
	profile_free(of_a);
	profile_free(of_b);
	a = recording_create(path_of("nothing.jhot"), &err);
	recording_close(a);
	ok(stat(path_of("nothing.jhot"), &st), "a recording that was not begun leaves no file");
	a = recording_create("/dev/full", &err);
	of_a = all_kinds(20, a);
	is_int(recording_finish(a, 0, &err), -1, "a full disk is reported");
	ok(err.kind == ERR_OUTPUT, "a full disk is an output error: %s", err.what);
	recording_close(a);
	profile_free(of_a);
	ok(!recording_create(path_of("no/where.jhot"), &err) && err.kind == ERR_OUTPUT,
		"a missing folder is reported before anything is written");
	profile_free(p);
}

/* --- the example in recording/format.h --------------------------------------------------------------- */

/* Appends the recording of the example to out. */
static void write_example(struct buf *out)
{
	struct profile *p = profile_new();
	struct vitals v = {.pid = 0};
	struct err err = {0};
	uint32_t thread = profile_thread_new(p);

	vitals_unknown(&v);
	profile_event_runs(p, EVENT_CPU, 0, true);
	profile_interval_add(p, EVENT_CPU, 10000000);
	profile_thread_set(
		p, thread, &(struct profile_thread){.tid = 31, .java_tid = 1, .name = "main"});
	uint32_t outer = profile_stack_child(p, PROFILE_ROOT_STACK,
		profile_frame(
			p, profile_method(p, "A", "main", "()V", ""), FRAME_INTERPRETED, 4, 7));
	uint32_t inner = profile_stack_child(p, outer,
		profile_frame(p, profile_method(p, "A", "f", "()V", ""), FRAME_COMPILED, 9, 12));
	struct recording_writer *w = recording_create_stream(out);
	recording_begin(w, p, &(struct recording_meta){.host = "h"});
	recording_vitals(w, &v);
	profile_add_sample(p, EVENT_CPU, 0,
		&(struct profile_sample){inner, thread, THREAD_STATE_NONE, 2, 20000000});
	profile_add_sample(p, EVENT_CPU, 1,
		&(struct profile_sample){outer, thread, THREAD_STATE_NONE, 1, 10000000});
	recording_finish(w, 2000000000, &err);
	recording_close(w);
	profile_free(p);
}

static void test_example(void)
{
	static const struct {
		enum format_type type;
		int bytes; /* -1: depends on struct vitals */
		const char *content;
	} chunks[] = {
		{CHUNK_META, 18, "\10start_ns\0010\4host\1h"},
		{CHUNK_FIELDS, -1, ""},
		{CHUNK_STATE, -1, ""},
		{CHUNK_SECOND, 1, "\0"},
		{CHUNK_INTERVAL, 9, "\0\x80\xad\xe2\x04\x80\xad\xe2\x04"},
		{CHUNK_RUN, 3, "\0\0\1"},
		{CHUNK_METHODS, 21, "\1A\4main\3()V\0\1A\1f\3()V\0"},
		{CHUNK_FRAMES, 8, "\0\4\5\x0e\1\0\x0a\x18"},
		{CHUNK_STACKS, 4, "\1\0\1\1"},
		{CHUNK_THREADS, 10, "\0\0\x3e\2\0\4main"},
		{CHUNK_SAMPLES, 9, "\0\4\0\0\2\x80\xda\xc4\x09"},
		{CHUNK_SECOND, 1, "\1"},
		{CHUNK_SAMPLES, 9, "\0\2\0\0\1\x80\xad\xe2\x04"},
		{CHUNK_SECOND, 1, "\1"},
		{CHUNK_STATE, 0, ""},
		{CHUNK_END, 5, "\x80\xa8\xd6\xb9\x07"},
	};
	struct buf out = {0};
	bool same = true;

	write_example(&out);
	ok(out.len > 16 && !memcmp(out.data, "JHOTREC\n\1\0\5\0\0\0\0\0", 16),
		"the example in format.h begins with magic and version");
	size_t at = 16;
	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		struct format_chunk head = {0, 0};

		if (at + sizeof(head) <= out.len)
			memcpy(&head, out.data + at, sizeof(head));
		at += sizeof(head) + head.bytes;
		if (at <= out.len && head.type == chunks[i].type &&
			(chunks[i].bytes < 0 || ((int)head.bytes == chunks[i].bytes &&
							!memcmp(out.data + at - head.bytes,
								chunks[i].content, head.bytes))))
			continue;
		diag("chunk %zu, of type %u", i, head.type);
		same = false;
	}
	ok(same && at == out.len, "the example in format.h has these chunks");
	buf_done(&out);
}

int main(void)
{
	snprintf(folder, sizeof(folder), "%s/jhot-recording.XXXXXX",
		getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(folder))
		return 1;
	test_at_once();
	test_followed();
	test_merged();
	test_swept();
	test_vitals();
	test_steps();
	test_killed();
	test_older();
	if (!chdir(folder))
		(void)!system("rm -f ./*.jhot ./.jhot-*");
	rmdir(folder);
	test_example();
	return tap_done();
}
