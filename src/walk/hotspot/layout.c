/* SPDX-License-Identifier: Apache-2.0 */
/* Fills struct walk_layout from HotSpot's exported tables, and adds the facts that they lack. */
#include "walk/hotspot/layout_read.h"

#include "walk/load/arch.h"
#include "walk/load/mem.h"

/* --- notes ------------------------------------------------------------------------------------------- */

static void note_add(struct layout_read *r, const char *text)
{
	for (; *text && r->note_used + 1 < r->note_bytes; text++)
		r->note[r->note_used++] = *text;
	if (r->note_bytes)
		r->note[r->note_used] = '\0';
}

static int note_missing(struct layout_read *r, const char *what, const struct layout_row *row)
{
	note_add(r, what);
	note_add(r, row->type);
	if (row->field) {
		note_add(r, "::");
		note_add(r, row->field);
	}
	note_add(r, " is not exported by this JVM");
	return -1;
}

/* Writes the note "walker not available: WHAT"; returns -1. */
static int note_unavailable(struct layout_read *r, const char *what)
{
	note_add(r, "walker not available: ");
	note_add(r, what);
	return -1;
}

/* --- offsets that HotSpot does not export ------------------------------------------------------------ */

/* Structs that are copied whole must contain all fields that are read from them. */
static int copies_check(struct layout_read *r)
{
	const struct walk_layout *l = &r->layout;
	const struct {
		const char *type;
		uint32_t bytes;
	} copies[] = {{"CodeBlob", l->nmethod_bytes}, {"nmethod", l->nmethod_bytes},
		{"CompiledMethod", l->nmethod_bytes}, {"ConstMethod", l->const_method_bytes},
		{"PcDesc", l->pc_desc_bytes}};

	for (size_t i = 0; i < LAYOUT_ROWS; i++) {
		const struct layout_row *row = &layout_rows[i];
		const struct walk_field *field = (const void *)((const char *)r + row->dest);

		for (size_t k = 0; k < sizeof(copies) / sizeof(copies[0]); k++)
			if ((row->kind & KIND) == FIELD && r->found[i] &&
				text_equal(row->type, copies[k].type) &&
				(uint32_t)field->offset + field->bytes > copies[k].bytes)
				return note_unavailable(r, "a field lies outside of its struct");
	}
	return 0;
}

/*
 * Facts that HotSpot does not export, by JDK: slots of interpreter frames in words from fp; UNSIGNED5 excludes the byte 0 since
 * 20 (JDK-8292758). JDK 21 has continuations but exports none of their fields: JavaThread::_cont_entry follows
 * _is_method_handle_return. Method and sender sp have always been at -3 and -1 on both CPUs; JDK 9 inserted the mirror
 * between Method and bcp.
 *
 * A ContinuationEntry begins with a member of an empty class (ContinuationEntryPD), a word that is never written: _parent is
 * the second one, whether it is exported or not.
 */
static int facts_apply(struct layout_read *r)
{
	struct walk_layout *l = &r->layout;

	l->interp_method = -3;
	l->interp_sender_sp = -1;
	l->interp_bcp = l->jdk < 9 ? ARCH_INTERP_BCP_8 : ARCH_INTERP_BCP_9;
	l->unsigned5_excluded = l->jdk >= 20;
	if (l->jdk == 21 && r->thread_handle_return.offset >= 0)
		l->cont_entry = (struct walk_field){r->thread_handle_return.offset + 32, 8};
	if (l->cont_parent.offset < 0)
		l->cont_parent = (struct walk_field){8, 8};
	l->call_wrapper = 8 * (r->call_wrapper_words ? r->call_wrapper_words : ARCH_WRAPPER_WORDS);
	l->call_stub_return = mem_u64(r->mem, r->call_stub_return);
	if (!l->call_stub_return)
		return note_unavailable(r, "the call stub's return address is not set yet");
	if (l->nmethod_bytes > LAYOUT_BLOB_BYTES || l->pc_desc_bytes > LAYOUT_DESC_BYTES ||
		l->const_method_bytes > LAYOUT_CONST_BYTES)
		return note_unavailable(r, "nmethod, PcDesc or ConstMethod has an unexpected size");
	return copies_check(r);
}

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
		return note_unavailable(r, "CodeCache::_heaps has an unexpected length");
	for (uint32_t i = 0; i < count; i++)
		if (!heap_read(r, array ? mem_u64(r->mem, array + 8ull * i) : one, &l->heaps[i]))
			return note_unavailable(r, "a CodeHeap could not be read");
	l->heap_count = count;
	l->code_low = r->low_bound ? mem_u64(r->mem, r->low_bound) : l->heaps[0].low;
	l->code_high = r->high_bound ? mem_u64(r->mem, r->high_bound) : l->heaps[0].high;
	if (!l->code_low || l->code_high <= l->code_low)
		return note_unavailable(r, "the code cache's bounds could not be read");
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
static void codelet_store(
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
		return note_unavailable(r, "the interpreter's code could not be found");
	for (uint64_t at = l->interpreter_low; at < l->interpreter_high;) {
		uint64_t bytes = layout_load(&r->codelet_size, r->mem, at);
		uint64_t description = layout_load(&r->codelet_description, r->mem, at);

		if (!bytes || bytes > l->interpreter_high - at)
			break;
		if (mem_string(r->mem, description, text, LAYOUT_NAME) >= 0)
			codelet_store(l, text, at, at + bytes);
		at += bytes;
	}
	if (!l->interpreter_framed[0].low || !l->interpreter_returns[0].low)
		return note_unavailable(r, "the interpreter's entries could not be found");
	return 0;
}

