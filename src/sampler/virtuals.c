/* SPDX-License-Identifier: Apache-2.0 */
/* The publisher's side: looks names up, frees entries. */
#include "sampler/virtuals.h"

#include "wire/record.h"

#include <string.h>

#define TICKS_SWEEP 8u   /* publications between two sweeps, 100 ms each */
#define TICKS_LONG  600u /* how long an unseen entry is kept, in publications */
#define TICKS_SHORT 16u  /* the same while the table is crowded */
#define MANY        (VIRTUALS_MAX / 2)

void virtuals_lookup(struct virtuals *v, uint32_t id, struct virtuals_info *out)
{
	struct virtuals_entry *e = NULL;
	struct java_name name = {.count = 0};

	memset(out, 0, sizeof(*out));
	out->number = id & 0x7fffffffu;
	for (uint32_t i = 0; i < VIRTUALS_WINDOW && !e; i++) {
		struct virtuals_entry *at = &v->entries[(id + i) & (VIRTUALS_MAX - 1)];
		uint64_t number = atomic_load(&at->number);

		if (number && WIRE_VIRTUAL_ID(number) == id)
			e = at;
	}
	if (!e)
		return;
	out->number = atomic_load(&e->number);
	out->carrier = atomic_load(&e->carrier);
	uint32_t seq = atomic_load_explicit(&e->seq, memory_order_acquire);
	if (e->named)
		name = e->name;
	atomic_thread_fence(memory_order_acquire);
	if (!(seq & 1) && atomic_load_explicit(&e->seq, memory_order_relaxed) == seq)
		out->bytes = java_name_utf8(&name, out->name);
}

/* Frees the entry unless a handler is writing to it. */
static void entry_free(struct virtuals_entry *e)
{
	uint32_t seq = atomic_load(&e->seq);

	if (seq & 1 || !atomic_compare_exchange_strong(&e->seq, &seq, seq + 1))
		return;
	e->named = false;
	e->name.count = 0;
	atomic_store(&e->number, 0);
	atomic_store_explicit(&e->seq, seq + 2, memory_order_release);
}

void virtuals_tick(struct virtuals *v)
{
	uint32_t now = atomic_fetch_add(&v->now, 1) + 1;
	uint32_t keep = v->used > MANY ? TICKS_SHORT : TICKS_LONG;

	if (!atomic_load(&v->any) || now % TICKS_SWEEP)
		return;
	v->used = 0;
	for (uint32_t i = 0; i < VIRTUALS_MAX; i++) {
		struct virtuals_entry *e = &v->entries[i];

		if (!atomic_load(&e->number))
			continue;
		if (now - atomic_load(&e->seen) > keep)
			entry_free(e);
		else
			v->used++;
	}
}
