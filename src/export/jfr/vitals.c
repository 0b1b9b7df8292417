/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vitals as events: CPU load, collections, the heap, once per second.
 *
 * The model has readings of counters, not individual collections. A GarbageCollection event
 * therefore represents all collections between two readings, at the time of the later one, with
 * their number and total pause. Their individual start and longest pause are unknown and not
 * written.
 */
#include "export/jfr/jfr.h"

#include "base/clock.h"
#include "profile/vitals.h"

#include <string.h>

#define VITALS_REACH_S 10 /* how far before a window its base reading may be */

static struct buf *vitals_begin(struct jfr *j, enum jfr_type type, const struct vitals_second *now)
{
	buf_clear(&j->body);
	jfr_varint(&j->body, type);
	jfr_varint(&j->body, now->second * NS_PER_S);
	return &j->body;
}

/* --- CPU load ---------------------------------------------------------------------------------------- */

static void vitals_share(struct buf *out, double share)
{
	float value = (float)(share < 0 ? 0 : share > 1 ? 1 : share);
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (int i = 24; i >= 0; i -= 8)
		buf_addc(out, (char)(bits >> i));
}

static void vitals_load(
	struct jfr *j, const struct vitals_second *then, const struct vitals_second *now)
{
	double ms = (double)(now->time_ns - then->time_ns) / NS_PER_MS * (double)now->machine_cpus;

	if (then->cpu_user_ms < 0 || now->cpu_user_ms < 0 || then->machine_busy_ms < 0 || !(ms > 0))
		return;
	struct buf *out = vitals_begin(j, JFR_CPU_LOAD, now);
	vitals_share(out, (double)(now->cpu_user_ms - then->cpu_user_ms) / ms);
	vitals_share(out, (double)(now->cpu_system_ms - then->cpu_system_ms) / ms);
	vitals_share(out, (double)(now->machine_busy_ms - then->machine_busy_ms) / ms);
	jfr_block(&j->events, out);
}

/* --- collections ------------------------------------------------------------------------------------- */

static void vitals_collections(
	struct jfr *j, const struct vitals_second *then, const struct vitals_second *now)
{
	bool timed = then->gc_time_ns >= 0 && now->gc_time_ns >= then->gc_time_ns;
	int64_t count = now->gc_count - then->gc_count;
	uint64_t ns = timed ? (uint64_t)(now->gc_time_ns - then->gc_time_ns) : JFR_UNKNOWN;

	if (then->gc_count < 0 || count <= 0)
		return;
	struct buf *out = vitals_begin(j, JFR_COLLECTION, now);
	jfr_varint(out, timed ? ns : 0);
	jfr_varint(out, (uint64_t)now->gc_count); /* the number of the last one */
	jfr_varint(out, JFR_THE_COLLECTOR);
	jfr_varint(out, 0); /* cause: unknown */
	jfr_varint(out, ns);
	jfr_varint(out, count == 1 ? ns : JFR_UNKNOWN);
	jfr_varint(out, (uint64_t)count);
	jfr_block(&j->events, out);
}

static void vitals_heap(struct jfr *j, const struct vitals_second *now)
{
	if (now->heap_used < 0)
		return;
	struct buf *out = vitals_begin(j, JFR_HEAP_SUMMARY, now);
	jfr_varint(out, now->gc_count > 0 ? (uint64_t)now->gc_count : 0);
	jfr_varint(out, JFR_EACH_SECOND);
	jfr_varint(out, 0); /* addresses: unknown */
	jfr_varint(out, 0);
	jfr_varint(out, now->heap_committed < 0 ? JFR_UNKNOWN : (uint64_t)now->heap_committed);
	jfr_varint(out, 0);
	jfr_varint(out, now->heap_max < 0 ? JFR_UNKNOWN : (uint64_t)now->heap_max);
	jfr_varint(out, (uint64_t)now->heap_used);
	jfr_block(&j->events, out);
}

/* --- all of them ------------------------------------------------------------------------------------- */

/* The base of the first reading of the window: the first of the session, or one shortly before. */
static const struct vitals_second *vitals_before(const struct profile *p, uint32_t from)
{
	const struct vitals_second *found = NULL;

	if (!from)
		return profile_vitals_first(p);
	for (uint32_t back = 1; back <= VITALS_REACH_S && back <= from && !found; back++)
		found = profile_vitals(p, from - back);
	return found;
}

void jfr_vitals(struct jfr *j, const struct profile_query *q)
{
	const struct vitals_second *then = vitals_before(j->p, q->from), *now;
	uint32_t last = profile_info(j->p).now, end = q->to <= last ? q->to : last + 1;
	bool written = false;

	for (uint32_t at = q->from; (now = profile_vitals_next(j->p, at)) && now->second < end;
		at++) {
		at = now->second;
		if (!written && now->machine_cpus > 0) { /* loads are shares of all CPUs */
			struct buf *out = vitals_begin(j, JFR_CPUS, now);
			jfr_varint(out, (uint64_t)now->machine_cpus);
			jfr_block(&j->events, out);
		}
		written = true;
		if (then && then->time_ns != now->time_ns) {
			vitals_load(j, then, now);
			vitals_collections(j, then, now);
		}
		if (!then || then->time_ns != now->time_ns || then->second == at)
			vitals_heap(j, now);
		then = now;
	}
}
