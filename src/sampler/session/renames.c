/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at names in turns, asks for visits, publishes what they bring. */
#include "sampler/session/publisher.h"

#include "base/clock.h"
#include "sampler/engine/events.h"
#include "sampler/jvm/jvm.h"
#include "sampler/publish/publish.h"

#define RENAMES_TURNS    3u /* of ticks, until each thread was looked at */
#define RENAMES_VISIT_NS (250 * NS_PER_MS)
#define RENAMES_OPEN_NS  (1 * NS_PER_S)

/* renames_open: how java.lang.Thread is read. */
static bool renames_open(struct sampler *s, uint64_t now)
{
	if (atomic_load(&s->java_known))
		return true;
	if (!s->layout || (s->renames.opened_ns && now - s->renames.opened_ns < RENAMES_OPEN_NS))
		return false;
	s->renames.opened_ns = now;
	atomic_store(&s->java_known, java_threads_find(&s->java, s->layout, &s->mem));
	return atomic_load(&s->java_known);
}

static void renames_look(struct sampler *s, struct thread_slot *slot)
{
	uint64_t java_thread = atomic_load(&slot->java_thread);

	/* What has no name of the JVM's yet is visited anyway; a change from now on is seen. */
	if (atomic_load(&slot->tid) && !atomic_load(&slot->gone) && java_thread &&
		java_name_moved(&s->java, s->layout, &s->mem, java_thread, &slot->name_seen))
		s->renames.wants |= slot->named_by_jvm;
}

void renames_tick(struct sampler *s, uint64_t now)
{
	struct renames *r = &s->renames;
	uint32_t high = atomic_load(&s->threads->high), done = atomic_load(&s->visits.done);

	if (done != r->visits_done && publish_renamed(s->publish, false))
		r->visits_done = done;
	if (!renames_open(s, now) || !events_any(s))
		return;
	r->round = (r->round + 1) % RENAMES_TURNS;
	for (uint32_t i = r->round; i < high; i += RENAMES_TURNS)
		renames_look(s, &s->threads->slots[i]);
	r->wants |= atomic_load(&s->visits.touch) != 0;
	if (!r->wants || now - r->asked_ns < RENAMES_VISIT_NS)
		return;
	r->wants = false;
	r->asked_ns = now;
	jvm_visit_ask(s);
}
