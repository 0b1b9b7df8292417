/* SPDX-License-Identifier: Apache-2.0 */
/* Polls for tests of calls: defaults, stacks by name, and the calls that resulted. Times are in ms. */
#ifndef JHOT_TESTS_PROFILE_POLLS_H
#define JHOT_TESTS_PROFILE_POLLS_H

#include "base/clock.h"
#include "profile/calls/calls.h"

#include <stdio.h>
#include <string.h>

#define POLLS_INTERVAL (5 * NS_PER_MS)
#define POLLS_KEPT     64u

static inline uint64_t polls_ns(double ms)
{
	return (uint64_t)(ms * (double)NS_PER_MS + 0.5);
}

/* A thread that runs inside a call, polled an interval before; its entries are not recorded. */
static inline struct profile_poll polls_at(uint32_t thread, double ms)
{
	return (struct profile_poll){.thread = thread,
		.stack = PROFILE_ROOT_STACK,
		.state = THREAD_ON_CPU,
		.inside = true,
		.time_ns = polls_ns(ms),
		.since_ns = polls_ns(ms),
		.before_ns = polls_ns(ms > 5 ? ms - 5 : 0),
		.frame = 10,
		.outside = 7,
		.values = 7};
}

static inline void polls_inside(struct profile *p, uint32_t thread, double ms)
{
	struct profile_poll poll = polls_at(thread, ms);

	calls_add_poll(p, &poll);
}

static inline void polls_outside(struct profile *p, uint32_t thread, double ms)
{
	struct profile_poll poll = polls_at(thread, ms);

	poll.inside = false;
	poll.frame = poll.outside = poll.values = 0;
	calls_add_poll(p, &poll);
}

/* A frame such as "java.lang.Thread sleep", or of libjvm: "Parker::park". */
static inline uint32_t polls_push(struct profile *p, uint32_t stack, const char *text)
{
	const char *name = strchr(text, ' ');
	char class_name[100] = "";
	uint32_t method;

	if (name)
		snprintf(class_name, sizeof(class_name), "%.*s", (int)(name - text), text);
	method = profile_method(p, class_name, name ? name + 1 : text, "", name ? "" : "libjvm.so");
	return profile_stack_child(
		p, stack, profile_frame(p, method, name ? FRAME_COMPILED : FRAME_VM, 0xffff, 0));
}

/* --- results --------------------------------------------------------------------------------- */

struct polls_calls {
	struct call list[POLLS_KEPT]; /* the first ones */
	uint32_t count;
};

static inline void polls_keep(void *ctx, const struct call *call)
{
	struct polls_calls *c = ctx;

	if (c->count < POLLS_KEPT)
		c->list[c->count] = *call;
	c->count++;
}

static inline struct polls_calls polls_calls(const struct profile *p, double from_ms, double to_ms)
{
	struct calls_query q = {.from_ns = polls_ns(from_ms), .to_ns = polls_ns(to_ms)};
	struct polls_calls c = {.count = 0};

	calls_each(p, &q, polls_keep, &c);
	return c;
}

/* True for two times that differ by less than 10 us. */
static inline bool polls_same(uint64_t ns, double ms)
{
	uint64_t want = polls_ns(ms), off = ns > want ? ns - want : want - ns;

	return off < 10 * NS_PER_US;
}

#endif
