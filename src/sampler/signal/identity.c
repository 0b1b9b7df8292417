/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity of a thread: its JavaThread and owner, its name, the virtual thread that it carries.
 *
 * A thread that is sampled before its JavaThread is known identifies itself. A thread that the process's own clock
 * finds before it is listed lists and names itself, because it may have ended before another thread could do so.
 */
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/hotspot/oop.h"
#include "walk/load/mem.h"

#include <string.h>
#include <sys/prctl.h>

#define COMM_BYTES 16u

uint64_t sig_java_current(
	const struct sampler *s, const struct walk_mem *mem, int32_t tid, bool *hotspot_own)
{
	uint64_t thread = 0, pointer;

	*hotspot_own = false;
	if (!s->current_place || !atomic_load_explicit(&s->java_known, memory_order_acquire) ||
		!(pointer = raw_thread_pointer()) ||
		!mem->load(mem, pointer + (uint64_t)s->current_place, &thread, sizeof(thread)) ||
		!thread || walk_thread_tid(s->layout, mem, thread) != tid)
		return 0;
	/*
	 * A collector's thread is stored there as well; a thread that runs Java has an object that refers back to it.
	 */
	struct oop object = java_thread_object(&s->java, s->layout, mem, thread);
	if (object.klass && mem_u64(mem, object.object + s->java.eetop) == thread)
		return thread;
	/* A native thread that attaches has a JavaThread before it has an object. */
	*hotspot_own = java_thread_class(&s->java, mem, thread) == JAVA_THREAD_SUBCLASS;
	return 0;
}

enum threads_owner sig_owner(const struct sampler *s, const struct thread_slot *slot)
{
	uint64_t java = atomic_load(&slot->java_thread);
	bool known = atomic_load_explicit(&s->java_known, memory_order_acquire) && s->java.plain;

	if (!java && atomic_load(&slot->hotspot_own))
		return THREADS_HOTSPOT;
	if (!java)
		return known && s->current_place ? THREADS_NATIVE : THREADS_UNPROVED;
	switch (known ? java_thread_class(&s->java, &s->mem, java) : JAVA_THREAD_UNKNOWN) {
	case JAVA_THREAD_PLAIN: return THREADS_JAVA;
	case JAVA_THREAD_SUBCLASS: return THREADS_JAVA_OWN;
	default: return THREADS_JAVA_UNPROVED;
	}
}

bool sig_java_name(
	struct sampler *s, const struct walk_mem *mem, struct thread_slot *slot, uint64_t java)
{
	char text[2 * JAVA_NAME_BYTES];
	struct java_name name;

	if (!java || !s->layout || !atomic_load_explicit(&s->java_known, memory_order_acquire))
		return false;
	struct oop object = java_thread_object(&s->java, s->layout, mem, java);
	if (!object.klass || !java_thread_name(&s->java, s->layout, mem, object.object, &name))
		return false;
	slot->java_tid = (int64_t)mem_u64(mem, object.object + s->java.tid);
	uint32_t bytes = java_name_utf8(&name, text);
	threads_name(slot, text, bytes, threads_kind(text, bytes, sig_owner(s, slot)), true);
	return true;
}

struct thread_slot *sig_newcomer(struct sampler *s)
{
	const struct walk_mem *mem = &s->mem;
	int32_t tid = raw_gettid();
	bool hotspot_own;
	uint64_t java = sig_java_current(s, mem, tid, &hotspot_own);
	struct thread_slot *slot = threads_add(s->threads, tid);
	char name[COMM_BYTES + 1] = "";

	if (!slot)
		return threads_find(s->threads, tid);
	atomic_store(&slot->share, THREADS_NEWCOMER);
	atomic_store(&slot->java_thread, java);
	atomic_store(&slot->hotspot_own, hotspot_own);
	if (!sig_java_name(s, mem, slot, java)) {
		raw(SYS_prctl, PR_GET_NAME, name);
		threads_name(slot, name, strlen(name),
			threads_kind(name, strlen(name), sig_owner(s, slot)), false);
	}
	atomic_store(&slot->unselected, sig_is_excluded(s, slot));
	return slot;
}

bool sig_is_excluded(const struct sampler *s, const struct thread_slot *slot)
{
	return s->select.pattern[0] &&
	       (!slot->name_bytes || !glob_any(s->select.pattern, slot->name, slot->name_bytes));
}

/* --- virtual threads --------------------------------------------------------------------------- */

/* Finds or inserts an entry; NULL: there is no space for it. */
static struct virtuals_entry *virtual_entry(struct virtuals *v, uint64_t number)
{
	struct virtuals_entry *e = virtuals_find(v, number);

	for (uint32_t i = 0; !e && i < VIRTUALS_WINDOW; i++) {
		struct virtuals_entry *at =
			&v->entries[((uint32_t)number + i) & (VIRTUALS_MAX - 1)];
		uint64_t none = 0;

		if (atomic_compare_exchange_strong(&at->number, &none, number) || none == number)
			e = at;
	}
	return e;
}

/* Reads the name if it is unknown, or if its String was replaced or relocated. */
static void virtual_name(struct sampler *s, const struct walk_mem *mem, struct virtuals_entry *e,
	uint64_t number, uint64_t object)
{
	uint64_t word = oop_field_word(&s->java.mode, mem, object + s->java.name);
	uint32_t seq = atomic_load_explicit(&e->seq, memory_order_acquire);
	struct java_name name;

	if ((e->named && word == e->name_word) || seq & 1)
		return;
	if (!java_thread_name(&s->java, s->layout, mem, object, &name) ||
		!atomic_compare_exchange_strong(&e->seq, &seq, seq + 1))
		return;
	if (atomic_load(&e->number) == number) { /* still the same thread's entry */
		e->name = name;
		e->name_word = word;
		e->named = true;
	}
	atomic_store_explicit(&e->seq, seq + 2, memory_order_release);
}

uint32_t sig_virtual(struct sampler *s, const struct walk_mem *mem,
	const struct thread_slot *thread, uint64_t java_thread)
{
	uint64_t object, number;

	if (!java_thread || !atomic_load_explicit(&s->java_known, memory_order_acquire) ||
		s->layout->thread_virtual.offset < 0 ||
		!java_virtual_mounted(&s->java, s->layout, mem, java_thread, &object, &number) ||
		walk_thread_tid(s->layout, mem, java_thread) != atomic_load(&thread->tid))
		return 0;
	return sig_virtual_known(s, mem, object, number, atomic_load(&thread->tid));
}

uint32_t sig_virtual_known(struct sampler *s, const struct walk_mem *mem, uint64_t object,
	uint64_t number, int32_t carrier)
{
	struct virtuals *v = s->virtuals;

	atomic_store_explicit(&v->any, 1, memory_order_relaxed);
	struct virtuals_entry *e = virtual_entry(v, number);
	if (e) {
		atomic_store_explicit(&e->seen, atomic_load(&v->now), memory_order_relaxed);
		if (carrier)
			atomic_store_explicit(&e->carrier, carrier, memory_order_relaxed);
		if (atomic_load_explicit(&s->java_known, memory_order_acquire))
			virtual_name(s, mem, e, number, object);
	}
	return WIRE_VIRTUAL_ID(number);
}
