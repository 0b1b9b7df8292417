/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at names in turns, asks for visits, publishes what they bring. */
#include "sampler/session/publisher.h"

#include "base/clock.h"
#include "sampler/engine/events.h"
#include "sampler/jvm/jvm.h"
#include "sampler/publish/publish.h"
#include "walk/load/mem.h"

#define RENAMES_TURNS    3u /* of ticks, until each thread was looked at */
#define RENAMES_VISIT_NS (250 * NS_PER_MS)
#define RENAMES_OPEN_NS  (1 * NS_PER_S)

/* --- how java.lang.Thread is read -------------------------------------------------------------------- */

/* java_try: the fields in the coding that is proved by a String where this thread's name should be. */
static void java_try(void *ctx, uint64_t java_thread, int32_t tid)
{
	struct sampler *s = ctx;
	struct java_threads *java = &s->java;
	uint64_t field = java_thread + (uint64_t)s->layout->thread_object.offset;
	uint64_t slots[] = {mem_u64(&s->mem, field), field};

	for (unsigned i = 0; i < 2 * JVM_FIELD_CODINGS && !java->mode.known; i++) {
		const struct jvm_fields *fields = jvm_fields(i / 2);

		if (fields->thread_name < 0 || fields->thread_tid < 0 || fields->eetop < 0 ||
			fields->text_value < 0 ||
			!oop_mode_find(&java->mode, s->layout, &s->mem, slots[i % 2],
				"java/lang/Thread", (uint32_t)fields->thread_name))
			continue;
		java->direct = i % 2;
		java->name = (uint32_t)fields->thread_name;
		java->tid = (uint32_t)fields->thread_tid;
		java->eetop = (uint32_t)fields->eetop;
		java->value = (uint32_t)fields->text_value;
		java->coder = fields->text_coder;
	}
}

static bool renames_open(struct sampler *s, uint64_t now)
{
	if (atomic_load(&s->java_known))
		return true;
	if (!s->layout || s->layout->thread_object.offset < 0 ||
		(s->renames.opened_ns && now - s->renames.opened_ns < RENAMES_OPEN_NS))
		return false;
	s->renames.opened_ns = now;
	walk_threads_each(s->layout, &s->mem, java_try, s);
	atomic_store(&s->java_known, s->java.mode.known);
	return s->java.mode.known;
}

/* --- looking ----------------------------------------------------------------------------------------- */

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
