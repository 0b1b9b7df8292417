/* SPDX-License-Identifier: Apache-2.0 */
/* Names methods and stubs: hashed slots in front of a ring of texts, both lock-free. */
#include "walk/hotspot/names.h"

#include <stdatomic.h>

#include "walk/frames/frame_cache.h"
#include "walk/hotspot/code_cache.h"
#include "walk/hotspot/method.h"
#include "walk/load/mem.h"

#define NAMES_BYTES_MIN (256u << 10)
#define PROBES          8u
#define STUB_ROWS       768u
#define STUB_NAME       51u
#define PAD_ID          UINT32_MAX

/*
 *   struct names | slots | ring
 *
 * Ring positions count bytes modulo 2^32; the head also carries the next id, so ids follow the ring's order. Free space is all
 * zero: a record whose id is still 0 is being written.
 */
struct record {
	uint32_t size; /* including this header; a multiple of 8 */
	_Atomic uint32_t id;
	uint16_t class_bytes, name_bytes, signature_bytes, line_bytes;
	char text[];
};
#define PAD_BYTES 8u
_Static_assert(offsetof(struct record, text) == 16, "record");

/* A stub gets an id only when a stack contains it, which is true of few. */
struct stub_row {
	uint64_t start;
	uint32_t bytes;
	uint8_t name_bytes;
	char name[STUB_NAME];
};
_Static_assert(sizeof(struct stub_row) == 64, "a cache line");

struct names {
	_Alignas(64) _Atomic uint64_t head; /* next id << 32 | position */
	_Alignas(64) _Atomic uint32_t tail;
	uint32_t slot_mask, ring_bytes;
	_Atomic uint64_t *slots; /* tag << 32 | id; 0: empty */
	char *ring;
	_Atomic uint32_t call_stub; /* its id; 0: none yet */
	uint32_t stub_added;
	_Atomic uint32_t stub_count; /* number of rows that are sorted, for handlers */
	struct stub_row stubs[STUB_ROWS];
};

/* --- the ring ---------------------------------------------------------------------------------------- */

static struct record *record_at(const struct names *n, uint32_t position)
{
	return (struct record *)(void *)(n->ring + (position & (n->ring_bytes - 1)));
}

/* Reserves a zeroed record for text_bytes. NULL if the reader is too far behind. *id is the record's id. */
static struct record *ring_reserve(struct names *n, uint32_t text_bytes, uint32_t *id)
{
	uint32_t size = (uint32_t)(offsetof(struct record, text) + text_bytes + 7) & ~7u;
	uint64_t head = atomic_load_explicit(&n->head, memory_order_relaxed);

	for (;;) {
		uint32_t position = (uint32_t)head, next_id = (uint32_t)(head >> 32);
		uint32_t to_end = n->ring_bytes - (position & (n->ring_bytes - 1));
		uint32_t pad = to_end < size ? to_end : 0;
		uint32_t tail = atomic_load_explicit(&n->tail, memory_order_acquire);

		if (position - tail + pad + size > n->ring_bytes || next_id >= PAD_ID - 1)
			return NULL;

		uint64_t next = (uint64_t)(next_id + 1) << 32 | (uint32_t)(position + pad + size);

		if (!atomic_compare_exchange_weak_explicit(
			    &n->head, &head, next, memory_order_relaxed, memory_order_relaxed))
			continue;
		if (pad) {
			record_at(n, position)->size = pad;
			atomic_store_explicit(
				&record_at(n, position)->id, PAD_ID, memory_order_release);
		}
		record_at(n, position + pad)->size = size;
		*id = next_id;
		return record_at(n, position + pad);
	}
}

static void record_commit(struct record *r, uint32_t id)
{
	atomic_store_explicit(&r->id, id, memory_order_release);
}

bool names_next(struct names *n, uint32_t after, struct names_entry *out)
{
	for (;;) {
		uint32_t tail = atomic_load_explicit(&n->tail, memory_order_relaxed);

		if (tail == (uint32_t)atomic_load_explicit(&n->head, memory_order_relaxed))
			return false;

		struct record *r = record_at(n, tail);
		uint32_t id = atomic_load_explicit(&r->id, memory_order_acquire);

		if (id == 0)
			return false;
		if (id == PAD_ID || id <= after) { /* read before */
			uint64_t *words = (uint64_t *)(void *)r;
			uint32_t size = r->size;

			for (uint32_t i = 0; i < size / 8; i++)
				words[i] = 0;
			atomic_fetch_add_explicit(&n->tail, size, memory_order_release);
			continue;
		}
		out->id = id;
		out->class_bytes = r->class_bytes;
		out->name_bytes = r->name_bytes;
		out->signature_bytes = r->signature_bytes;
		out->class_name = r->text;
		out->name = out->class_name + r->class_bytes;
		out->signature = out->name + r->name_bytes;
		out->line_bytes = r->line_bytes;
		out->lines = (const uint8_t *)out->signature + r->signature_bytes;
		return true;
	}
}

