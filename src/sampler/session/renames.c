/* SPDX-License-Identifier: Apache-2.0 */
/* Polls names, publishes those that have changed, and those recorded by VM calls. */
#include "sampler/session/publisher.h"

#include "base/clock.h"
#include "sampler/engine/events.h"
#include "sampler/jvm/jvm.h"
#include "sampler/publish/publish.h"
#include "sampler/signal/signal.h"

#define RENAMES_LOOKS    1024u /* threads checked per tick */
#define RENAMES_VISIT_NS (250 * NS_PER_MS)
#define RENAMES_OPEN_NS  (1 * NS_PER_S)

/* Finds out how to read java.lang.Thread; retries once a second. True once that is known. */
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

/* True when the thread's name has changed and was read. */
static bool renames_poll(struct sampler *s, struct thread_slot *slot)
{
	uint64_t java_thread = atomic_load(&slot->java_thread);

	if (!atomic_load(&slot->tid) || atomic_load(&slot->gone) || !java_thread ||
		!java_name_moved(
			&s->java, s->layout, &s->poll_mem.mem, java_thread, &slot->name_seen))
		return false;
	/*
	 * A thread not yet named by the JVM is covered by VM calls. If what was read has been relocated meanwhile, it
	 * is read again.
	 */
	if (!slot->named_by_jvm)
		return false;
	self_mem_refresh(&s->poll_mem);
	if (sig_java_name(s, &s->poll_mem.mem, slot, java_thread) &&
		!java_name_moved(
			&s->java, s->layout, &s->poll_mem.mem, java_thread, &slot->name_seen))
		return true;
	slot->name_seen = (struct java_name_seen){0};
	return false;
}

void renames_tick(struct sampler *s, uint64_t now)
{
	struct renames *r = &s->renames;
	uint32_t high = atomic_load(&s->threads->high), done = atomic_load(&s->vm_calls.done);
	bool changed = done != r->vm_call_done || r->late;

	self_mem_refresh(&s->poll_mem);
	if (renames_open(s, now) && events_any(s)) {
		for (uint32_t i = 0; i < RENAMES_LOOKS && i < high; i++) {
			r->slot = r->slot + 1 < high ? r->slot + 1 : 0;
			changed |= renames_poll(s, &s->threads->slots[r->slot]);
		}
	}
	r->vm_call_done = done;
	r->late = changed && !publish_renamed(s->publish, false);
	if (!atomic_load(&s->vm_calls.touch) || now - r->asked_ns < RENAMES_VISIT_NS)
		return;
	r->asked_ns = now;
	jvm_vm_call_request(s);
}
