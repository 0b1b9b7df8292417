/* SPDX-License-Identifier: Apache-2.0 */
/* Three tables of rows, each row a sequence lock. Direct-mapped, except for Methods: set-associative. */
#include "walk/frames/frame_cache.h"

#include "walk/load/mem.h"
#include "walk/load/version.h"

static uint32_t hash_of(uint64_t pc)
{
	return (uint32_t)((pc * 0x9e3779b97f4a7c15ull) >> 40);
}

/* --- versions ---------------------------------------------------------------------------------------- */

/* Reads a key in one access, even while it is being written. */
static uint64_t key_in(const uint64_t *key)
{
	return __atomic_load_n(key, __ATOMIC_RELAXED);
}

/* --- compiled code ----------------------------------------------------------------------------------- */

/*
 * True when the compile id and Method at that address still match: another nmethod differs in one of them. Before JDK 20 a
 * freed nmethod loses its Method; since then its memory stays unchanged until it is reused, which may begin at the end of the
 * block, so the block must also be in use.
 */
static bool is_valid(
	const struct walk_layout *l, const struct walk_mem *mem, const struct frame_cache_code *c)
{
	return layout_load_in_place(&l->nmethod_method, mem, c->start) == c->method &&
	       (int32_t)layout_load_in_place(&l->compile_id, mem, c->start) == c->compile_id &&
	       (l->jdk < 20 ||
		       layout_load_in_place(&l->block_used, mem, c->start - l->heap_block_bytes));
}

bool frame_cache_find(const struct frame_cache *cache, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t pc, struct frame_cache_code *out)
{
	const struct frame_cache_code_row *row = &cache->codes[hash_of(pc) % FRAME_CACHE_CODE_ROWS];
	uint32_t version = version_read(&row->version);

	if (key_in(&row->code.pc) != pc)
		return false;
	__builtin_memcpy(out, &row->code, offsetof(struct frame_cache_code, frames));
	if (out->count > FRAME_CACHE_FRAMES)
		return false;
	for (uint32_t i = 0; i < out->count; i++)
		out->frames[i] = row->code.frames[i];
	return version_unchanged(&row->version, version) && is_valid(layout, mem, out);
}

static uint64_t sum_of(const struct walk_frame *frames, uint32_t count)
{
	uint64_t sum = count;

	for (uint32_t i = 0; i < count; i++)
		sum = sum * 31 + (frames[i].value ^ (uint64_t)frames[i].bci << 48 ^ frames[i].type);
	return sum;
}

void frame_cache_record(struct frame_cache_walk *walk, const struct frame_cache_code *code,
	const struct walk_frame *frames, uint32_t first, uint32_t last)
{
	struct frame_cache_fill *fill = &walk->fills[walk->count];
	uint32_t count = last - first;

	if (walk->count == FRAME_CACHE_FILLS || count == 0 || count > FRAME_CACHE_FRAMES ||
		code->compile_id <= 0)
		return;
	fill->code = *code;
	fill->code.count = count;
	fill->first = first;
	fill->sum = sum_of(frames + first, count);
	walk->count++;
}

void frame_cache_forget(struct frame_cache_walk *walk, uint32_t first)
{
	while (walk->count &&
		walk->fills[walk->count - 1].first + walk->fills[walk->count - 1].code.count >
			first)
		walk->count--;
}

/* True when all these frames have names. */
static bool named(const uint64_t *packed, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if ((uint32_t)packed[i] <= NAMES_ID_FULL)
			return false;
	return true;
}

static void code_insert(
	struct frame_cache *cache, const struct frame_cache_code *code, const uint64_t *packed)
{
	struct frame_cache_code_row *row = &cache->codes[hash_of(code->pc) % FRAME_CACHE_CODE_ROWS];
	uint32_t version;

	if (!version_write(&row->version, &version))
		return;
	__builtin_memcpy(&row->code, code, offsetof(struct frame_cache_code, frames));
	for (uint32_t i = 0; i < code->count; i++)
		row->code.frames[i] = packed[i];
	version_written(&row->version, version);
}

void frame_cache_fact_insert(struct frame_cache *cache, const struct frame_cache_code *code)
{
	if (code->compile_id > 0 && code->count == 0)
		code_insert(cache, code, NULL);
}

/* --- Methods ----------------------------------------------------------------------------------------- */

void frame_cache_begin(
	struct frame_cache_walk *walk, const struct walk_layout *layout, const struct walk_mem *mem)
{
	walk->count = 0;
	walk->methods = layout && layout->unloaded_classes &&
			mem_load_u64(mem, layout->unloaded_classes, &walk->unloads);
}

