/* SPDX-License-Identifier: Apache-2.0 */
/* Publishes threads: when a trace or a wait refers to them, and again when they are renamed. */
#include "sampler/publish/state.h"

#include "sampler/signal/signal.h"

#include <string.h>

static bool publish_thread_record(
	struct publish *p, const struct wire_thread *thread, const char *name, uint32_t bytes)
{
	struct wire_thread *rec =
		ring_reserve(&p->s->ring, WIRE_REC_THREAD, (uint32_t)sizeof(*rec) + bytes);

	if (!rec)
		return false;
	struct wire_record header = rec->rec;
	memcpy(rec, thread, sizeof(*thread));
	rec->rec = header;
	rec->name_bytes = bytes;
	memcpy(rec->name, name, bytes);
	return true;
}

bool publish_agent_thread(struct publish *p, int32_t tid, const char *name)
{
	struct wire_thread thread = {.os_tid = tid, .kind = WIRE_THREAD_AGENT};

	thread.id = atomic_fetch_add(&p->s->threads->next_id, 1) + 1;
	return publish_thread_record(p, &thread, name, (uint32_t)strlen(name));
}

/* Publishes the thread under its current name; without a name while another thread writes it. */
static bool publish_slot(struct publish *p, struct thread_slot *slot)
{
	struct wire_thread thread = {.id = slot->id, .os_tid = atomic_load(&slot->tid)};
	uint32_t seq = atomic_load_explicit(&slot->name_seq, memory_order_acquire);
	uint32_t bytes = slot->name_bytes <= THREADS_NAME ? slot->name_bytes : 0;
	char name[THREADS_NAME];

	memcpy(name, slot->name, bytes);
	thread.kind = slot->kind;
	thread.java_tid = slot->java_tid;
	atomic_thread_fence(memory_order_acquire);
	if (seq & 1 || atomic_load_explicit(&slot->name_seq, memory_order_relaxed) != seq)
		seq = bytes = 0;
	if (!publish_thread_record(p, &thread, name, bytes))
		return false;
	slot->published_seq = seq + 1;
	slot->published_by_jvm = bytes && slot->named_by_jvm;
	return true;
}

/*
 * True when the name is not published yet or has changed. If one name of the JVM replaces another, the thread gets a
 * new id.
 */
static bool slot_changed(struct publish *p, struct thread_slot *slot)
{
	uint32_t seq = atomic_load(&slot->name_seq);

	if (slot->published_seq == seq + 1)
		return false;
	if (slot->published_seq && slot->published_by_jvm && slot->named_by_jvm && !(seq & 1))
		threads_renumber(p->s->threads, slot);
	return true;
}

bool publish_thread(struct publish *p, uint32_t id)
{
	struct wire_thread thread = {.id = id, .kind = WIRE_THREAD_VIRTUAL};
	struct virtuals_info info;

	/* A virtual thread is published every time, because there is no list of those already published. */
	if (WIRE_IS_VIRTUAL(id)) {
		virtuals_lookup(p->s->virtuals, id, &info);
		thread.os_tid = info.carrier;
		thread.java_tid = (int64_t)info.number;
		return publish_thread_record(p, &thread, info.name, info.bytes);
	}
	struct thread_slot *slot = threads_by_id(p->s->threads, id);
	if (!slot || !slot_changed(p, slot))
		return true;
	if (!slot->named_by_jvm) {
		threads_name_comm(
			slot, p->s->task.fd, sampler_task(p->s, slot), sig_owner(p->s, slot));
		p->wants_names |= slot->kind == WIRE_THREAD_JAVA;
	}
	return publish_slot(p, slot);
}

bool publish_renamed(struct publish *p, bool poll)
{
	p->wants_names &= !poll;
	for (struct thread_slot *slot = NULL; (slot = threads_next(p->s->threads, slot));) {
		if (!slot->published_seq)
			continue;
		if (poll && !slot->named_by_jvm)
			threads_name_comm(slot, p->s->task.fd, sampler_task(p->s, slot),
				sig_owner(p->s, slot));
		if (slot_changed(p, slot) && !publish_slot(p, slot))
			return false;
	}
	return true;
}
