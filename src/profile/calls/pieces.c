/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of calls, summed up to samples. */
#include "profile/calls/pieces.h"

#include "base/buf.h"

#include <stdlib.h>

struct call_part *call_parts(const struct profile *p, const struct call *call, uint32_t *count)
{
	struct call_part *parts = xcalloc(call->polls + 1, sizeof(*parts));
	uint64_t begin_ns = call_begin_ns(call), end_ns = call_end_ns(call);

	*count = calls_parts(p, call, parts, call->polls + 1);
	if (!*count) {
		free(parts);
		return NULL;
	}
	if (begin_ns < parts[0].from_ns)
		parts[0].from_ns = begin_ns;
	if (end_ns > parts[*count - 1].from_ns)
		parts[*count - 1].to_ns = end_ns;
	return parts;
}

void call_pieces_add(struct call_pieces *c, const struct call_piece *piece)
{
	c->list = xgrow(c->list, c->count, &c->cap, sizeof(*c->list));
	c->list[c->count++] = *piece;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct call_piece *x = a, *y = b;

	if (x->second != y->second)
		return x->second < y->second ? -1 : 1;
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (int)x->state - (int)y->state;
}

void call_pieces_feed(struct call_pieces *c, struct profile *to, uint64_t interval)
{
	uint32_t next;

	if (c->count)
		qsort(c->list, c->count, sizeof(*c->list), compare_pieces);
	for (uint32_t i = 0; i < c->count; i = next) {
		struct call_piece sum = c->list[i];
		uint64_t samples;

		for (next = i + 1; next < c->count && !compare_pieces(&sum, &c->list[next]);
			next++) {
			sum.ns += c->list[next].ns;
			sum.count += c->list[next].count;
		}
		/* Files have numbers of samples, which are to be proportional to the time. */
		samples = interval ? (sum.ns + interval / 2) / interval : sum.count;
		profile_advance(to, sum.second);
		profile_add_sample(to, EVENT_WALL, sum.second,
			&(struct profile_sample){.stack = sum.stack,
				.thread = sum.thread,
				.state = sum.state,
				.count = samples ? (uint32_t)samples : 1,
				.weight = sum.ns});
	}
	free(c->list);
	*c = (struct call_pieces){0};
}