/* True when the Method still has the same parts as in the row. */
static bool is_same(
	const struct walk_layout *l, const struct walk_mem *mem, const struct frame_cache_method *m)
{
	return layout_load(&l->method_const, mem, m->method) == m->const_method &&
	       layout_load(&l->const_constants, mem, m->const_method) == m->pool &&
	       layout_load(&l->const_name, mem, m->const_method) == m->name_index;
}

/* The rows of the Method's set: FRAME_CACHE_METHOD_WAYS of them. */
static struct frame_cache_method_row *method_set(struct frame_cache *cache, uint64_t method)
{
	return &cache->methods[hash_of(method) * FRAME_CACHE_METHOD_WAYS % FRAME_CACHE_METHOD_ROWS];
}

/* The row of the set that contains the Method; NULL: none. */
static struct frame_cache_method_row *method_row(struct frame_cache *cache, uint64_t method)
{
	struct frame_cache_method_row *set = method_set(cache, method);

	for (uint32_t i = 0; i < FRAME_CACHE_METHOD_WAYS; i++)
		if (key_in(&set[i].method.method) == method)
			return &set[i];
	return NULL;
}

/* The row of the set to evict: a stale one, else one chosen by the Method's address. */
static struct frame_cache_method_row *method_victim(
	const struct frame_cache_walk *walk, uint64_t method)
{
	struct frame_cache_method_row *set = method_set(walk->table, method);

	for (uint32_t i = 0; i < FRAME_CACHE_METHOD_WAYS; i++)
		if (set[i].epoch != walk->epoch || set[i].unloads != walk->unloads)
			return &set[i];
	return &set[method / sizeof(uint64_t) % FRAME_CACHE_METHOD_WAYS];
}

bool frame_cache_method(const struct frame_cache_walk *walk, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t method, struct frame_cache_method *out)
{
	const struct frame_cache_method_row *row =
		walk->methods && method ? method_row(walk->table, method) : NULL;

	if (!row)
		return false;
	uint32_t version = version_read(&row->version);
	bool now = row->epoch == walk->epoch;
	*out = row->method;
	if (row->unloads != walk->unloads || out->method != method ||
		!version_unchanged(&row->version, version) || (!now && !is_same(layout, mem, out)))
		return false;
	if (!now)
		frame_cache_method_insert(walk, out);
	return true;
}

void frame_cache_method_insert(
	const struct frame_cache_walk *walk, const struct frame_cache_method *method)
{
	uint32_t version;

	if (!walk->methods || method->id <= NAMES_ID_FULL)
		return;
	struct frame_cache_method_row *row = method_row(walk->table, method->method);
	if (!row)
		row = method_victim(walk, method->method);
	if (!version_write(&row->version, &version))
		return;
	row->method = *method;
	row->unloads = walk->unloads;
	row->epoch = walk->epoch;
	version_written(&row->version, version);
}

/* --- the frames of a walk ---------------------------------------------------------------------------- */

void frame_cache_insert(struct frame_cache_walk *walk, const struct walk_frame *frames,
	const uint64_t *packed, uint32_t count)
{
	for (uint32_t i = 0; i < walk->count; i++) {
		const struct frame_cache_fill *fill = &walk->fills[i];

		if (fill->first + fill->code.count > count ||
			sum_of(frames + fill->first, fill->code.count) != fill->sum ||
			!named(packed + fill->first, fill->code.count))
			continue;
		code_insert(walk->table, &fill->code, packed + fill->first);
	}
	walk->count = 0;
}

/* --- native rules ------------------------------------------------------------------------------------ */

bool frame_cache_rule(const struct frame_cache *cache, const struct unwind_table *rows, uint64_t pc,
	struct unwind_rule *out)
{
	const struct frame_cache_rule_row *row = &cache->rules[hash_of(pc) % FRAME_CACHE_RULE_ROWS];
	uint32_t version = version_read(&row->version);

	if (key_in(&row->pc) != pc || row->generation != rows->generation)
		return false;
	*out = row->rule;
	return version_unchanged(&row->version, version);
}

void frame_cache_rule_insert(struct frame_cache *cache, const struct unwind_table *rows,
	uint64_t pc, const struct unwind_rule *rule)
{
	struct frame_cache_rule_row *row = &cache->rules[hash_of(pc) % FRAME_CACHE_RULE_ROWS];
	uint32_t version;

	if (!rows->generation || !version_write(&row->version, &version))
		return;
	row->pc = pc;
	row->generation = rows->generation;
	row->rule = *rule;
	version_written(&row->version, version);
}
