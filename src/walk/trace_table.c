/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three open-addressed hash tables over bump arenas, called halves because two of them are in use.
 *
 * A handler enters the half that it finds active by incrementing `inside`, then re-checks that the half is still active; the
 * flip waits for every handler that has passed the re-check. Every write of a handler therefore happens before the publisher
 * reads, so slots need no ready flag: setting hash from 0 to h claims a slot until the half is cleared. The third half covers a
 * handler that never leaves because its thread was stopped or has ended inside: after TABLE_DRAIN_TRIES flips its half is set
 * aside until it is empty.
 *
 * A half in memory: [ frames | slots | order ]. `order` lists the claimed slots, so reading and clearing take time
 * proportional to the used slots, not to the capacity; the arena restarts at 0, so quiet periods touch few pages.
 */
#include "walk/trace_table.h"

#include <stdatomic.h>

#define TABLE_SLOTS_MAX   8192u
#define TABLE_PROBES      64u
#define TABLE_FRAMES_SLOT 16u /* frames of arena per slot, for choosing the slot count */
/* in flags: a slot without frames, whose hash is that of the trace, inverted */
#define TABLE_AGAIN 0x8000u
/* beyond this a handler is probably preempted: retry at the next flip */
#define TABLE_DRAIN_SPINS 4096u
#define TABLE_DRAIN_TRIES 10u
#define TABLE_HALVES      3
#define TABLE_NO_HALF     TABLE_HALVES

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
	_Alignas(64) _Atomic uint32_t used;   /* claimed slots = entries of order */
	_Atomic uint32_t frames_used;         /* never exceeds frames_max */
	struct table_slot *slots;
	_Atomic uint32_t *order; /* slot index + 1; 0: claimed, but not filled yet */
	uint64_t *frames;
};

struct trace_table {
	_Alignas(64) _Atomic uint32_t active;
	_Alignas(64) uint32_t slot_mask;
	uint32_t frames_max;
	/* Private to the publisher: indexes of halves, or TABLE_NO_HALF. */
	uint32_t reading; /* returned by the last successful flip */
	uint32_t waiting; /* flipped, but a handler was still inside */
	uint32_t aside;   /* set aside: a handler has been inside for too long */
	uint32_t tries;   /* flips that found a handler inside `waiting` */
	/* Halves that have ever been active; the memory of the others is untouched. */
	uint32_t begun;
	size_t half_bytes;
	struct table_half halves[TABLE_HALVES];
};

_Static_assert(sizeof(struct table_slot) == 40, "table_slot");

static uint64_t table_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

/* Never 0. Keys with equal hashes count as one trace (probability 2^-64 per pair). */
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

struct trace_table *trace_table_init(void *memory, size_t bytes)
{
	struct trace_table *table = memory;
	uint32_t slots = TABLE_SLOTS_MAX;
	unsigned char *at = memory;

	if (bytes < sizeof(*table))
		return NULL;
	size_t half_bytes = (bytes - sizeof(*table)) / TABLE_HALVES & ~(size_t)63;
	while (slots >= 64 && table_half_bytes(slots, slots * TABLE_FRAMES_SLOT) > half_bytes)
		slots /= 2;
	if (slots < 64)
		return NULL;
	table->slot_mask = slots - 1;
	table->frames_max =
		(uint32_t)((half_bytes - table_half_bytes(slots, 0)) / sizeof(uint64_t));
	at += sizeof(*table);
	table->reading = 1;
	table->begun = 1;
	table->half_bytes = half_bytes;
	table->waiting = table->aside = TABLE_NO_HALF;
	for (int i = 0; i < TABLE_HALVES; i++, at += half_bytes) {
		struct table_half *half = &table->halves[i];

		half->frames = (uint64_t *)(void *)at;
		half->slots = (struct table_slot *)(void *)(half->frames + table->frames_max);
		half->order = (_Atomic uint32_t *)(void *)(half->slots + slots);
	}
	return table;
}

static struct table_half *table_enter(struct trace_table *table)
{
	for (;;) {
		uint32_t active = atomic_load(&table->active);
		struct table_half *half = &table->halves[active % TABLE_HALVES];

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

/* Reserves arena space for `count` frames. Returns the index of the first, UINT32_MAX if there is no space. */
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

/* The slot of this hash, claimed and filled if new. NULL if there is no space. O(TABLE_PROBES). */
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
			return slot; /* another handler won; the arena space is lost until the next clear */
	}
	return NULL;
}

