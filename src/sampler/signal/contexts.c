/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request that the running thread works for, read in its handler.
 *
 * The record is complete whenever it is valid, because only the thread itself writes it. Nothing else is certain: the library
 * may have been unloaded, the pointer may be stale, another thread may write. So every load goes through the kernel
 * (struct walk_mem), sizes are checked, and the record is used only after it has been copied.
 */
#include "sampler/contexts.h"

#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "walk/load/mem.h"

#define SET_PROBES 32u
#define VALID      1u

struct record {
	uint8_t trace_id[16], span_id[8];
	uint8_t valid, flags;
	uint16_t bytes; /* of attributes */
	uint8_t attributes[CONTEXTS_BYTES];
};
#define RECORD_HEAD 28u

_Static_assert(offsetof(struct record, attributes) == RECORD_HEAD, "the published layout");

static bool address_plausible(uint64_t address)
{
	return address >= 4096 && !(address >> MEM_ADDRESS_BITS);
}

/* The address of the thread-local pointer. False: the module's block is not allocated in this thread. */
static bool place_find(const struct walk_mem *mem, const struct wire_context_place *place,
	uint64_t thread_pointer, uint64_t *out)
{
	uint64_t vector, count, block = thread_pointer;

	if (place->module &&
		(!mem_load_u64(
			 mem, thread_pointer + (uint64_t)(int64_t)place->vector_at, &vector) ||
			!mem_plausible(vector) ||
			!mem_load_u64(mem, vector + (uint64_t)(int64_t)place->count_at, &count) ||
			place->module > count ||
			!mem_load_u64(mem, vector + place->module * place->entry_bytes, &block) ||
			!address_plausible(block)))
		return false;
	*out = block + (uint64_t)place->offset;
	return true;
}

/* libc's thread pointer of the running thread; 0: its thread pointer is not libc's. */
static uint64_t thread_pointer(const struct stack *stack, const struct contexts *c)
{
	uint64_t pointer;

	/* own_low: it is proved to be a Java thread, which libc has set up. */
	if (stack->self.own_low)
		return raw_libc_thread_pointer();
	pointer = c->tid_place ? raw_thread_pointer() : 0;
	if (pointer &&
		mem_u32(stack->mem, pointer + (uint64_t)c->tid_place) != (uint32_t)raw_gettid())
		return 0;
	return pointer;
}

static bool record_read(const struct walk_mem *mem, const struct wire_context_place *place,
	uint64_t thread_pointer, struct record *out)
{
	uint64_t at, address;

	return place_find(mem, place, thread_pointer, &at) && mem_load_u64(mem, at, &address) &&
	       address_plausible(address) && mem_load(mem, address, out, RECORD_HEAD) &&
	       out->valid == VALID && out->bytes <= CONTEXTS_BYTES &&
	       (!out->bytes || mem_load(mem, address + RECORD_HEAD, out->attributes, out->bytes));
}

/* Moves the attributes with selected keys to the front. Returns their size; a malformed rest is ignored. */
static uint32_t record_select(struct record *r, const uint8_t *keys)
{
	uint32_t to = 0, bytes;

	for (uint32_t at = 0; at + 2 <= r->bytes; at += bytes) {
		uint8_t key = r->attributes[at];

		bytes = 2u + r->attributes[at + 1];
		if (bytes > r->bytes - at)
			break;
		if (!(keys[key / 8] >> key % 8 & 1))
			continue;
		__builtin_memmove(r->attributes + to, r->attributes + at, bytes);
		to += bytes;
	}
	return to;
}

/* False when there are too many sets of attributes already. */
static bool set_admit(struct contexts *c, const uint8_t *attributes, uint32_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (uint32_t i = 0; i < bytes; i++)
		hash = (hash ^ attributes[i]) * 0x100000001b3ull;
	hash = (hash ^ hash >> 32) | 1;
	for (uint32_t i = 0; i < SET_PROBES; i++) {
		_Atomic uint64_t *slot = &c->sets[(hash / 2 + i) % CONTEXTS_SLOTS];
		uint64_t found = atomic_load_explicit(slot, memory_order_relaxed);

		if (found == hash)
			return true;
		if (found)
			continue;
		if (atomic_fetch_add_explicit(&c->sets_used, 1, memory_order_relaxed) >=
			CONTEXTS_SETS)
			return false;
		if (atomic_compare_exchange_strong(slot, &found, hash) || found == hash)
			return true;
	}
	return false;
}

/* The frame of the record's selected attributes; 0: it has none. */
static uint64_t record_frame(
	struct sampler *s, struct contexts *c, struct record *r, const uint8_t *keys)
{
	uint32_t bytes = record_select(r, keys), id = 0;

	if (!bytes)
		return 0;
	if (set_admit(c, r->attributes, bytes))
		id = names_text(s->names, (const char *)r->attributes, bytes);
	if (!id || id == NAMES_ID_FULL) {
		counters_add(&s->counters, COUNTER_CONTEXTS_LOST, 1);
		id = 0;
	}
	return WALK_PACK(WALK_CONTEXT, id);
}

static bool span_is_set(const struct record *r)
{
	uint8_t any = 0;

	for (size_t i = 0; i < sizeof(r->span_id); i++)
		any |= r->span_id[i];
	return any;
}

void sig_context_add(struct stack *stack)
{
	struct sampler *s = stack->s;
	struct contexts *c = atomic_load_explicit(&s->contexts, memory_order_acquire);
	uint64_t *end = stack->user + stack->count;
	struct wire_contexts where;
	struct record record;
	uint32_t version, i = 0;

	if (!c || !stack->scratch)
		return;
	do {
		version = atomic_load(&c->version);
		where = c->where[version % 2];
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load(&c->version) != version);
	uint64_t pointer = thread_pointer(stack, c);
	while (i < WIRE_CONTEXT_PLACES &&
		!(where.places[i].used && pointer &&
			record_read(stack->mem, &where.places[i], pointer, &record)))
		i++;
	if (i == WIRE_CONTEXT_PLACES)
		return;
	uint64_t frame = record_frame(s, c, &record, where.keys);
	if (frame) {
		*end++ = frame;
		stack->count++;
	}
	if (!span_is_set(&record))
		return;
	__builtin_memcpy(end, record.trace_id, sizeof(record.trace_id));
	__builtin_memcpy(end + 2, record.span_id, sizeof(record.span_id));
	stack->span_words = TRACE_SPAN_WORDS;
	stack->flags |= TRACE_HAS_SPAN;
}
