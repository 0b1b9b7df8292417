/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names, and threads that begin or cease to match. */
#include "sampler/select.h"

#include "sampler/arms.h"
#include "sampler/publish.h"
#include "sampler/text.h"

#include <string.h>

/* glob_matches: without recursion: on a mismatch the last star takes one more. */
static bool glob_matches(const char *glob, const char *glob_end, const char *name, const char *end)
{
	const char *star = NULL, *resume = NULL;

	while (name < end) {
		if (glob < glob_end && *glob == '*') {
			star = glob++;
			resume = name;
		} else if (glob < glob_end && (*glob == '?' || *glob == *name)) {
			glob++;
			name++;
		} else if (star) {
			glob = star + 1;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (glob < glob_end && *glob == '*')
		glob++;
	return glob == glob_end;
}

bool select_matches(const char *pattern, const char *name, size_t bytes)
{
	bool more = true;

	if (!*pattern)
		return true;
	while (more) {
		size_t length = strcspn(pattern, "|");

		if (glob_matches(pattern, pattern + length, name, name + bytes))
			return true;
		more = pattern[length] == '|';
		pattern += length + more;
	}
	return false;
}

static void select_slot(struct sampler *s, struct thread_slot *slot)
{
	uint32_t seq = atomic_load_explicit(&slot->name_seq, memory_order_acquire);
	bool out, was = atomic_load(&slot->unselected);

	if (seq & 1 || (slot->select_seq == seq + 1 && slot->select_round == s->select.round))
		return;
	out = s->select.pattern[0] && (!slot->name_bytes || !select_matches(s->select.pattern,
								    slot->name, slot->name_bytes));
	if (atomic_load(&slot->name_seq) != seq)
		return; /* the next time */
	atomic_store(&slot->unselected, out);
	if (out && !arms_take_off(s, slot))
		return;
	if (!out && was)
		arms_set(s, slot);
	slot->select_seq = seq + 1;
	slot->select_round = s->select.round;
}

void select_update(struct sampler *s)
{
	uint32_t high = atomic_load(&s->threads->high);
	bool patterned = s->select.pattern[0];

	s->select.wants_names = false;
	for (uint32_t i = 0; i < high && s->select.round; i++) {
		struct thread_slot *slot = &s->threads->slots[i];

		if (!atomic_load(&slot->tid) || atomic_load(&slot->gone))
			continue;
		if (patterned && !slot->name_bytes)
			publish_comm(slot);
		s->select.wants_names |=
			patterned && atomic_load(&slot->java_thread) && !slot->named_by_jvm;
		select_slot(s, slot);
	}
}

void select_set(struct sampler *s, const char *pattern)
{
	struct text text = text_into(s->select.pattern, sizeof(s->select.pattern));

	text_add(&text, pattern);
	s->select.round++;
	select_update(s);
}

void select_new(struct sampler *s, struct thread_slot *slot)
{
	atomic_store(&slot->unselected, s->select.pattern[0] != '\0');
}
