/* SPDX-License-Identifier: Apache-2.0 */
/* recording: measured calls, their polls and entries after a round trip, at once and as they end; corrupt files. */
#include "base/buf.h"
#include "profile/calls/report.h"
#include "recording/recording.h"
#include "tests/profile/feed_calls.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECONDS 20
#define ROUNDS  1500
#define POLLS   4096u

static const struct calls_query all = {.to_ns = UINT64_MAX};
static char path[64];

static void open_file(void)
{
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memfd_create("calls", MFD_CLOEXEC));
}

static void close_file(void)
{
	close(atoi(path + strlen("/proc/self/fd/")));
}

/* The calls of the invented method, and one whose entries are recorded and that lasts. */
static struct profile *calls_of(uint32_t seconds, struct recording_writer *w)
{
	const struct recording_meta meta = {.host = "box"};
	struct profile *p = profile_new();
	struct vitals v = {.pid = 12, .name = "Calls"};
	struct feed_calls feed;
	struct err err = {0};

	vitals_unknown(&v);
	for (uint32_t i = 0; i <= FEED_CALLERS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "http-%u", i);
		profile_thread_set(p, i, &(struct profile_thread){.tid = (int)i, .name = name});
	}
	if (w) {
		recording_begin(w, p, &meta);
		recording_vitals(w, &v);
	}
	calls_begin(p, "com.shop.Other.m", 7 * NS_PER_MS);
	calls_begin(p, "com.shop.Gateway.handle", 5 * NS_PER_MS);
	feed_calls_init(&feed, p, "com.shop.Gateway.handle", 0);
	for (uint32_t s = 0; s < seconds; s++) {
		struct profile_poll last = {.thread = FEED_CALLERS,
			.inside = true,
			.inlined = true,
			.counted = true,
			.recorded = true,
			.entries = s == 3,
			.entries_here = s == 3,
			.first_ns = s * NS_PER_S + 1,
			.last_ns = s * NS_PER_S + 1,
			.time_ns = s * NS_PER_S + 5 * NS_PER_MS,
			.since_ns = s * NS_PER_S + 5 * NS_PER_MS,
			.before_ns = s * NS_PER_S,
			.frame = 9};

		feed_calls_until(&feed, (s + 1) * NS_PER_S);
		if (s >= 3)
			calls_add_poll(p, &last);
		profile_advance(p, s);
		if (w)
			recording_follow(w, &err);
	}
	return p;
}

static struct profile *read_back(struct err *err)
{
	struct profile *p = profile_new();
	struct recording *r = recording_open(path, p, err);

	if (r)
		recording_read(r, UINT32_MAX, err);
	recording_free(r);
	return p;
}

/* --- comparison ------------------------------------------------------------------------------ */

struct list {
	const struct profile *p;
	struct call *calls;
	uint32_t count, cap;
};

static void list_add(void *ctx, const struct call *call)
{
	struct list *l = ctx;

	l->calls = xgrow(l->calls, l->count, &l->cap, sizeof(*l->calls));
	l->calls[l->count++] = *call;
}

/* By thread and begin: a file has calls in the order in which they end. */
static int by_begin(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return x->thread != y->thread ? (x->thread > y->thread) - (x->thread < y->thread)
				      : (x->begin_to > y->begin_to) - (x->begin_to < y->begin_to);
}

static const char *leaf_of(const struct profile *p, uint32_t stack)
{
	return stack == PROFILE_ROOT_STACK
		       ? ""
		       : profile_get_method(
				 p, profile_get_frame(p, profile_get_stack(p, stack).frame)->method)
				 ->full;
}

static bool same_polls(
	const struct list *a, const struct call *x, const struct list *b, const struct call *y)
{
	static struct call_poll polls[2][POLLS];
	uint32_t count = calls_polls(a->p, x->number, polls[0], POLLS);

	if (calls_polls(b->p, y->number, polls[1], POLLS) != count || !count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct call_poll *m = &polls[0][i], *n = &polls[1][i];

		if (m->time_ns != n->time_ns || m->still_ns != n->still_ns ||
			m->cpu_ns != n->cpu_ns || m->delay_ns != n->delay_ns ||
			m->state != n->state ||
			strcmp(leaf_of(a->p, m->stack), leaf_of(b->p, n->stack)) != 0)
			return false;
	}
	return true;
}

static bool same_call(
	const struct list *a, const struct call *x, const struct list *b, const struct call *y)
{
	return x->polls == y->polls && x->gap_ns == y->gap_ns && x->begin_from == y->begin_from &&
	       x->begin_to == y->begin_to && x->end_from == y->end_from && x->end_to == y->end_to &&
	       x->counted == y->counted && x->inlined == y->inlined &&
	       x->uncertain == y->uncertain && x->weight == y->weight &&
	       !memcmp(x->state_ns, y->state_ns, sizeof(x->state_ns)) &&
	       !strcmp(profile_get_thread(a->p, x->thread)->name,
		       profile_get_thread(b->p, y->thread)->name) &&
	       same_polls(a, x, b, y);
}

