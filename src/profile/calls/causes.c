/* SPDX-License-Identifier: Apache-2.0 */
/* What slow calls do that the others do not. */
#include "profile/calls/own.h"

#include "base/buf.h"
#include "base/clock.h"
#include "profile/calls/pieces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MAX 512u

struct place {
	uint64_t hash;
	enum call_state state;
	uint32_t stack;
	double slow_ns, other_ns;
};

struct search {
	const struct profile *p;
	const struct calls_query *q;
	bool slow; /* adds the calls of the range, else the others */
	struct place places[PLACES_MAX];
	uint32_t count;
	struct hash_index known; /* stack and state to place; PLACES_MAX: it found no space */
	double slow_all, other_all;
	uint32_t slow_calls;
};

/* Where it waits, else the program's innermost frame, else the innermost Java frame. */
static uint32_t place_frame(const struct profile *p, uint32_t stack)
{
	uint32_t java = PROFILE_NONE, leaf = PROFILE_NONE;

	for (; stack != PROFILE_ROOT_STACK; stack = profile_get_stack(p, stack).parent) {
		uint32_t frame = profile_get_stack(p, stack).frame;
		enum frame_type type = profile_get_frame(p, frame)->type;

		leaf = leaf == PROFILE_NONE ? frame : leaf;
		if (type == FRAME_WAITS || profile_frame_own(p, frame))
			return frame;
		if (java == PROFILE_NONE && frame_is_java(type))
			java = frame;
	}
	return java != PROFILE_NONE ? java : leaf;
}

uint32_t calls_place(const struct profile *p, uint32_t stack)
{
	return profile_get_frame(p, place_frame(p, stack))->method;
}

static const char *place_name(const struct profile *p, uint32_t stack)
{
	return profile_get_method(p, calls_place(p, stack))->full;
}

/* PLACES_MAX: no slow call was there, or there are too many places. */
static uint32_t place_add(struct search *s, const struct call_part *part)
{
	const char *name = place_name(s->p, part->stack);
	uint64_t hash = hash_bytes(name, strlen(name), part->state);

	for (uint32_t i = 0; i < s->count; i++)
		if (s->places[i].hash == hash)
			return i;
	if (!s->slow || s->count == PLACES_MAX)
		return PLACES_MAX;
	s->places[s->count] =
		(struct place){.hash = hash, .state = part->state, .stack = part->stack};
	return s->count++;
}

/* Parts are many, their stacks few. */
static struct place *place_of(struct search *s, const struct call_part *part)
{
	uint64_t hash = hash_u64((uint64_t)part->stack * CALL_STATES + part->state);
	uint32_t at = hash_index_find(&s->known, hash, NULL, NULL);

	if (at == HASH_NONE) {
		at = place_add(s, part);
		hash_index_add(&s->known, hash, at);
	}
	return at < PLACES_MAX ? &s->places[at] : NULL;
}

static void search_call(void *ctx, const struct call *call)
{
	struct search *s = ctx;
	bool slow = calls_in_range(s->q, call);
	struct call_part *parts;
	uint32_t count;

	if (slow != s->slow)
		return;
	parts = call_parts(s->p, call, &count);
	s->slow_calls += slow;
	for (uint32_t i = 0; i < count; i++) {
		struct place *place = place_of(s, &parts[i]);
		double ns = (double)(parts[i].to_ns - parts[i].from_ns);

		*(slow ? &s->slow_all : &s->other_all) += ns;
		if (place && slow)
			place->slow_ns += ns;
		else if (place)
			place->other_ns += ns;
	}
	free(parts);
}

static double excess(const struct search *s, const struct place *place)
{
	return place->slow_ns / (s->slow_all > 0 ? s->slow_all : 1) -
	       place->other_ns / (s->other_all > 0 ? s->other_all : 1);
}

uint32_t calls_causes(
	const struct profile *p, const struct calls_query *q, struct calls_cause out[CALLS_CAUSES])
{
	struct search *s = xcalloc(1, sizeof(*s));
	struct calls_query all = *q;
	uint32_t count = 0;

	all.min_ns = all.max_ns = 0;
	s->p = p;
	s->q = q;
	s->slow = true;
	calls_each(p, &all, search_call, s);
	s->slow = false;
	calls_each(p, &all, search_call, s);
	for (; count < CALLS_CAUSES && count < s->count; count++) {
		struct place *most = &s->places[count], swap;

		for (uint32_t i = count + 1; i < s->count; i++)
			if (excess(s, &s->places[i]) > excess(s, most))
				most = &s->places[i];
		swap = *most;
		*most = s->places[count];
		s->places[count] = swap;
		if (swap.slow_ns <= 0)
			break;
		out[count] = (struct calls_cause){.state = swap.state,
			.stack = swap.stack,
			.slow = swap.slow_ns / s->slow_all,
			.other = s->other_all > 0 ? swap.other_ns / s->other_all : 0,
			.slow_ms = swap.slow_ns / s->slow_calls / (double)NS_PER_MS};
		snprintf(out[count].where, sizeof(out[count].where), "%s",
			place_name(p, swap.stack));
	}
	hash_index_done(&s->known);
	free(s);
	return count;
}
