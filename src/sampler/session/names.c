/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects threads whose names match a pattern, and detects renamed threads. Publishes changed names, and those recorded
 * by VM calls.
 */
#include "sampler/session/publisher.h"

#include "base/clock.h"
#include "sampler/engine/arms.h"
#include "sampler/engine/events.h"
#include "sampler/jvm/jvm.h"
#include "sampler/publish/publish.h"
#include "sampler/session/scan.h"
#include "sampler/signal/signal.h"
#include "sampler/task.h"
#include "sampler/text.h"

#include <string.h>

#define RENAMES_POLLS   1024u /* threads polled per tick */
#define RENAMES_CALL_NS (250 * NS_PER_MS)
#define RENAMES_OPEN_NS (1 * NS_PER_S)

void threads_name_comm(
	struct thread_slot *slot, int task_fd, int32_t task, enum threads_owner owner)
{
	char name[32]; /* ends with a line feed */

	if (!task_name(task_fd, task, name, sizeof(name)))
		return;
	size_t bytes = strlen(name);
	if (bytes > 1)
		threads_name(slot, name, bytes - 1, threads_kind(name, bytes - 1, owner), false);
}

/* --- selection --------------------------------------------------------------------------------- */

static void select_slot(struct sampler *s, struct thread_slot *slot)
{
	uint32_t seq = atomic_load_explicit(&slot->name_seq, memory_order_acquire);
	bool was = atomic_load(&slot->unselected);

	if (seq & 1 || (slot->select_seq == seq + 1 && slot->select_round == s->select.round))
		return;
	bool out = sig_is_excluded(s, slot);
	if (atomic_load(&slot->name_seq) != seq)
		return; /* renamed while it was compared: the next tick retries */
	atomic_store(&slot->unselected, out);
	if (out)
		arms_disarm(s, slot);
	if (!out && was)
		arms_set(s, slot);
	slot->select_seq = seq + 1;
	slot->select_round = s->select.round;
}

void select_update(struct sampler *s)
{
	struct thread_slot *slot = NULL;
	bool patterned = s->select.pattern[0];

	s->select.wants_names = false;
	while (s->select.round && (slot = threads_next(s->threads, slot))) {
		if (patterned && !slot->name_bytes)
			threads_name_comm(
				slot, s->task.fd, sampler_task(s, slot), sig_owner(s, slot));
		s->select.wants_names |=
			patterned && atomic_load(&slot->java_thread) && !slot->named_by_jvm;
		select_slot(s, slot);
	}
}

void select_set(struct sampler *s, const char *pattern)
{
	text_set(s->select.pattern, sizeof(s->select.pattern), pattern);
	s->select.round++;
	select_update(s);
}

void select_new(struct sampler *s, struct thread_slot *slot)
{
	atomic_store(&slot->unselected, s->select.pattern[0] != '\0');
}

void select_named(struct sampler *s, struct thread_slot *slot)
{
	if (!s->select.pattern[0] || sig_is_excluded(s, slot))
		return;
	atomic_store(&slot->unselected, false);
}

/* --- renamed threads --------------------------------------------------------------------------- */

/* True when the thread's name has changed and was read. */
static bool renames_poll(struct sampler *s, struct thread_slot *slot)
{
	uint64_t java_thread = atomic_load(&slot->java_thread);

	if (!atomic_load(&slot->tid) || atomic_load(&slot->gone) || !java_thread ||
		!java_name_changed(
			&s->java, s->layout, &s->poll_mem.mem, java_thread, &slot->name_seen))
		return false;
	/*
	 * VM calls name threads for the first time; here only later changes are read. If a collector has relocated the
	 * name during the reading, the next poll reads it again.
	 */
	if (!slot->named_by_jvm)
		return false;
	self_mem_refresh(&s->poll_mem);
	if (sig_java_name(s, &s->poll_mem.mem, slot, java_thread) &&
		!java_name_changed(
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
	/* Determines how to read java.lang.Thread; retries once a second. */
	if (!atomic_load(&s->java_known) && s->layout &&
		(!r->opened_ns || now - r->opened_ns >= RENAMES_OPEN_NS)) {
		r->opened_ns = now;
		atomic_store(&s->java_known, java_threads_find(&s->java, s->layout, &s->mem));
	}
	if (atomic_load(&s->java_known) && events_any(s)) {
		for (uint32_t i = 0; i < RENAMES_POLLS && i < high; i++) {
			r->slot = r->slot + 1 < high ? r->slot + 1 : 0;
			changed |= renames_poll(s, &s->threads->slots[r->slot]);
		}
	}
	r->vm_call_done = done;
	r->late = changed && !publish_renamed(s->publish, false);
	if (!atomic_load(&s->vm_calls.touch) || now - r->asked_ns < RENAMES_CALL_NS)
		return;
	r->asked_ns = now;
	jvm_vm_call_request(s);
}
