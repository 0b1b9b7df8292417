/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two open-addressed tables over bump arenas.
 *
 * A handler announces itself in `inside` of the half it found active and looks again: whoever saw
 * the half active after announcing is waited for by the flip. Everything a handler wrote therefore
 * happens before the publisher reads, and slots need no ready flag: hash 0 -> h claims one for good.
 *
 * A half in memory: [ frames | slots | order ]. `order` lists the claimed slots, so that reading
 * and clearing cost what was used, not what there is; the arena restarts at 0, so that quiet times
 * touch few pages.
 */
#include "walk/trace_table.h"

#include <stdatomic.h>

#define TABLE_SLOTS_MAX   8192u
#define TABLE_PROBES      64u
#define TABLE_FRAMES_SLOT 16u /* frames of arena per slot when the size is chosen */
#define TABLE_AGAIN       0x8000u /* in flags: a slot without frames, its hash is the trace's inverted */
#define TABLE_DRAIN_SPINS 4096u /* some handler is preempted if it takes longer: "later" */

struct table_slot {
	_Atomic uint64_t hash;
	_Atomic uint64_t weight;
	_Atomic uint32_t count;
	uint32_t first_frame;
	uint32_t frames;
	uint32_t thread;
	uint16_t event;
	uint16_t flags;
	uint32_t reserved;
};

struct table_half {
	_Alignas(64) _Atomic uint32_t inside; /* handlers between enter and leave */
	_Alignas(64) _Atomic uint32_t used;   /* slots claimed: entries of order */
	_Atomic uint32_t frames_used; /* may run past the arena: what did not fit was refused */
	struct table_slot *slots;
	_Atomic uint32_t *order; /* + 1; 0: claimed, but not filled yet */
	uint64_t *frames;
};

struct trace_table {
	_Alignas(64) _Atomic uint32_t active;
	_Alignas(64) uint32_t slot_mask;
	uint32_t frames_max;
	bool draining; /* flipped, but a handler was still inside the old half */
	struct table_half halves[2];
};

_Static_assert(sizeof(struct table_slot) == 40, "table_slot");

static uint64_t table_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

/* Never 0. Two keys with one hash count as one trace (2^-64 per pair). */
uint64_t trace_table_hash(const struct trace_key *key)
{
	uint64_t h = table_mix(0x6a686f74ull, ((uint64_t)key->thread << 32) | key->count);

	h = table_mix(h, ((uint64_t)key->event << 16) | key->flags);
	for (uint32_t i = 0; i < key->count; i++)
		h = table_mix(h, key->frames[i]);
	h = table_mix(h, h >> 32);
	return h ? h : 1;
}

static size_t table_half_bytes(uint32_t slots, uint32_t frames)
{
	return slots * (sizeof(struct table_slot) + sizeof(uint32_t)) + frames * sizeof(uint64_t);
}

static void table_half_init(
	struct table_half *half, unsigned char *at, uint32_t slots, uint32_t frames)
{
	half->frames = (uint64_t *)(void *)at;
	at += frames * sizeof(uint64_t);
	half->slots = (struct table_slot *)(void *)at;
	at += slots * sizeof(struct table_slot);
	half->order = (_Atomic uint32_t *)(void *)at;
}

struct trace_table *trace_table_init(void *memory, size_t bytes)
{
	struct trace_table *table = memory;
	uint32_t slots = TABLE_SLOTS_MAX;
	unsigned char *at = memory;
	size_t half_bytes;

	if (bytes < sizeof(*table))
		return NULL;
	half_bytes = (bytes - sizeof(*table)) / 2 & ~(size_t)63;
	while (slots >= 64 && table_half_bytes(slots, slots * TABLE_FRAMES_SLOT) > half_bytes)
		slots /= 2;
	if (slots < 64)
		return NULL;
	table->slot_mask = slots - 1;
	table->frames_max =
		(uint32_t)((half_bytes - table_half_bytes(slots, 0)) / sizeof(uint64_t));
	at += sizeof(*table);
	for (int i = 0; i < 2; i++, at += half_bytes)
		table_half_init(&table->halves[i], at, slots, table->frames_max);
	return table;
}