static bool table_insert(struct trace_table *table, uint64_t hash, const struct trace_key *key,
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

bool trace_table_add(
	struct trace_table *table, const struct trace_key *key, uint32_t count, uint64_t weight)
{
	return table_insert(table, trace_table_hash(key), key, count, weight);
}

bool trace_table_again(struct trace_table *table, uint64_t hash, const struct trace_key *key,
	uint32_t count, uint64_t weight)
{
	struct trace_key bare = *key;

	bare.count = 0;
	bare.flags |= TABLE_AGAIN;
	return ~hash && table_insert(table, ~hash, &bare, count, weight);
}

/* Activates a half. `active` only increases, so that table_enter notices every change. */
static void table_activate(struct trace_table *table, uint32_t half)
{
	uint32_t active = atomic_load(&table->active);

	table->waiting = active % TABLE_HALVES;
	table->tries = 0;
	do {
		active++;
	} while (active % TABLE_HALVES != half);
	if (table->begun <= half)
		table->begun = half + 1;
	atomic_store(&table->active, active);
}

size_t trace_table_untouched(const struct trace_table *table)
{
	return (TABLE_HALVES - table->begun) * table->half_bytes;
}

/* Spins until no handler is inside the half. Returns false if that takes too long. */
static bool table_drain(const struct table_half *half)
{
	for (uint32_t spins = 0; spins < TABLE_DRAIN_SPINS; spins++) {
		if (atomic_load(&half->inside) == 0)
			return true;
	}
	return false;
}

/* A half that is neither active, nor waited for, nor set aside. */
static uint32_t table_spare(const struct trace_table *table)
{
	uint32_t half = 0, active = atomic_load(&table->active) % TABLE_HALVES;

	while (half == active || half == table->waiting || half == table->aside)
		half++;
	return half;
}

bool trace_table_flip(struct trace_table *table)
{
	if (table->aside != TABLE_NO_HALF &&
		atomic_load(&table->halves[table->aside].inside) == 0) {
		table->reading = table->aside;
		table->aside = TABLE_NO_HALF;
		return true;
	}
	if (table->waiting == TABLE_NO_HALF)
		table_activate(table, table_spare(table));
	if (!table_drain(&table->halves[table->waiting])) {
		if (++table->tries < TABLE_DRAIN_TRIES || table->aside != TABLE_NO_HALF)
			return false;
		table->aside = table->waiting;
		table_activate(table, table_spare(table));
		if (!table_drain(&table->halves[table->waiting]))
			return false;
	}
	table->reading = table->waiting;
	table->waiting = TABLE_NO_HALF;
	return true;
}

bool trace_table_flip_aside(struct trace_table *table)
{
	if (table->aside == TABLE_NO_HALF)
		return false;
	table->reading = table->aside;
	table->aside = TABLE_NO_HALF;
	return true;
}

bool trace_table_next(const struct trace_table *table, uint32_t *cursor, struct trace_entry *out)
{
	const struct table_half *half = &table->halves[table->reading];
	uint32_t used = atomic_load_explicit(&half->used, memory_order_relaxed), index = 0;

	while (*cursor < used &&
		!(index = atomic_load_explicit(&half->order[*cursor], memory_order_acquire)))
		++*cursor; /* not filled yet: happens only in a half that was set aside */
	if (!index)
		return false;
	index--;
	const struct table_slot *slot = &half->slots[index];
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
	struct table_half *half = &table->halves[table->reading];
	uint32_t used = atomic_load_explicit(&half->used, memory_order_relaxed);

	for (uint32_t i = 0; i < used; i++) {
		uint32_t index = atomic_load_explicit(&half->order[i], memory_order_relaxed);
		struct table_slot *slot = &half->slots[index - 1];

		if (!index)
			continue;
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
	const struct table_half *half = &table->halves[atomic_load(&table->active) % TABLE_HALVES];
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
	const struct table_half *half = &table->halves[atomic_load(&table->active) % TABLE_HALVES];
	uint64_t slots = atomic_load_explicit(&half->used, memory_order_relaxed);
	uint64_t frames = atomic_load_explicit(&half->frames_used, memory_order_relaxed);
	unsigned by_slots = (unsigned)(slots * 100 / (table->slot_mask + 1));
	unsigned by_frames = (unsigned)(frames * 100 / table->frames_max);

	return by_slots > by_frames ? by_slots : by_frames;
}
