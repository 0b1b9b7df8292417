/* SPDX-License-Identifier: Apache-2.0 */
/* Vitals per second: a ring in ascending order, as far back as the history. */
#include "profile/vitals.h"
#include "profile/model/model.h"

#include "base/buf.h"

#include <stdlib.h>

#define VITALS_S_MAX (1u << 18) /* seconds, three days */
#define VITALS_LEAST 16u

struct model_vitals {
	struct vitals_second first; /* the first ever stored; second is PROFILE_NONE until then */
	struct vitals_second *ring;
	uint32_t begin, count, cap;
};

static struct vitals_second *vitals_at(const struct model_vitals *v, uint32_t i)
{
	return &v->ring[(v->begin + i) % v->cap];
}

/* Index of the first entry at or after this second. */
static uint32_t vitals_find(const struct model_vitals *v, uint32_t second)
{
	uint32_t lo = 0, hi = v->count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (vitals_at(v, mid)->second < second)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Drops entries older than `most` seconds and makes space for one more. While history is frozen,
 * the age of earlier entries counts from the frozen second, and the oldest of the later ones is
 * dropped instead when it is older than `most` seconds.
 */
static void vitals_fit(struct model_vitals *v, uint32_t now, uint32_t most, uint32_t frozen)
{
	uint32_t oldest = now < frozen ? now : frozen, after = vitals_find(v, frozen);
	struct vitals_second *ring;

	for (; v->count && vitals_at(v, 0)->second < oldest &&
		oldest - vitals_at(v, 0)->second >= most;
		v->count--, after--)
		v->begin = (v->begin + 1) % v->cap;
	if (after < v->count && now - vitals_at(v, after)->second >= most) {
		for (uint32_t i = after + 1; i < v->count; i++)
			*vitals_at(v, i - 1) = *vitals_at(v, i);
		v->count--;
	}
	if (v->count < v->cap)
		return;
	uint32_t cap = v->cap ? v->cap * 2 : VITALS_LEAST;
	ring = xreallocarray(NULL, cap, sizeof(*ring));
	for (uint32_t i = 0; i < v->count; i++)
		ring[i] = *vitals_at(v, i);
	free(v->ring);
	v->ring = ring;
	v->begin = 0;
	v->cap = cap;
}

void model_vitals_free(struct model_vitals *v)
{
	if (v)
		free(v->ring);
	free(v);
}

size_t model_vitals_bytes(const struct profile *p)
{
	return p->vitals ? p->vitals->cap * sizeof(*p->vitals->ring) : 0;
}

#define STORE(type, field)   .field = v->field,
#define RESTORE(type, field) v->field = kept->field;

void vitals_restore(struct vitals *v, const struct vitals_second *kept)
{
	VITALS_KEPT(RESTORE)
	v->gc_time_ms = v->gc_time_ns < 0 ? -1 : v->gc_time_ns / 1000000;
}

/* Inserts the vitals of the current second, or replaces them. */
static void vitals_store(struct profile *p, const struct vitals_second *kept)
{
	uint32_t most = p->history_s < VITALS_S_MAX ? p->history_s : VITALS_S_MAX;

	if (!p->vitals) {
		p->vitals = xcalloc(1, sizeof(*p->vitals));
		p->vitals->first.second = PROFILE_NONE;
	}
	struct model_vitals *all = p->vitals;
	uint32_t at = vitals_find(all, p->now);
	if (at == all->count) {
		vitals_fit(all, p->now, most ? most : 1, p->readers->frozen);
		at = all->count++;
	}
	*vitals_at(all, at) = *kept;
	vitals_at(all, at)->second = p->now;
	if (all->first.second == PROFILE_NONE)
		all->first = *vitals_at(all, at);
}

void profile_vitals_set(struct profile *p, const struct vitals *v)
{
	struct vitals_second s = {.lost = v->lost, VITALS_KEPT(STORE)};
	const char *reason;

	s.broken = vitals_broken(v, &s.walked, &reason);
	vitals_store(p, &s);
}

void profile_vitals_copy(
	struct profile *p, const struct vitals_second *kept, const struct vitals_second *first)
{
	struct vitals_second s = *kept;

	s.lost -= first->lost;
	s.broken -= first->broken;
	s.walked -= first->walked;
	vitals_store(p, &s);
}

const struct vitals_second *profile_vitals_next(const struct profile *p, uint32_t second)
{
	uint32_t at = p->vitals ? vitals_find(p->vitals, second) : 0;

	return p->vitals && at < p->vitals->count ? vitals_at(p->vitals, at) : NULL;
}

const struct vitals_second *profile_vitals(const struct profile *p, uint32_t second)
{
	const struct vitals_second *s = profile_vitals_next(p, second);

	return s && s->second == second ? s : NULL;
}

const struct vitals_second *profile_vitals_first(const struct profile *p)
{
	return p->vitals && p->vitals->first.second != PROFILE_NONE ? &p->vitals->first : NULL;
}