static void is_same(const struct profile *p, const char *what)
{
	struct err err = {0};
	struct profile *q = read_back(&err);
	struct list a = {.p = p}, b = {.p = q};
	struct calls_summary was, is;
	uint32_t different = 0;

	is_str(err.what, "", "the recording is read");
	is_str(calls_name(q), "com.shop.Gateway.handle",
		"it has the method that was measured last");
	is_int(calls_interval(q), 5 * NS_PER_MS, "and its interval");
	calls_each(p, &all, list_add, &a);
	calls_each(q, &all, list_add, &b);
	is_int(b.count, a.count, what);
	qsort(a.calls, a.count, sizeof(*a.calls), by_begin);
	qsort(b.calls, b.count, sizeof(*b.calls), by_begin);
	for (uint32_t i = 0; i < a.count && i < b.count; i++)
		different += !same_call(&a, &a.calls[i], &b, &b.calls[i]);
	is_int(different, 0, "each of them is equal, with its polls");
	calls_summarize(p, &all, &was);
	calls_summarize(q, &all, &is);
	ok(was.seen > 1000 && was.p50 == is.p50 && was.p99 == is.p99 && was.max == is.max &&
			was.slow_calls == is.slow_calls && was.lasting == is.lasting,
		"the summary is the same: p50 %.1f ms", (double)is.p50 / (double)NS_PER_MS);
	is_int(is.lasting, was.lasting, "calls in progress at the end are kept");
	is_int(calls_counted_ns(q) > 0, calls_counted_ns(p) > 0, "entries are kept");
	for (uint64_t cell = 0; cell < SECONDS * 10; cell++)
		if (calls_entries(p, cell) != calls_entries(q, cell))
			ok(false, "entries of %u differ", (unsigned)cell);
	free(a.calls);
	free(b.calls);
	profile_free(q);
}

static void test_at_once(void)
{
	struct profile *p = calls_of(SECONDS, NULL);
	const struct recording_meta meta = {.host = "box"};
	struct vitals v = {.pid = 12, .name = "Calls"};
	struct err err = {0};

	vitals_unknown(&v);
	open_file();
	ok(!recording_save(path, p, &meta, &v, SECONDS * NS_PER_S, &err), "calls are saved %s",
		err.what);
	is_same(p, "all calls at once");
	close_file();
	profile_free(p);
}

static void test_followed(void)
{
	struct err err = {0};
	struct recording_writer *w;
	struct profile *p;

	snprintf(path, sizeof(path), "/tmp/jhot-test-calls.%d.jhot", (int)getpid());
	w = recording_create(path, &err);
	p = calls_of(SECONDS, w);
	ok(!recording_finish(w, SECONDS * NS_PER_S, &err), "calls are followed %s", err.what);
	recording_close(w);
	is_same(p, "all calls, each written when it has ended");
	unlink(path);
	profile_free(p);
}

/* --- corrupt files --------------------------------------------------------------------------- */

static void check_call(void *ctx, const struct call *call)
{
	struct list *l = ctx;
	uint32_t count;

	l->count += call->begin_from > call->begin_to || call->begin_to > call->end_from ||
		    call->end_from > call->end_to;
	free(call_phases(l->p, call, &count));
}

static void test_corrupt(void)
{
	struct buf stream = {0};
	struct recording_writer *w = recording_create_stream(&stream);
	struct profile *p = calls_of(2, w);
	uint32_t wrong = 0, read = 0;
	struct err err = {0};

	recording_finish(w, 2 * NS_PER_S, &err);
	recording_close(w);
	profile_free(p);
	srandom(7);
	for (int i = 0; i < ROUNDS; i++) {
		struct calls_cause causes[CALLS_CAUSES];
		struct calls_summary sum;
		struct list l = {.count = 0};
		struct buf copy = {0};

		buf_add(&copy, stream.data, stream.len);
		for (int k = random() % 4 + 1; k-- > 0;)
			copy.data[(size_t)random() % copy.len] = (char)random();
		open_file();
		if (write(atoi(path + strlen("/proc/self/fd/")), copy.data, copy.len) < 0)
			diag("it could not be written");
		l.p = p = read_back(&err);
		calls_summarize(p, &all, &sum);
		calls_causes(p, &(struct calls_query){.to_ns = all.to_ns, .min_ns = sum.slow_ns},
			causes);
		calls_each(p, &all, check_call, &l);
		read += sum.seen > 0;
		wrong += l.count;
		profile_free(p);
		close_file();
		buf_done(&copy);
	}
	ok(read > ROUNDS / 10, "calls of %u corrupt files are read", read);
	is_int(wrong, 0, "none of them ends before it begins");
	buf_done(&stream);
}

int main(void)
{
	test_at_once();
	test_followed();
	test_corrupt();
	return tap_done();
}
