/* SPDX-License-Identifier: Apache-2.0 */
/* Copies calls into a profile that has only them. */
#include "profile/calls/extract.h"

#include "base/buf.h"
#include "base/clock.h"
#include "profile/calls/pieces.h"
#include "profile/cut.h"
#include "profile/history.h"

#include <stdlib.h>

struct extract {
	const struct profile *from;
	struct profile *to;
	uint32_t *stacks;  /* for profile_copy_stack */
	uint32_t *threads; /* by thread of `from`: its id in `to`, + 1 */
	uint32_t thread_count;
	struct call_pieces pieces;
};

static uint32_t extract_thread(struct extract *e, uint32_t thread)
{
	if (thread >= e->thread_count)
		return PROFILE_NONE;
	if (!e->threads[thread]) {
		uint32_t id = profile_thread_new(e->to);

		profile_thread_set(e->to, id, profile_get_thread(e->from, thread));
		e->threads[thread] = id + 1;
	}
	return e->threads[thread] - 1;
}

static const uint8_t thread_state_of[CALL_STATES] = {
	[CALL_CPU] = THREAD_ON_CPU,
	[CALL_RUNNABLE] = THREAD_RUNNABLE,
	[CALL_LOCK] = THREAD_MONITOR,
	[CALL_IO] = THREAD_IO,
	[CALL_SLEEP] = THREAD_SLEEPING,
	[CALL_WAIT] = THREAD_WAITING,
	[CALL_PARK] = THREAD_PARKED,
	[CALL_SAFEPOINT] = THREAD_SLEEPING,
	[CALL_SHORT] = THREAD_STATE_NONE,
};

static void extract_samples(struct extract *e, const struct call *call, uint32_t thread)
{
	uint32_t count;
	struct call_part *parts = call_parts(e->from, call, &count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t stack = profile_copy_stack(e->to, e->from, parts[i].stack, e->stacks);

		for (uint64_t at = parts[i].from_ns, next; at < parts[i].to_ns; at = next) {
			next = (at / NS_PER_S + 1) * NS_PER_S;
			next = next < parts[i].to_ns ? next : parts[i].to_ns;
			call_pieces_add(&e->pieces,
				&(struct call_piece){.second = (uint32_t)(at / NS_PER_S),
					.stack = stack,
					.thread = thread,
					.state = thread_state_of[parts[i].state],
					.count = 1,
					.ns = next - at});
		}
	}
	free(parts);
}

static void extract_call(void *ctx, const struct call *call)
{
	struct extract *e = ctx;
	struct call copy = *call;
	struct call_poll *polls = xcalloc(call->polls + 1, sizeof(*polls));
	uint32_t count = calls_polls(e->from, call->number, polls, call->polls + 1);

	copy.thread = extract_thread(e, call->thread);
	if (copy.thread != PROFILE_NONE) {
		for (uint32_t i = 0; i < count; i++)
			polls[i].stack =
				profile_copy_stack(e->to, e->from, polls[i].stack, e->stacks);
		calls_restore(e->to, &copy, polls, count);
		extract_samples(e, call, copy.thread);
	}
	free(polls);
}

/* Of the threads that made the calls. */
static void extract_waits(struct extract *e)
{
	uint64_t count = profile_wait_count(e->from);
	struct profile_wait w;

	for (uint64_t i = count > PROFILE_WAITS ? count - PROFILE_WAITS : 0; i < count; i++) {
		if (!profile_get_wait(e->from, i, &w) || w.thread >= e->thread_count ||
			!e->threads[w.thread])
			continue;
		w.thread = e->threads[w.thread] - 1;
		w.owner = extract_thread(e, w.owner);
		if (w.method != PROFILE_NONE) {
			const struct profile_method *m = profile_get_method(e->from, w.method);

			w.method = profile_method(
				e->to, m->class_name, m->name, m->signature, m->module);
		}
		profile_wait_set(e->to, &w);
	}
}

struct profile *calls_extract(const struct profile *p, const struct calls_query *q)
{
	struct profile_info info = profile_info(p);
	struct extract e = {
		.from = p, .to = profile_new(), .thread_count = profile_thread_count(p)};

	e.stacks = xcalloc((size_t)info.stacks + 1, sizeof(*e.stacks));
	e.threads = xcalloc((size_t)e.thread_count + 1, sizeof(*e.threads));
	profile_set_budget(e.to, SIZE_MAX);
	profile_set_history(e.to, UINT32_MAX);
	if (info.start_wall_ns)
		profile_set_start(e.to, info.start_wall_ns);
	calls_begin(e.to, calls_name(p), calls_interval(p));
	if (calls_interval(p))
		profile_interval_add(e.to, EVENT_WALL, calls_interval(p));
	calls_each(p, q, extract_call, &e);
	extract_waits(&e);
	call_pieces_feed(&e.pieces, e.to, calls_interval(p));
	profile_advance(e.to, info.now);
	free(e.stacks);
	free(e.threads);
	return e.to;
}
