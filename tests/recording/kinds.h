/* SPDX-License-Identifier: Apache-2.0 */
/* A profile that has something of everything a profile can have, and a comparison of two texts of profiles. */
#ifndef JHOT_TESTS_RECORDING_KINDS_H
#define JHOT_TESTS_RECORDING_KINDS_H

#include "base/clock.h"
#include "recording/recording.h"
#include "tests/recording/same.h"
#include "tests/tap.h"

static const struct recording_meta meta = {
	.host = "box", .labels = (const char *const[]){"version=1.4", "a=b"}, .label_count = 2};

static inline struct vitals some_vitals(void)
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

/* Two texts that ought to be the same; where they part. */
static inline bool same(char *a, char *b, const char *what)
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

/* A stack by its names, whatever numbers there are. */
static inline uint32_t stack_of(struct profile *p, uint32_t seed)
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

static inline void sample(struct profile *p, int event, uint32_t second, uint32_t seed)
{
	const struct profile_sample s = {stack_of(p, seed), seed % 19,
		event == EVENT_WALL ? (enum thread_state)(seed % THREAD_STATES) : THREAD_STATE_NONE,
		1 + seed % 3, seed % 7 ? seed * 1000ull : 0};

	profile_add_sample(p, event, second, &s);
	if (event == EVENT_LOCK && seed % 2)
		profile_add_holder(p, second, &s);
}

static inline void name_threads(struct profile *p)
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

static inline void second_of(struct profile *p, uint32_t s)
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

static inline void some_waits(struct profile *p, uint32_t s)
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

/* Samples in the request of a span, with one of its attributes. */
static inline void some_links(struct profile *p, uint32_t s)
{
	struct profile_link link = {.second = s,
		.event = EVENT_WALL,
		.thread = s % 17,
		.state = THREAD_IO,
		.count = 1 + s % 3,
		.weight = 100 + s};
	uint32_t stack = profile_stack_child(p, PROFILE_ROOT_STACK,
		profile_frame(p, profile_method(p, "", s % 2 ? "/cart" : "/pay", "", "http.route"),
			FRAME_CONTEXT, 0xffff, 0));

	link.stack = profile_stack_child(p, stack,
		profile_frame(p, profile_method(p, "org.acme.Shop", "serve", "()V", ""),
			FRAME_COMPILED, 3, 7));
	memset(link.trace_id, (int)s, sizeof(link.trace_id));
	memset(link.span_id, (int)(s * 3), sizeof(link.span_id));
	profile_add_sample(p, EVENT_WALL, s,
		&(struct profile_sample){
			link.stack, link.thread, link.state, link.count, link.weight});
	profile_add_link(p, &link);
}

/* What changes while it is sampled. */
static inline void changes(struct profile *p, uint32_t s)
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

static inline struct profile *all_kinds(uint32_t seconds, struct recording_writer *w)
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
		some_links(p, s);
		v.heap_used += 1000;
		profile_vitals_set(p, &v);
		if (w) {
			recording_vitals(w, &v);
			recording_follow(w, &err);
		}
	}
	return p;
}

#endif
