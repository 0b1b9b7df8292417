/* SPDX-License-Identifier: Apache-2.0 */
/* recording: a round trip of every kind of profile, and changes to the file in the meantime. */
#include "base/clock.h"
#include "profile/cut.h"
#include "profile/whole.h"
#include "recording/recording.h"
#include "tests/profile/feed.h"
#include "tests/recording/same.h"
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

static const struct recording_meta meta = {
	.host = "box", .labels = (const char *const[]){"version=1.4", "a=b"}, .label_count = 2};

static struct vitals some_vitals(void)
{
	struct vitals v = {.pid = 4711, .name = "Cart", .jdk = "21", .command = "org.acme.Cart -x"};

	vitals_unknown(&v);
	v.heap_used = 123456789;
	v.heap_committed = 200000000;
	v.time_ns = 99;
	v.cpu_pct = 231;
	v.events[EVENT_CPU] = (struct vitals_event){.state = VITALS_ON,
		.engine = "perf",
		.interval = 10000000,
		.samples = 17,
		.note = "so"};
	v.counter_count = 2;
	snprintf(v.counters[0].name, sizeof(v.counters[0].name), "break_native");
	v.counters[0].value = 5;
	snprintf(v.counters[1].name, sizeof(v.counters[1].name), "table_full");
	return v;
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

/* Two texts that ought to be the same; where they part. */
static bool same(char *a, char *b, const char *what)
{
	size_t at = 0, line = 0;
	bool is = !strcmp(a, b);

	while (!is && a[at] == b[at]) {
		line = a[at] == '\n' ? at + 1 : line;
		at++;
	}
	ok(is, "%s: the contents are the same (%zu bytes of text)", what, strlen(a));
	if (!is)
		diag("%.300s\nand\n%.300s", a + line, b + line);
	free(a);
	free(b);
	return is;
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

/* --- profiles of all kinds --------------------------------------------------------------------------- */

/* A stack by its names, whatever numbers there are. */
static uint32_t stack_of(struct profile *p, uint32_t seed)
{
	uint32_t stack = PROFILE_ROOT_STACK, depth = 1 + seed % 7;
	char class_name[64], name[32];

	for (uint32_t i = 0; i < depth; i++) {
		uint32_t n = seed / (i + 1) % 1000;
		enum frame_type type = (enum frame_type)(n % FRAME_TYPES);

		snprintf(class_name, sizeof(class_name), n % 5 ? "org.acme.Class%u" : "", n);
		snprintf(name, sizeof(name), "method%u", n % 31);
		stack = profile_stack_child(p, stack,
			profile_frame(p,
				profile_method(p, class_name, name, "()V", n % 5 ? "" : "libx.so"),
				type, n % 3 ? n : 0xffff, n % 4 ? (int)n : 0));
	}
	return stack;
}

static void sample(struct profile *p, int event, uint32_t second, uint32_t seed)
{
	const struct profile_sample s = {stack_of(p, seed), seed % 19,
		event == EVENT_WALL ? (enum thread_state)(seed % THREAD_STATES) : THREAD_STATE_NONE,
		1 + seed % 3, seed % 7 ? seed * 1000ull : 0};

	profile_add_sample(p, event, second, &s);
	if (event == EVENT_LOCK && seed % 2)
		profile_add_holder(p, second, &s);
}

static void name_threads(struct profile *p)
{
	char name[32];

	for (uint32_t i = 0; i < 17; i++) { /* of 19: two have no name */
		snprintf(name, sizeof(name), "worker-%u \xc3\xa4", i);
		profile_thread_set(p, i,
			&(struct profile_thread){.tid = 100 + (int)i,
				.kind = (enum thread_kind)(i % 7),
				.java_tid = i % 7 == THREAD_VIRTUAL ? 31 : -1,
				.name = name,
				.carrier = i % 7 == THREAD_VIRTUAL ? 101 : 0});
	}
}

static void second_of(struct profile *p, uint32_t s)
{
	static const int events[] = {
		EVENT_CPU, EVENT_ALLOC, EVENT_LOCK, EVENT_WALL, EVENT_USER_FIRST + 1};

	for (uint32_t i = 0; i < 40; i++)
		sample(p, events[i % 5], s > i % 3 ? s - i % 3 : s, s * 131 + i * i);
	for (uint32_t i = 0; s % 3 && i < 5; i++)
		profile_add_pulse(p, events[i], s * NS_PER_S + i * 170 * NS_PER_MS,
			s * NS_PER_S + (i + 1) * 190 * NS_PER_MS, 1000 + s * i);
	profile_add_process(p, s, 1000000 + s);
	profile_advance(p, s + (s % 11 == 0));
}

static void some_waits(struct profile *p, uint32_t s)
{
	struct profile_wait w = {.thread = s % 17,
		.owner = s % 3 ? (s + 1) % 17 : PROFILE_NONE,
		.method = s % 2 ? profile_method(p, "org.acme.Lock", "", "", "") : PROFILE_NONE,
		.lock = 0xfeed0000ull + s % 17,
		.since_ns = s * NS_PER_S + 5,
		.until_ns = PROFILE_STILL,
		.at_least = s % 4 == 0};

	profile_wait_set(p, &w);
	if (s % 3 == 0)
		return;
	w.until_ns = w.since_ns + 300000000;
	w.owner = 3;
	profile_wait_set(p, &w);
	if (s < 9) /* one that ends after it was written */
		return;
	w = (struct profile_wait){.thread = 17 + s / 8,
		.owner = s % 8,
		.method = PROFILE_NONE,
		.lock = 5,
		.since_ns = s / 8 * 8 * NS_PER_S,
		.until_ns = s % 8 == 7 ? s * NS_PER_S : PROFILE_STILL};
	profile_wait_set(p, &w);
}

/* What changes while it is sampled. */
static void changes(struct profile *p, uint32_t s)
{
	const struct profile_io io = {"socket read", "10.0.0.5:5432"};
	struct profile_wait ended = {.thread = s % 17, .owner = PROFILE_NONE, .lock = 77};

	profile_event_runs(p, EVENT_CPU, s, s % 10 < 7);
	profile_event_runs(p, EVENT_WALL, s, s > 4);
	if (s == 0 || s == 5)
		profile_event_runs(p, EVENT_ALLOC, s, s == 0);
	if (s == 10) /* after its end was written */
		profile_event_runs(p, EVENT_ALLOC, 6, true);
	if (s == 6)
		profile_gap(p, 5, 6);
	if (s == 9)
		profile_gap(p, 6, 8);
	if (s == 20) {
		profile_gap(p, 15, 16);
		profile_gap(p, 18, 19);
		profile_interval_add(p, EVENT_CPU, 20000000);
	}
	if (s == 12)
		profile_thread_set(p, 7,
			&(struct profile_thread){.tid = 107, .java_tid = -1, .name = "other"});
	for (uint32_t i = 0; s == 15 && i < 3; i++)
		profile_thread_set(
			p, 40 - i, &(struct profile_thread){.tid = 200 + (int)i, .name = "late"});
	profile_add_sample(p, EVENT_WALL, s,
		&(struct profile_sample){
			profile_stack_waiting(p, stack_of(p, 4711), THREAD_IO, &io), 0, THREAD_IO,
			1, 5});
	if (s < 5)
		return;
	ended.since_ns = (s - 5) * NS_PER_S;
	ended.until_ns = s == 11 ? PROFILE_STILL : s * NS_PER_S;
	profile_wait_set(p, &ended);
}

static struct profile *all_kinds(uint32_t seconds, struct recording_writer *w)
{
	struct profile *p = profile_new();
	struct vitals v = some_vitals();
	struct err err = {0};

	profile_set_start(p, 1700000000 * NS_PER_S);
	name_threads(p);
	profile_event_set(p, EVENT_USER_FIRST + 1, "cache-misses", "events", 1000);
	profile_interval_add(p, EVENT_CPU, 10000000);
	if (w) {
		recording_begin(w, p, &meta);
		recording_vitals(w, &v);
	}
	for (uint32_t s = 0; s < seconds; s++) {
		changes(p, s);
		second_of(p, s);
		some_waits(p, s);
		v.heap_used += 1000;
		profile_vitals_set(p, &v);
		if (w) {
			recording_vitals(w, &v);
			recording_follow(w, &err);
		}
	}
	return p;
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
/* The samples of a second, without its number. */
static char *samples_text(const struct profile *p, int event, uint32_t second)
{
	struct buf all = {0}, out = {0};

	same_seconds(p, &all, event, second, second + 1);
	for (const char *line = buf_str(&all); *line; line += strcspn(line, "\n") + 1)
		buf_printf(&out, "%.*s\n", (int)(strcspn(line, "\n") - strcspn(line, ":")),
			line + strcspn(line, ":"));
	buf_done(&all);
	return buf_steal(&out);
}

/* A copy of a span: all of it is the same profile again; of a part, each second has the samples of its original. */
static void test_cut(void)
{
	const uint32_t from = 25, to = 61;
	struct profile *p = all_kinds(100, NULL), *whole = profile_cut(p, 0, UINT32_MAX),
		       *part = profile_cut(p, from, to), *rest = profile_cut(p, to, UINT32_MAX);
	uint64_t process_ns = 0, weight = 0, parts_weight = 0;
	unsigned waits = 0, wrong_waits = 0, different = 0, seconds = 0, vitals = 0,
		 equal_vitals = 0;
	struct profile_wait w;
	struct profile_run run;

	same(same_text(p, false), same_text(whole, false), "a copy of everything");
	is_int(profile_info(part).now, to - from - 1, "a copy of a part has its seconds only");
	is_int(profile_info(part).start_wall_ns, (1700000000 + from) * NS_PER_S,
		"it starts later by as much");
	for (uint32_t s = from; s < to; s++) {
		for (int e = 0; e <= SAME_HOLDERS; e++) {
			char *was = samples_text(p, e, s), *is = samples_text(part, e, s - from);

			different += strcmp(was, is) != 0;
			seconds += *is != '\0';
			free(was);
			free(is);
			e = e == PROFILE_EVENTS - 1 ? SAME_HOLDERS - 1 : e;
		}
		process_ns += profile_process_ns(p, s, s + 1);
		if (!profile_vitals(p, s))
			continue;
		vitals++;
		equal_vitals += profile_vitals(part, s - from) != NULL &&
				profile_vitals(part, s - from)->heap_used ==
					profile_vitals(p, s)->heap_used;
	}
	ok(seconds > 4 * (to - from) && !different,
		"each of its %u seconds of an event has the same samples: %u differ", seconds,
		different);
	is_int(equal_vitals, vitals, "and the same vitals");
	is_int(profile_process_ns(part, 0, UINT32_MAX), process_ns,
		"and the CPU time of the process");
	ok(profile_get_run(part, EVENT_CPU, 0, &run) && run.from == 0 && run.to <= 4,
		"a run of an event that began before the span begins with it: %u-%u", run.from,
		run.to);
	for (uint64_t i = 0; i < profile_wait_count(part); i++) {
		if (!profile_get_wait(part, i, &w))
			continue;
		waits++;
		wrong_waits += w.until_ns > (to - from) * NS_PER_S || w.since_ns > w.until_ns;
	}
	ok(waits > to - from && !wrong_waits, "all of its %u waits are within the span", waits);
	for (int e = 0; e < PROFILE_EVENTS; e++) {
		struct profile_query q = profile_whole(e);

		weight += profile_sum(p, &q).weight;
		parts_weight += profile_sum(part, &q).weight + profile_sum(rest, &q).weight;
		q.to = from;
		parts_weight += profile_sum(p, &q).weight;
	}
	is_int(parts_weight, weight, "adjacent copies add up to the original");
	profile_free(p);
	profile_free(whole);
	profile_free(part);
	profile_free(rest);
}

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

int main(void)
{
	snprintf(folder, sizeof(folder), "%s/jhot-recording.XXXXXX",
		getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(folder))
		return 1;
	test_at_once();
	test_followed();
	test_cut();
	test_merged();
	test_swept();
	test_vitals();
	test_steps();
	test_killed();
	test_older();
	if (!chdir(folder))
		(void)!system("rm -f ./*.jhot ./.jhot-*");
	rmdir(folder);
	return tap_done();
}