static struct table_half *table_enter(struct trace_table *table)
{
	for (;;) {
		uint32_t active = atomic_load(&table->active);
		struct table_half *half = &table->halves[active & 1];

		atomic_fetch_add(&half->inside, 1);
		if (atomic_load(&table->active) == active)
			return half;
		atomic_fetch_sub(&half->inside, 1);
	}
}

static void table_leave(struct table_half *half)
{
	atomic_fetch_sub_explicit(&half->inside, 1, memory_order_release);
}

/* table_reserve: arena space for the frames of a new slot; UINT32_MAX when there is none. */
static uint32_t table_reserve(
	const struct trace_table *table, struct table_half *half, uint32_t count)
{
	uint32_t at = atomic_load_explicit(&half->frames_used, memory_order_relaxed);

	do {
		if (count > table->frames_max - at)
			return UINT32_MAX;
	} while (!atomic_compare_exchange_weak_explicit(
		&half->frames_used, &at, at + count, memory_order_relaxed, memory_order_relaxed));
	return at;
}

static void table_fill(struct table_half *half, struct table_slot *slot, uint32_t slot_index,
	const struct trace_key *key, uint32_t at)
{
	uint32_t place = atomic_fetch_add_explicit(&half->used, 1, memory_order_relaxed);

	for (uint32_t i = 0; i < key->count; i++)
		half->frames[at + i] = key->frames[i];
	slot->first_frame = at;
	slot->frames = key->count;
	slot->thread = key->thread;
	slot->event = key->event;
	slot->flags = key->flags;
	atomic_store_explicit(&half->order[place], slot_index + 1, memory_order_release);
}

/* table_find: the slot of this hash, claimed and filled if it is new; NULL when there is no space. */
static struct table_slot *table_find(const struct trace_table *table, struct table_half *half,
	const struct trace_key *key, uint64_t hash)
{
	uint32_t at = UINT32_MAX;

	for (uint32_t i = 0; i < TABLE_PROBES; i++) {
		uint32_t index = ((uint32_t)hash + i) & table->slot_mask;
		struct table_slot *slot = &half->slots[index];
		uint64_t found = atomic_load_explicit(&slot->hash, memory_order_relaxed);

		if (found == hash)
			return slot;
		if (found)
			continue;
		if (at == UINT32_MAX)
			at = table_reserve(table, half, key->count);
		if (at == UINT32_MAX)
			return NULL;
		if (atomic_compare_exchange_strong_explicit(&slot->hash, &found, hash,
			    memory_order_relaxed, memory_order_relaxed)) {
			table_fill(half, slot, index, key, at);
			return slot;
		}
		if (found == hash)
			return slot; /* another handler was first; the arena space is lost until the clear */
	}
	return NULL;
}

static bool table_put(struct trace_table *table, uint64_t hash, const struct trace_key *key,
	uint32_t count, uint64_t weight)
{
	struct table_half *half = table_enter(table);
	struct table_slot *slot = table_find(table, half, key, hash);

	if (slot) {
		atomic_fetch_add_explicit(&slot->count, count, memory_order_relaxed);
		atomic_fetch_add_explicit(&slot->weight, weight, memory_order_relaxed);
	}
	table_leave(half);
	return slot != NULL;
}

bool trace_table_put(
	struct trace_table *table, const struct trace_key *key, uint32_t count, uint64_t weight)
{
	return table_put(table, trace_table_hash(key), key, count, weight);
}

bool trace_table_again(struct trace_table *table, uint64_t hash, const struct trace_key *key,
	uint32_t count, uint64_t weight)
{
	struct trace_key bare = *key;

	bare.count = 0;
	bare.flags |= TABLE_AGAIN;
	return ~hash && table_put(table, ~hash, &bare, count, weight);
}

