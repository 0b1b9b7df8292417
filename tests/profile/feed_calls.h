/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polls of invented calls of one method, for tests of what is shown of them: the same ones for the same seed.
 *
 * Eight threads call the method in turn with pauses. Of each thread's calls 39 take 12 to 28 ms, half of it on the CPU and half in a
 * socket; the 40th takes 200 to 600 ms, most of it waiting for a monitor. They are polled every 4 to 6 ms.
 */
#ifndef JHOT_TESTS_PROFILE_FEED_CALLS_H
#define JHOT_TESTS_PROFILE_FEED_CALLS_H

#include "base/clock.h"
#include "profile/calls/calls.h"

#include <string.h>

#define FEED_CALLERS 8

struct feed_caller {
	uint64_t begin, end; /* of the current call, or the next one */
	uint64_t polled, cpu, calls;
};

struct feed_calls {
	struct profile *p;
	uint64_t rng;
	uint32_t runs, reads, blocked; /* stacks */
	struct feed_caller callers[FEED_CALLERS];
};

static inline uint64_t feed_calls_below(struct feed_calls *f, uint64_t n)
{
	f->rng ^= f->rng << 13;
	f->rng ^= f->rng >> 7;
	f->rng ^= f->rng << 17;
	return f->rng % n;
}

static inline uint32_t feed_calls_frame(
	struct profile *p, uint32_t parent, const char *class_name, const char *name)
{
	return profile_stack_child(p, parent,
		profile_frame(
			p, profile_method(p, class_name, name, "()V", ""), FRAME_COMPILED, 1, 10));
}

static inline void feed_calls_next(struct feed_calls *f, struct feed_caller *c, uint64_t after)
{
	bool slow = ++c->calls % 40 == 0;

	c->begin = after + (5 + feed_calls_below(f, 40)) * NS_PER_MS;
	c->end = c->begin +
		 NS_PER_MS * (slow ? 200 + feed_calls_below(f, 400) : 12 + feed_calls_below(f, 16));
}

/* Begins at `now` with calls of this method, "com.shop.Gateway.handle". */
static inline void feed_calls_init(
	struct feed_calls *f, struct profile *p, const char *method, uint64_t now)
{
	static const struct profile_io io = {"socket read", "10.0.0.5:5432"};
	const char *dot = strrchr(method, '.');
	char class_name[160];
	uint32_t root, save;

	*f = (struct feed_calls){.p = p, .rng = 88172645463325252ull};
	memcpy(class_name, method, (size_t)(dot - method));
	class_name[dot - method] = '\0';
	root = feed_calls_frame(p, PROFILE_ROOT_STACK, class_name, dot + 1);
	f->runs = feed_calls_frame(p, root, "com.acme.shop.Parser", "parse");
	f->reads = profile_stack_waiting(
		p, feed_calls_frame(p, root, "com.acme.shop.Repo", "load"), THREAD_IO, &io);
	save = feed_calls_frame(p, root, "com.acme.shop.Repo", "save");
	f->blocked = profile_stack_waiting(p, save, THREAD_MONITOR, NULL);
	for (int i = 0; i < FEED_CALLERS; i++) {
		f->callers[i].polled = now;
		f->callers[i].calls = (uint64_t)i * 5;
		feed_calls_next(f, &f->callers[i], now);
	}
}

static inline void feed_calls_poll(struct feed_calls *f, uint32_t thread, uint64_t at)
{
	struct feed_caller *c = &f->callers[thread];
	bool slow = c->calls % 40 == 0;
	uint64_t ran = (c->end - c->begin) / (slow ? 10 : 2), read = slow ? ran * 2 : ran;
	struct profile_poll poll = {.thread = thread,
		.inside = at >= c->begin && at < c->end,
		.time_ns = at,
		.since_ns = at,
		.before_ns = c->polled,
		.frame = 100,
		.outside = c->calls,
		.values = c->calls,
		.stack = PROFILE_ROOT_STACK};

	if (poll.inside && at < c->begin + ran) {
		poll.stack = f->runs;
		poll.state = THREAD_ON_CPU;
		c->cpu += at - (c->polled > c->begin ? c->polled : c->begin);
	} else if (poll.inside && at < c->begin + ran + read) {
		poll.stack = f->reads;
		poll.state = THREAD_IO;
	} else if (poll.inside) {
		poll.stack = f->blocked;
		poll.state = THREAD_MONITOR;
	}
	poll.cpu_ns = c->cpu;
	calls_add_poll(f->p, &poll);
	c->polled = at;
	if (at >= c->end)
		feed_calls_next(f, c, at);
}

/* The polls up to a time, ns since second 0. */
static inline void feed_calls_until(struct feed_calls *f, uint64_t to_ns)
{
	for (uint32_t i = 0; i < FEED_CALLERS; i++)
		for (uint64_t at; (at = f->callers[i].polled + 4 * NS_PER_MS +
					  feed_calls_below(f, 2 * NS_PER_MS)) < to_ns;)
			feed_calls_poll(f, i, at);
}

#endif
