/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the selection to threads that begin or cease to match the pattern. */
#include "sampler/session/scan.h"

#include "sampler/engine/arms.h"
#include "sampler/signal/signal.h"
#include "sampler/text.h"

static void select_slot(struct sampler *s, struct thread_slot *slot)
{
	uint32_t seq = atomic_load_explicit(&slot->name_seq, memory_order_acquire);
	bool out, was = atomic_load(&slot->unselected);

	if (seq & 1 || (slot->select_seq == seq + 1 && slot->select_round == s->select.round))
		return;
	out = sig_is_excluded(s, slot);
	if (atomic_load(&slot->name_seq) != seq)
		return; /* renamed meanwhile: next time */
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