/* --- all --------------------------------------------------------------------------------------------- */

static int layout_fill(struct layout_read *r)
{
	struct walk_layout *l = &r->layout;

	if (!layout_tables_read(r))
		return note_unavailable(r, "the JVM exports no gHotSpotVM tables");
	l->thread_list = r->smr_list ? r->smr_list : r->thread_list;
	/* JDK_Version::_current was removed after 21; _vm_major_version is the JDK's since 11, but 25 on JDK 8. */
	if (r->jdk_version && r->jdk_major.offset >= 0)
		l->jdk = (int32_t)layout_load(&r->jdk_major, r->mem, r->jdk_version);
	else if (r->vm_major)
		l->jdk = (int32_t)mem_u32(r->mem, r->vm_major);
	if (l->jdk < 8)
		return note_unavailable(r, "the JVM's version could not be read");
	const struct layout_row *missing = layout_missing(r, false);
	if (missing)
		return note_missing(r, "walker not available: ", missing);
	l->unloaded_classes = layout_counter_read(r, "java.cls.unloadedClasses");
	l->threads_started = layout_counter_read(r, "java.threads.started");
	struct layout_flag shared_off = layout_flag_read(r, "PerfDisableSharedMem");
	l->counters_stay = shared_off.at && !shared_off.on;
	struct layout_flag debug_info = layout_flag_read(r, "DebugNonSafepoints");
	/* Another profiler may have set the flag at run time, after some of the code was compiled. */
	l->debug_info_on = debug_info.on && !debug_info.as_built;
	l->debug_info_at = debug_info.as_built ? debug_info.at : 0;
	if (facts_apply(r) || code_cache_read(r) || interpreter_read(r))
		return -1;
	/* Without the fields for virtual threads, only their frozen frames and their carriers' frames are lost. */
	missing = layout_missing(r, true);
	if (missing) {
		l->cont_entry.offset = -1;
		note_missing(r, "virtual threads end below their carrier: ", missing);
	}
	return 0;
}

int walk_layout_read(struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_tables *tables, char *note, size_t note_bytes)
{
	struct layout_read r = {
		.mem = mem, .tables = tables, .note = note, .note_bytes = note_bytes};

	if (note_bytes)
		note[0] = '\0';
	r.layout.libjvm_start = tables->libjvm_start;
	r.layout.libjvm_end = tables->libjvm_end;
	int result = layout_fill(&r);
	*layout = r.layout;
	return result;
}

/* --- access ------------------------------------------------------------------------------------------ */

/* Reads no more than the field: a wider load would stall on recent narrower stores to the copy. */
uint64_t layout_field(const struct walk_field *field, const uint8_t *copy)
{
	const uint8_t *at = copy + (uint32_t)field->offset;
	uint32_t four;
	uint64_t eight, value = 0;

	if (field->offset < 0)
		return 0;
	if (field->bytes == 4) {
		__builtin_memcpy(&four, at, sizeof(four));
		return four;
	}
	if (field->bytes == 8) {
		__builtin_memcpy(&eight, at, sizeof(eight));
		return eight;
	}
	for (uint32_t i = field->bytes; i-- > 0;)
		value = value << 8 | at[i];
	return value;
}

uint64_t layout_load(const struct walk_field *field, const struct walk_mem *mem, uint64_t base)
{
	if (field->offset < 0 || !base)
		return 0;
	return mem_word(mem, base + (uint64_t)field->offset, field->bytes);
}

uint64_t layout_load_in_place(
	const struct walk_field *field, const struct walk_mem *mem, uint64_t base)
{
	return mem_word_in_place(mem, base + (uint64_t)field->offset, field->bytes);
}

bool layout_number(const struct walk_layout *l, const uint8_t *bytes, uint32_t *at, uint32_t *out)
{
	uint32_t excluded = (uint32_t)l->unsigned5_excluded;

	*out = 0;
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t b = bytes[(*at)++];

		if (b < excluded)
			return false;
		*out += (b - excluded) << (6 * i);
		if (b < 192)
			break;
	}
	return true;
}
