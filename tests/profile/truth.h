/* SPDX-License-Identifier: Apache-2.0 */
/* Random sessions whose samples are all recorded beside the model: the ground truth for any query. */
#ifndef JHOT_TESTS_PROFILE_TRUTH_H
#define JHOT_TESTS_PROFILE_TRUTH_H

#include "profile/profile.h"
#include "profile/query/filter.h"

#include <stdio.h>
#include <string.h>

#define SECONDS 700 /* more than are retained as single seconds */
#define STACKS  1500
#define METHODS 60
#define THREADS 6
#define SAMPLES 24 /* at most, per second */
#define NUMBERS (1u << 13)
#define NUMBER  0xfffffffu /* removes the form bits of a stack id */

struct fed {
	uint32_t second, pair;
	uint32_t count;
	uint64_t weight;
};

struct pair {
	uint32_t stack, thread;
	enum thread_state state;
};

/* The samples of one event, and its (stack, thread, state) combinations in order of first use. */
struct truth {
	struct fed fed[SECONDS * SAMPLES];
	struct pair pairs[SECONDS * SAMPLES];
	uint32_t *number; /* per stack, thread and state: index of the pair + 1 */
	uint32_t fed_count, pair_count;
};

struct row {
	uint32_t stack, thread;
	enum thread_state state;
	uint64_t count, weight;
};

struct session {
	struct profile *p;
	struct truth truth[EVENT_USER_FIRST];
	uint32_t stacks[STACKS], stack_count;
	uint32_t now, mark[EVENT_USER_FIRST];
	struct filter *filter;
	struct profile_query last;
	struct row rows[SECONDS * SAMPLES];
	uint32_t row_count;
};

static uint64_t rng;

static inline uint32_t below(uint32_t n)
{
	rng = rng * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((rng >> 33) % n);
}

/* --- feeding ----------------------------------------------------------------------------------------- */

static inline uint32_t random_stack(struct session *s)
{
	static const char *const classes[] = {"app.A", "app.B", "fw.Web", "fw.Proxy"};
	uint32_t parent = PROFILE_ROOT_STACK, n = below(METHODS), type, method, stack;
	char name[16];

	if (s->stack_count && below(20))
		parent = s->stacks[below(s->stack_count)];
	if (profile_get_stack(s->p, parent).depth > 12 || s->stack_count == STACKS)
		return parent;
	type = n % 7 == 3 ? FRAME_NATIVE : n % 11 == 5 ? FRAME_KERNEL : below(FRAME_NATIVE);
	snprintf(name, sizeof(name), "m%u", n / 4);
	method = profile_method(s->p, type < FRAME_NATIVE ? classes[n % 4] : "", name, "()V",
		type == FRAME_NATIVE ? "libx.so" : "");
	stack = profile_stack_child(s->p, parent,
		profile_frame(
			s->p, method, type, below(3), type < FRAME_NATIVE ? 1 + below(3) : 0));
	s->stacks[s->stack_count++] = stack;
	return stack;
}

static inline void feed(struct session *s, int event, uint32_t second)
{
	struct truth *t = &s->truth[event];
	struct profile_sample in = {
		.stack = random_stack(s), .thread = below(THREADS), .count = 1 + below(3)};
	uint32_t *number;

	in.state = event == EVENT_WALL ? below(THREAD_STATES) : THREAD_STATE_NONE;
	in.weight = event == EVENT_CPU ? in.count * 10000000ull : below(1u << 30) * 977ull;
	profile_add_sample(s->p, event, second, &in);
	number = &t->number[(in.stack * 8 + in.thread) * THREAD_STATES + in.state];
	if (!*number) {
		t->pairs[t->pair_count] = (struct pair){in.stack, in.thread, in.state};
		*number = ++t->pair_count;
	}
	t->fed[t->fed_count++] = (struct fed){second, *number - 1, in.count, in.weight};
}

/* --- the truth --------------------------------------------------------------------------------------- */

static inline bool wants(
	const struct session *s, const struct profile_query *q, const struct pair *pair)
{
	return (q->thread == PROFILE_ANY_THREAD || q->thread == pair->thread) &&
	       (!q->states || q->states >> pair->state & 1) &&
	       (!q->pool || profile_get_thread(s->p, pair->thread)->pool == q->pool);
}

static inline void find_rows(struct session *s, const struct profile_query *q)
{
	const struct truth *t = &s->truth[q->event];
	static struct profile_sum sums[SECONDS * SAMPLES];

	memset(sums, 0, sizeof(sums));
	s->row_count = 0;
	for (uint32_t i = 0; i < t->fed_count; i++)
		if (t->fed[i].second >= q->from && t->fed[i].second < q->to) {
			sums[t->fed[i].pair].count += t->fed[i].count;
			sums[t->fed[i].pair].weight += t->fed[i].weight;
		}
	for (uint32_t i = 0; i < t->pair_count; i++) {
		const struct pair *pair = &t->pairs[i];
		uint32_t stack = pair->stack;

		if (!sums[i].count || !wants(s, q, pair))
			continue;
		if (q->filter)
			stack = filter_map_stack(q->filter, s->p, stack);
		if (stack != PROFILE_NONE)
			s->rows[s->row_count++] = (struct row){
				stack, pair->thread, pair->state, sums[i].count, sums[i].weight};
	}
}

static inline uint64_t value_of(const struct profile_query *q, const struct row *r)
{
	return q->by_weight ? r->weight : r->count;
}

static inline const struct profile_frame *frame_of(const struct session *s, uint32_t stack)
{
	return profile_get_frame(s->p, profile_get_stack(s->p, stack).frame);
}

static inline uint32_t parent_of(const struct session *s, uint32_t stack)
{
	return profile_get_stack(s->p, stack).parent;
}

#endif
