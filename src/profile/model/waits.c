/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock waits: a ring of the youngest PROFILE_WAITS, linked per thread. When a wait is about to be
 * overwritten while history is frozen, the ring is copied first; answers about frozen seconds come
 * from the copy.
 */
#include "profile/model/model.h"

#include "base/clock.h"
#include "profile/history.h"
#include "profile/model/fit.h"

#define MODEL_WAITS_MIN 64u
#define WAITED_KINDS    32u

void model_waits_done(struct model_waits *w)
{
	free(w->ring);
	free(w->last);
	*w = (struct model_waits){0};
}

/*
 * Called before each insertion: copies the ring if it would lose a wait while history is frozen, or
 * frees the copy after the release.
 */
static void waits_freeze(struct profile *p)
{
	const struct model_waits *w = &p->waits;
	struct model_waits *frozen = &p->frozen_waits;

	if (p->readers->frozen == PROFILE_NONE) {
		model_waits_done(frozen);
	} else if (!frozen->ring && w->count >= PROFILE_WAITS) {
		*frozen = *w;
		frozen->ring = xreallocarray(NULL, w->cap, sizeof(*w->ring));
		memcpy(frozen->ring, w->ring, w->cap * sizeof(*w->ring));
		frozen->last = xreallocarray(NULL, w->last_cap, sizeof(*w->last));
		memcpy(frozen->last, w->last, w->last_cap * sizeof(*w->last));
		p->frozen_waits_to = p->now;
	}
}

/* The ring to search for waits before this second. */
static const struct model_waits *waits_before(const struct profile *p, uint32_t to)
{
	return p->frozen_waits.ring && to <= p->frozen_waits_to ? &p->frozen_waits : &p->waits;
}

size_t model_waits_bytes(const struct model_waits *w)
{
	return w->cap * sizeof(*w->ring) + w->last_cap * sizeof(*w->last);
}

/* The wait with this number + 1. NULL: none, or overwritten. */
static struct model_wait *wait_of(const struct model_waits *w, uint64_t number)
{
	return number && number + w->cap > w->count ? &w->ring[(number - 1) % w->cap] : NULL;
}

static struct model_wait *wait_last(const struct model_waits *w, uint32_t thread)
{
	return thread < w->last_cap ? wait_of(w, w->last[thread]) : NULL;
}

void profile_wait_set(struct profile *p, const struct profile_wait *set)
{
	struct model_waits *w = &p->waits;

	if (set->thread >= MODEL_THREADS_MAX || set->until_ns < set->since_ns)
		return;
	w->last = fit_zeroed(w->last, &w->last_cap, set->thread + 1, sizeof(*w->last));
	/* Grows only before anything was overwritten, so that waits keep their index. */
	if (w->count == w->cap && w->cap < PROFILE_WAITS) {
		w->cap = w->cap ? w->cap * 2 : MODEL_WAITS_MIN;
		w->ring = xreallocarray(w->ring, w->cap, sizeof(*w->ring));
	}
	struct model_wait *last = wait_last(w, set->thread);
	if (last && last->pub.since_ns == set->since_ns && last->pub.lock == set->lock) {
		last->pub = *set;
		return;
	}
	/* A thread waits for one lock at a time. */
	if (last && last->pub.until_ns > set->since_ns && last->pub.since_ns <= set->since_ns)
		last->pub.until_ns = set->since_ns;
	waits_freeze(p);
	struct model_wait *new = &w->ring[w->count % w->cap];
	*new = (struct model_wait){*set, w->last[set->thread]};
	w->last[set->thread] = ++w->count;
}

void profile_wait_end_all(struct profile *p, uint64_t ns)
{
	struct model_waits *w = &p->waits;

	for (uint32_t thread = 0; thread < w->last_cap; thread++) {
		struct model_wait *last = wait_last(w, thread);

		if (last && last->pub.until_ns == PROFILE_STILL)
			last->pub.until_ns = ns > last->pub.since_ns ? ns : last->pub.since_ns;
	}
}

bool profile_wait_at(
	const struct profile *p, uint32_t thread, uint32_t to, struct profile_wait *out)
{
	const struct model_waits *w = waits_before(p, to);
	uint64_t end_ns = to * NS_PER_S, begin_ns = to ? end_ns - NS_PER_S : 0;

	for (const struct model_wait *at = wait_last(w, thread); at; at = wait_of(w, at->before)) {
		if (at->pub.since_ns >= end_ns)
			continue;
		*out = at->pub;
		return at->pub.until_ns > begin_ns;
	}
	return false;
}

bool profile_waited(const struct profile *p, uint32_t thread, uint32_t from, uint32_t to,
	struct profile_waited *most)
{
	return profile_waited_ns(p, thread, from * NS_PER_S, to * NS_PER_S, most);
}

bool profile_waited_ns(const struct profile *p, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
	struct profile_waited *most)
{
	const struct model_waits *w = waits_before(p, (uint32_t)(end_ns / NS_PER_S));
	uint64_t all_ns = 0;
	struct profile_waited kinds[WAITED_KINDS];
	uint32_t count = 0;

	for (const struct model_wait *at = wait_last(w, thread); at && at->pub.until_ns > begin_ns;
		at = wait_of(w, at->before)) {
		uint64_t since = at->pub.since_ns > begin_ns ? at->pub.since_ns : begin_ns;
		uint64_t until = at->pub.until_ns < end_ns ? at->pub.until_ns : end_ns;

		if (since >= until)
			continue;
		all_ns += until - since;
		uint32_t k = 0;
		while (k < count &&
			(kinds[k].method != at->pub.method || kinds[k].owner != at->pub.owner))
			k++;
		if (k == WAITED_KINDS)
			continue; /* counts in all_ns only */
		if (k == count)
			kinds[count++] = (struct profile_waited){
				.method = at->pub.method, .owner = at->pub.owner};
		kinds[k].ns += until - since;
	}
	*most = (struct profile_waited){0};
	for (uint32_t i = 0; i < count; i++)
		if (kinds[i].ns > most->ns)
			*most = kinds[i];
	most->all_ns = all_ns;
	return most->ns > 0;
}

uint64_t profile_wait_count(const struct profile *p)
{
	return p->waits.count;
}

bool profile_get_wait(const struct profile *p, uint64_t number, struct profile_wait *out)
{
	const struct model_waits *w = &p->waits;

	if (number >= w->count || number + w->cap < w->count)
		return false;
	*out = w->ring[number % w->cap].pub;
	return true;
}
