/* SPDX-License-Identifier: Apache-2.0 */
/* Calls out of a profile and into another one. */
#include "profile/calls/own.h"

uint32_t calls_generation(const struct profile *p)
{
	return p->calls ? p->calls_generation : 0;
}

void calls_range(const struct profile *p, uint64_t *first, uint64_t *end)
{
	*end = p->calls ? p->calls->call_count : 0;
	*first = *end > CALLS_MAX ? *end - CALLS_MAX : 0;
}

bool calls_get(const struct profile *p, uint64_t number, struct call *out)
{
	uint64_t first, end;

	calls_range(p, &first, &end);
	if (number < first || number >= end)
		return false;
	*out = call_now(p->calls, number);
	return true;
}

uint32_t calls_polls(const struct profile *p, uint64_t number, struct call_poll *out, uint32_t most)
{
	const struct model_poll *at;
	struct call call;
	uint32_t count = 0;

	if (!calls_get(p, number, &call))
		return 0;
	for (at = poll_of(p->calls, p->calls->calls[number % CALLS_MAX].last); at && count < most;
		at = poll_of(p->calls, at->before))
		out[count++] = (struct call_poll){.time_ns = at->time_ns,
			.still_ns = at->still_ns,
			.cpu_ns = at->cpu_ns,
			.delay_ns = at->delay_ns,
			.stack = at->stack,
			.state = at->state};
	return count;
}

static bool is_valid(const struct call *call, const struct call_poll *polls, uint32_t count)
{
	if (call->thread >= MODEL_THREADS_MAX || call->begin_from > call->begin_to ||
		call->begin_to > call->end_from || call->end_from > call->end_to)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (polls[i].state >= CALL_STATES || polls[i].still_ns < polls[i].time_ns ||
			(i && polls[i].time_ns > polls[i - 1].time_ns))
			return false;
	return true;
}

void calls_restore(
	struct profile *p, const struct call *call, const struct call_poll *polls, uint32_t count)
{
	struct model_calls *c = p->calls;
	struct model_call *new;

	if (!c || !is_valid(call, polls, count))
		return;
	new = &c->calls[c->call_count % CALLS_MAX];
	*new = (struct model_call){.pub = *call};
	new->pub.number = c->call_count++;
	new->pub.weight = call->weight ? call->weight : 1;
	c->restored = true;
	for (uint32_t i = count; i-- > 0;) {
		c->polls[c->poll_count % CALLS_POLLS] =
			(struct model_poll){.time_ns = polls[i].time_ns,
				.still_ns = polls[i].still_ns,
				.cpu_ns = polls[i].cpu_ns,
				.delay_ns = polls[i].delay_ns,
				.stack = polls[i].stack,
				.state = (uint8_t)polls[i].state,
				.before = new->last};
		new->last = ++c->poll_count;
	}
}

uint32_t calls_entries(const struct profile *p, uint64_t cell)
{
	const struct model_calls *c = p->calls;

	if (!c || c->cells[cell % CALLS_CELLS].cell != cell)
		return 0;
	return c->cells[cell % CALLS_CELLS].entries |
	       (c->cells[cell % CALLS_CELLS].estimated ? CALLS_ESTIMATED : 0);
}

void calls_entries_restore(struct profile *p, uint64_t cell, uint32_t entries)
{
	struct model_calls *c = p->calls;

	if (!c)
		return;
	c->cells[cell % CALLS_CELLS].cell = cell;
	c->cells[cell % CALLS_CELLS].entries = entries & ~CALLS_ESTIMATED;
	c->cells[cell % CALLS_CELLS].estimated = entries & CALLS_ESTIMATED;
	c->counted_ns = c->counted_ns ? c->counted_ns : cell * CALLS_CELL_NS;
}