static uint32_t table_inactive(const struct trace_table *table)
{
	return (atomic_load_explicit(&table->active, memory_order_relaxed) & 1) ^ 1;
}

bool trace_table_flip(struct trace_table *table)
{
	struct table_half *old;

	if (!table->draining)
		atomic_fetch_xor(&table->active, 1);
	table->draining = true;
	old = &table->halves[table_inactive(table)];
	for (uint32_t spins = 0; spins < TABLE_DRAIN_SPINS; spins++) {
		if (atomic_load(&old->inside) == 0) {
			table->draining = false;
			return true;
		}
	}
	return false;
}

bool trace_table_next(const struct trace_table *table, uint32_t *cursor, struct trace_entry *out)
{
	const struct table_half *half = &table->halves[table_inactive(table)];
	const struct table_slot *slot;
	uint32_t index;

	if (*cursor >= atomic_load_explicit(&half->used, memory_order_relaxed))
		return false;
	index = atomic_load_explicit(&half->order[*cursor], memory_order_relaxed) - 1;
	slot = &half->slots[index];
	*out = (struct trace_entry){
		.key = {.frames = half->frames + slot->first_frame,
			.count = slot->frames,
			.thread = slot->thread,
			.event = slot->event,
			.flags = slot->flags & (uint16_t)~TABLE_AGAIN},
		.again = slot->flags & TABLE_AGAIN,
		.hash = atomic_load_explicit(&slot->hash, memory_order_relaxed),
		.count = atomic_load_explicit(&slot->count, memory_order_relaxed),
		.weight = atomic_load_explicit(&slot->weight, memory_order_relaxed),
	};
	if (out->again)
		out->hash = ~out->hash;
	++*cursor;
	return true;
}

void trace_table_clear(struct trace_table *table)
{
	struct table_half *half = &table->halves[table_inactive(table)];
	uint32_t used = atomic_load_explicit(&half->used, memory_order_relaxed);

	for (uint32_t i = 0; i < used; i++) {
		uint32_t index = atomic_load_explicit(&half->order[i], memory_order_relaxed) - 1;
		struct table_slot *slot = &half->slots[index];

		atomic_store_explicit(&half->order[i], 0, memory_order_relaxed);
		atomic_store_explicit(&slot->count, 0, memory_order_relaxed);
		atomic_store_explicit(&slot->weight, 0, memory_order_relaxed);
		atomic_store_explicit(&slot->hash, 0, memory_order_relaxed);
	}
	atomic_store_explicit(&half->used, 0, memory_order_relaxed);
	atomic_store_explicit(&half->frames_used, 0, memory_order_relaxed);
}

void trace_table_weigh(
	const struct trace_table *table, uint16_t without, uint64_t *weights, uint32_t events)
{
	const struct table_half *half = &table->halves[!table_inactive(table)];
	uint32_t used = atomic_load_explicit(&half->used, memory_order_relaxed);

	for (uint32_t i = 0; i < events; i++)
		weights[i] = 0;
	for (uint32_t i = 0; i < used; i++) {
		uint32_t index = atomic_load_explicit(&half->order[i], memory_order_acquire);
		const struct table_slot *slot = index ? &half->slots[index - 1] : NULL;

		if (slot && slot->event < events && !(slot->flags & without))
			weights[slot->event] +=
				atomic_load_explicit(&slot->weight, memory_order_relaxed);
	}
}

unsigned trace_table_fill(const struct trace_table *table)
{
	const struct table_half *half = &table->halves[!table_inactive(table)];
	uint64_t slots = atomic_load_explicit(&half->used, memory_order_relaxed);
	uint64_t frames = atomic_load_explicit(&half->frames_used, memory_order_relaxed);
	unsigned by_slots = (unsigned)(slots * 100 / (table->slot_mask + 1));
	unsigned by_frames = (unsigned)(frames * 100 / table->frames_max);

	return by_slots > by_frames ? by_slots : by_frames;
}
