/* SPDX-License-Identifier: Apache-2.0 */
/* The vitals of each second: a ring that is as long as the history, and the first of all. */
#include "profile/vitals.h"
#include "profile/model/model.h"

#include "base/buf.h"

#include <stdlib.h>

#define VITALS_S_MAX (1u << 18) /* seconds that are kept at most: three days */

struct model_vitals {
	struct vitals_second first; /* second: PROFILE_NONE: none were told yet */
	struct vitals_second *ring;
	uint32_t seconds; /* of the ring */
};

static struct model_vitals *vitals_new(void)
{
	struct model_vitals *v = xcalloc(1, sizeof(*v));

	v->first.second = PROFILE_NONE;
	return v;
}

/* It grows while no second has taken the place of another, so seconds keep their places. */
static void vitals_fit(struct model_vitals *v, uint32_t now, uint32_t history_s)
{
	uint32_t most = history_s < VITALS_S_MAX ? history_s : VITALS_S_MAX, had = v->seconds;

	while (v->seconds < most && v->seconds <= now)
		v->seconds = v->seconds ? v->seconds * 2 : PROFILE_HISTORY_S;
	if (v->seconds == had && had)
		return;
	v->seconds = v->seconds ? v->seconds : PROFILE_HISTORY_S;
	v->ring = xreallocarray(v->ring, v->seconds, sizeof(*v->ring));
	for (uint32_t i = had; i < v->seconds; i++)
		v->ring[i].second = PROFILE_NONE;
}

void model_vitals_free(struct model_vitals *v)
{
	if (v)
		free(v->ring);
	free(v);
}

size_t model_vitals_bytes(const struct profile *p)
{
	return p->vitals ? p->vitals->seconds * sizeof(*p->vitals->ring) : 0;
}

#define KEEP(type, field)     .field = v->field,
#define PUT_BACK(type, field) v->field = kept->field;

void vitals_put_back(struct vitals *v, const struct vitals_second *kept)
{
	VITALS_KEPT(PUT_BACK)
	v->gc_time_ms = v->gc_time_ns < 0 ? -1 : v->gc_time_ns / 1000000;
}

void profile_vitals_set(struct profile *p, const struct vitals *v)
{
	struct vitals_second *s;

	if (!p->vitals)
		p->vitals = vitals_new();
	vitals_fit(p->vitals, p->now, p->history_s);
	s = &p->vitals->ring[p->now % p->vitals->seconds];
	*s = (struct vitals_second){.second = p->now, VITALS_KEPT(KEEP)};
	if (p->vitals->first.second == PROFILE_NONE)
		p->vitals->first = *s;
}

const struct vitals_second *profile_vitals(const struct profile *p, uint32_t second)
{
	const struct vitals_second *s;

	if (!p->vitals)
		return NULL;
	s = &p->vitals->ring[second % p->vitals->seconds];
	return s->second == second ? s : NULL;
}

const struct vitals_second *profile_vitals_first(const struct profile *p)
{
	return p->vitals && p->vitals->first.second != PROFILE_NONE ? &p->vitals->first : NULL;
}