/* --- slots ------------------------------------------------------------------------------------------- */

static uint64_t hash_add(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static uint64_t hash_finish(uint64_t hash)
{
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
	return hash ^ hash >> 32;
}

static uint64_t slot_tag(uint64_t hash)
{
	uint64_t tag = hash >> 32;

	return tag ? tag : 1;
}

/* The id stored under hash, 0 if there is none. */
static uint32_t slot_find(const struct names *n, uint64_t hash)
{
	uint64_t tag = slot_tag(hash);

	for (uint32_t i = 0; i < PROBES; i++) {
		uint64_t word = atomic_load_explicit(
			&n->slots[((uint32_t)hash + i) & n->slot_mask], memory_order_acquire);

		if (word >> 32 == tag)
			return (uint32_t)word;
		if (!word)
			return 0;
	}
	return 0;
}

static void slot_store(struct names *n, uint64_t hash, uint32_t id)
{
	uint64_t word = slot_tag(hash) << 32 | id;

	for (uint32_t i = 0; i < PROBES; i++) {
		uint64_t empty = 0;

		if (atomic_compare_exchange_strong_explicit(
			    &n->slots[((uint32_t)hash + i) & n->slot_mask], &empty, word,
			    memory_order_release, memory_order_relaxed))
			return;
	}
	atomic_store_explicit(&n->slots[((uint32_t)hash + id % PROBES) & n->slot_mask], word,
		memory_order_release);
}

/* --- texts ------------------------------------------------------------------------------------------- */

uint32_t names_text(struct names *n, const char *text, size_t bytes)
{
	uint64_t hash = hash_add(0x7478743a, bytes);
	uint32_t used = (uint32_t)(bytes < NAMES_TEXT_MAX ? bytes : NAMES_TEXT_MAX);

	for (uint32_t i = 0; i < used; i++)
		hash = hash_add(hash, (uint8_t)text[i]);
	hash = hash_finish(hash);
	uint32_t id = slot_find(n, hash);
	if (id)
		return id;

	struct record *r = ring_reserve(n, used, &id);

	if (!r)
		return NAMES_ID_FULL;
	__builtin_memcpy(r->text, text, used);
	r->name_bytes = (uint16_t)used;
	record_commit(r, id);
	slot_store(n, hash, id);
	return id;
}

static uint32_t text_id(struct names *n, const char *text)
{
	return names_text(n, text, __builtin_strlen(text));
}

/* --- methods ----------------------------------------------------------------------------------------- */

#define SYMBOL_HEAD 16u /* a Symbol's header and the first two characters of its text */

struct symbol {
	uint64_t addr;
	uint16_t bytes; /* of its text, truncated */
	uint16_t first; /* its first two characters: cheap to re-check */
	/* A random number assigned when the Symbol was created: another Symbol at this address has another. */
	uint16_t hash;
};

static bool symbol_load(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t addr, struct symbol *out)
{
	uint8_t head[SYMBOL_HEAD];
	uint32_t body = (uint32_t)l->symbol_body.offset;

	/* Even the shortest Symbol has space for two characters. */
	if (body + 2 > SYMBOL_HEAD || !mem_load(mem, addr, head, body + 2))
		return false;
	uint32_t bytes = (uint32_t)layout_field(&l->symbol_length, head);
	out->addr = addr;
	out->bytes = (uint16_t)(bytes < NAMES_TEXT_MAX ? bytes : NAMES_TEXT_MAX);
	__builtin_memcpy(&out->first, head + body, sizeof(out->first));
	if (bytes == 1)
		out->first &= 0xff;
	/*
	 * Up to JDK 12 the hash is a field between length, reference count and text; since then it is the upper half of the
	 * word before the length, whose lower half is the count.
	 */
	__builtin_memcpy(
		&out->hash, head + (l->symbol_length.offset == 4 ? 2 : 4), sizeof(out->hash));
	return bytes != 0;
}

/* True when line tables may be stored: they are the first to be omitted when the reader is behind. */
static bool ring_has_space(const struct names *n)
{
	uint32_t head = (uint32_t)atomic_load_explicit(&n->head, memory_order_relaxed);
	uint32_t tail = atomic_load_explicit(&n->tail, memory_order_relaxed);

	return head - tail < n->ring_bytes / 2;
}

/* Size of a compressed line table, including its terminating 0; 0: unreadable or too long. */
static uint16_t lines_bytes(const struct walk_mem *mem, uint64_t table)
{
	uint32_t numbers = 0, bytes = 0;
	uint8_t b;

	/* 0xff introduces two numbers, in which a 0 byte does not end the table. */
	for (; bytes < NAMES_LINES_MAX; bytes++) {
		if (!mem_load(mem, table + bytes, &b, 1))
			return 0;
		if (numbers)
			numbers -= b < 192;
		else if (b == 0xff)
			numbers = 2;
		else if (!b)
			return (uint16_t)(bytes + 1);
	}
	return 0;
}

static uint32_t method_insert(struct names *n, const struct walk_layout *l,
	const struct walk_mem *mem, const struct method *m, const struct symbol *s, uint64_t hash)
{
	uint64_t table = ring_has_space(n) ? method_lines(l, mem, m) : 0;
	uint16_t lines = table ? lines_bytes(mem, table) : 0;
	uint32_t id, at = 0, text = (uint32_t)s[0].bytes + s[1].bytes + s[2].bytes;
	struct record *r = ring_reserve(n, text + lines, &id);
	bool copied = true;

	if (!r)
		return NAMES_ID_FULL;
	if (lines && mem_load(mem, table, r->text + text, lines))
		r->line_bytes = lines;
	for (int i = 0; i < 3; i++) {
		copied = copied && mem_load(mem, s[i].addr + (uint64_t)l->symbol_body.offset,
					   r->text + at, s[i].bytes);
		at += s[i].bytes;
	}
	if (copied) {
		r->class_bytes = s[0].bytes;
		r->name_bytes = s[1].bytes;
		r->signature_bytes = s[2].bytes;
		slot_store(n, hash, id);
	}
	record_commit(r, id);
	return copied ? id : NAMES_ID_UNLOADED;
}

static uint32_t method_read(struct names *n, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t method, struct method *m)
{
	struct method_symbols symbols;
	struct symbol s[3];

	if (!l || !method_load(l, mem, method, m) || !method_symbols(l, mem, m, &symbols))
		return NAMES_ID_UNLOADED;

	uint64_t hash = hash_add(hash_add(hash_add(0, method), m->const_method), m->klass);
	uint64_t addrs[3] = {symbols.class_name, symbols.name, symbols.signature};

	for (int i = 0; i < 3; i++) {
		if (!symbol_load(l, mem, addrs[i], &s[i]))
			return NAMES_ID_UNLOADED;
		hash = hash_add(hash, s[i].addr);
		hash = hash_add(
			hash, (uint64_t)s[i].hash << 32 | (uint64_t)s[i].bytes << 16 | s[i].first);
	}
	hash = hash_finish(hash);

	uint32_t id = slot_find(n, hash);

	return id ? id : method_insert(n, l, mem, m, s, hash);
}

/* The id of a Method's name, from the cache or read, which takes several system calls. */
static uint32_t method_id(struct names *n, const struct walk_layout *l, const struct walk_mem *mem,
	const struct frame_cache_walk *cache, uint64_t method)
{
	struct frame_cache_method known;
	struct method m;

	if (cache && l && frame_cache_method(cache, l, mem, method, &known))
		return known.id;
	known.id = method_read(n, l, mem, method, &m);
	if (cache && known.id > NAMES_ID_FULL) {
		known.method = method;
		known.const_method = m.const_method;
		known.code_bytes = m.code_bytes;
		known.pool = m.pool;
		known.name_index = m.name_index;
		frame_cache_method_insert(cache, &known);
	}
	return known.id;
}

/* --- stubs ------------------------------------------------------------------------------------------- */

bool names_stub_add(struct names *n, uint64_t start, uint32_t bytes, const char *name)
{
	struct stub_row *row = &n->stubs[n->stub_added];
	size_t length = __builtin_strlen(name);

	if (n->stub_added == STUB_ROWS || atomic_load(&n->stub_count))
		return false;
	*row = (struct stub_row){.start = start,
		.bytes = bytes,
		.name_bytes = (uint8_t)(length < STUB_NAME ? length : STUB_NAME)};
	__builtin_memcpy(row->name, name, row->name_bytes);
	n->stub_added++;
	return true;
}

void names_stubs_ready(struct names *n)
{
	if (atomic_load(&n->stub_count))
		return;
	for (uint32_t i = 1; i < n->stub_added; i++) { /* insertion sort: nearly sorted already */
		struct stub_row row = n->stubs[i];
		uint32_t at = i;

		for (; at > 0 && n->stubs[at - 1].start > row.start; at--)
			n->stubs[at] = n->stubs[at - 1];
		n->stubs[at] = row;
	}
	atomic_store_explicit(&n->stub_count, n->stub_added, memory_order_release);
}

/* The last stub that begins at or before pc, if it contains pc. */
static const struct stub_row *stub_at(const struct names *n, uint64_t pc)
{
	uint32_t low = 0, high = atomic_load_explicit(&n->stub_count, memory_order_acquire);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (n->stubs[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low && pc - n->stubs[low - 1].start < n->stubs[low - 1].bytes ? &n->stubs[low - 1]
									     : NULL;
}

/* The call stub is in every Java thread, so its id is cached. */
static uint32_t call_stub_id(struct names *n)
{
	uint32_t id = atomic_load_explicit(&n->call_stub, memory_order_relaxed);

	if (id)
		return id;
	id = text_id(n, "call_stub");
	if (id != NAMES_ID_FULL)
		atomic_store_explicit(&n->call_stub, id, memory_order_relaxed);
	return id;
}

static uint32_t stub_id(
	struct names *n, const struct walk_layout *l, const struct walk_mem *mem, uint64_t pc)
{
	struct code_blob blob;
	char text[64];

	if (l && pc == l->call_stub_return)
		return call_stub_id(n);
	const struct stub_row *row = stub_at(n, pc);
	if (row)
		return names_text(n, row->name, row->name_bytes);
	if (!l)
		return NAMES_ID_UNLOADED;
	if (!code_cache_find(l, mem, pc, &blob))
		return NAMES_ID_UNLOADED;
	if (blob.kind == CODE_VTABLE)
		return text_id(n, "vtable stub");
	int bytes = mem_string(mem, blob.name, text, sizeof(text));
	return bytes > 0 ? names_text(n, text, (size_t)bytes) : NAMES_ID_UNLOADED;
}

/* --- all --------------------------------------------------------------------------------------------- */

void names_resolve(struct names *n, const struct walk_layout *layout, const struct walk_mem *mem,
	const struct frame_cache_walk *cache, const struct walk_frame *frames, uint32_t count,
	uint64_t *out, uint32_t *unnamed)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct walk_frame *f = &frames[i];
		uint32_t id = 0;

		switch ((enum walk_frame_type)f->type) {
		case WALK_INTERPRETED:
		case WALK_C1:
		case WALK_C2:
		case WALK_INLINED:
		case WALK_JAVA:
		case WALK_NO_INLINING:
		case WALK_C1_NO_INLINING:
		case WALK_COMPILES:
			id = method_id(n, layout, mem, cache, f->value);
			out[i] = WALK_PACK_JAVA(f->type, id, f->bci);
			break;
		case WALK_STUB:
			id = stub_id(n, layout, mem, f->value);
			out[i] = WALK_PACK(f->type, id);
			break;
		case WALK_BREAK:
			out[i] = WALK_PACK(
				f->type, text_id(n, walk_break_name((enum walk_break)f->value)));
			break;
		case WALK_PACKED: out[i] = f->value; break;
		default: out[i] = WALK_PACK(f->type, f->value); break;
		}
		if (unnamed && (id == NAMES_ID_UNLOADED || id == NAMES_ID_FULL))
			++*unnamed;
	}
}

uint32_t names_newest(const struct names *n)
{
	return (uint32_t)(atomic_load_explicit(&n->head, memory_order_relaxed) >> 32) - 1;
}

static uint32_t power_of_two_below(size_t n)
{
	uint32_t p = 1;

	while ((size_t)p * 2 <= n && p < 1u << 30)
		p *= 2;
	return p;
}

struct names *names_init(void *memory, size_t bytes)
{
	struct names *n = memory;
	size_t left = bytes - sizeof(*n);

	if (bytes < NAMES_BYTES_MIN)
		return NULL;
	/* Half for the ring, the rest for slots; both sizes are powers of two. */
	n->ring_bytes = power_of_two_below(left / 2);
	uint32_t slots = power_of_two_below((left - n->ring_bytes) / sizeof(n->slots[0]));
	n->slot_mask = slots - 1;
	n->slots = (void *)((char *)memory + sizeof(*n));
	n->ring = (char *)memory + sizeof(*n) + slots * sizeof(n->slots[0]);
	atomic_store(&n->head, 1ull << 32);
	text_id(n, "[unloaded]");
	text_id(n, "[names_full]");
	return n;
}
