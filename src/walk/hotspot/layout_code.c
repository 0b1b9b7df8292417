/* SPDX-License-Identifier: Apache-2.0 */
/* Locates HotSpot's code: the code cache's heaps, the interpreter's codelets. */
#include "walk/hotspot/layout_read.h"
#include "walk/load/mem.h"

/* --- the code cache ---------------------------------------------------------------------------------- */

static bool heap_read(struct layout_read *r, uint64_t heap, struct walk_heap *out)
{
	uint64_t memory = heap + (uint64_t)r->heap_memory.offset;
	uint64_t segmap = heap + (uint64_t)r->heap_segmap.offset;

	out->low = layout_load(&r->space_low, r->mem, memory);
	out->high = layout_load(&r->space_high_boundary, r->mem, memory);
	out->segmap = layout_load(&r->space_low, r->mem, segmap);
	out->shift = (uint32_t)layout_load(&r->heap_shift, r->mem, heap);
	if (r->space_high.offset >= 0) {
		out->committed_at = memory + (uint64_t)r->space_high.offset;
		out->segmap_committed_at = segmap + (uint64_t)r->space_high.offset;
	}
	return out->low && out->high > out->low && out->segmap && out->shift && out->shift < 20;
}

static int code_cache_read(struct layout_read *r)
{
	struct walk_layout *l = &r->layout;
	uint64_t array = 0, one = 0;
	uint32_t count = 1;

	if (r->heaps) {
		uint64_t growable = mem_u64(r->mem, r->heaps);

		count = (uint32_t)layout_load(&r->array_len, r->mem, growable);
		array = layout_load(&r->array_data, r->mem, growable);
	} else {
		one = mem_u64(r->mem, r->heap);
	}
	if (count == 0 || count > LAYOUT_HEAPS)
		return layout_note(r, "CodeCache::_heaps has an unexpected length");
	for (uint32_t i = 0; i < count; i++)
		if (!heap_read(r, array ? mem_u64(r->mem, array + 8ull * i) : one, &l->heaps[i]))
			return layout_note(r, "a CodeHeap could not be read");
	l->heap_count = count;
	l->code_low = r->low_bound ? mem_u64(r->mem, r->low_bound) : l->heaps[0].low;
	l->code_high = r->high_bound ? mem_u64(r->mem, r->high_bound) : l->heaps[0].high;
	if (!l->code_low || l->code_high <= l->code_low)
		return layout_note(r, "the code cache's bounds could not be read");
	return 0;
}

/* --- the interpreter --------------------------------------------------------------------------------- */

static void range_extend(struct walk_range *range, uint64_t low, uint64_t high)
{
	if (!range->low || low < range->low)
		range->low = low;
	if (high > range->high)
		range->high = high;
}

/* Codelets are identified by the descriptions that HotSpot prints for them. */
static void codelet_note(
	struct walk_layout *l, const char *description, uint64_t low, uint64_t high)
{
	static const char *const returns[LAYOUT_RETURNS] = {"return entry points",
		"invoke return entry points", "earlyret entry points",
		"deoptimization entry points"};

	static const char *const framed[LAYOUT_FRAMED] = {
		"zerolocals)", "zerolocals_synchronized)", "native)", "native_synchronized)"};
	static const char entry[] = "method entry point (kind = ", native[] = "native ";

	if (text_starts(description, native))
		description += sizeof(native) - 1;
	if (text_starts(description, entry)) {
		range_extend(&l->interpreter_entries, low, high);
		description += sizeof(entry) - 1;
		for (size_t i = 0; i < LAYOUT_FRAMED; i++)
			if (text_equal(description, framed[i]))
				range_extend(&l->interpreter_framed[i], low, high);
	}
	for (size_t i = 0; i < LAYOUT_RETURNS; i++)
		if (text_equal(description, returns[i]))
			range_extend(&l->interpreter_returns[i], low, high);
}

/* Reads the interpreter's range, and in it the ranges of the codelets that matter to the walker. */
static int interpreter_read(struct layout_read *r)
{
	struct walk_layout *l = &r->layout;
	uint64_t queue = mem_u64(r->mem, r->interpreter);
	char text[LAYOUT_NAME];

	l->interpreter_low = layout_load(&r->queue_buffer, r->mem, queue);
	l->interpreter_high = l->interpreter_low + layout_load(&r->queue_limit, r->mem, queue);
	if (!l->interpreter_low || l->interpreter_high <= l->interpreter_low)
		return layout_note(r, "the interpreter's code could not be found");
	for (uint64_t at = l->interpreter_low; at < l->interpreter_high;) {
		uint64_t bytes = layout_load(&r->codelet_size, r->mem, at);
		uint64_t description = layout_load(&r->codelet_description, r->mem, at);

		if (!bytes || bytes > l->interpreter_high - at)
			break;
		if (mem_string(r->mem, description, text, LAYOUT_NAME) >= 0)
			codelet_note(l, text, at, at + bytes);
		at += bytes;
	}
	if (!l->interpreter_framed[0].low || !l->interpreter_returns[0].low)
		return layout_note(r, "the interpreter's entries could not be found");
	return 0;
}

int layout_code_read(struct layout_read *r)
{
	return code_cache_read(r) || interpreter_read(r) ? -1 : 0;
}
