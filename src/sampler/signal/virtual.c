/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual thread mounted on the interrupted thread, and its name while it can be read. */
#include "sampler/signal/signal.h"

/* Finds or inserts an entry; NULL: there is no room for it. */
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
	struct virtuals_entry *e;

	atomic_store_explicit(&v->any, 1, memory_order_relaxed);
	e = virtual_entry(v, number);
	if (e) {
		atomic_store_explicit(&e->seen, atomic_load(&v->now), memory_order_relaxed);
		if (carrier)
			atomic_store_explicit(&e->carrier, carrier, memory_order_relaxed);
		if (atomic_load_explicit(&s->java_known, memory_order_acquire))
			virtual_name(s, mem, e, number, object);
	}
	return WIRE_VIRTUAL_ID(number);
}
