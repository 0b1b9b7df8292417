/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the code cache: segment map -> CodeBlob -> PcDesc -> scope chain. */
#include "walk/hotspot/code_cache.h"
#include "walk/hotspot/method.h"
#include "walk/load/arch.h"
#include "walk/load/mem.h"

#define SEGMAP_FREE      0xff
#define SEGMAP_STEPS     4096 /* maximum hops to a blob's first segment */
#define SMALL_BLOB_BYTES 128  /* covers CodeBlob's own fields */
#define CALL_BYTES       256  /* bytecodes examined */
#define SCOPE_BYTES      24   /* three UNSIGNED5 numbers of at most 5 bytes each, and slack */
#define TRAP_BYTES       160  /* from the target of a check to the end of its call */
#define CHECK_BRANCHES   16   /* conditional branches followed per pc */
#define CHECK_NULLS      2048 /* maximum implicit null checks of a method */
#define CHECK_CHUNK      16   /* null checks read at once */
#define ACCESS_BYTES     15   /* maximum length of an instruction */
#define DESCS_AHEAD      (12u << 10) /* debug information that is read at once */
#define SCOPES_AHEAD     1024        /* of it, scopes, whose size is unknown */
#define METHODS_AHEAD    64

/*
 * Bytecodes invokevirtual to invokedynamic, and those that the JVM substitutes for some (_fast_invokevfinal, _invokehandle),
 * whose numbers differ by one or two between JDKs.
 */
#define CALL_FIRST        0xb6
#define CALL_LAST         0xba
#define CALL_FINAL_FIRST  0xe2
#define CALL_FINAL_LAST   0xe4
#define CALL_HANDLE_FIRST 0xe8
#define CALL_HANDLE_LAST  0xea

/* --- blobs ------------------------------------------------------------------------------------------- */

/* Finds a blob's first segment: each byte of the map is the distance to hop back, 0: here, 0xff: free. */
static uint64_t block_find(const struct walk_heap *heap, const struct walk_mem *mem, uint64_t pc)
{
	uint64_t segment = (pc - heap->low) >> heap->shift;
	uint8_t back;

	for (int i = 0; i < SEGMAP_STEPS; i++) {
		if (!mem_load(mem, heap->segmap + segment, &back, 1) || back == SEGMAP_FREE ||
			back > segment)
			return 0;
		if (back == 0)
			return heap->low + (segment << heap->shift);
		segment -= back;
	}
	return 0;
}

/* Classifies a blob by the first 8 bytes of its name, which have not changed since JDK 8. */
static enum code_kind kind_of(const struct walk_mem *mem, uint64_t name, int32_t frame_words)
{
	static const struct {
		char text[9];
		uint8_t kind;
	} kinds[] = {
		{"nmethod", CODE_NMETHOD},
		{"native n", CODE_NATIVE}, /* "native nmethod" */
		{"I2C/C2I ", CODE_ADAPTER},
		{"vtable c", CODE_VTABLE}, /* "vtable chunks" */
		{"StubRout", CODE_STUBS},
		{"upcall_s", CODE_UPCALL},
	};
	enum code_kind kind = frame_words > 0 ? CODE_RUNTIME : CODE_LEAF;
	uint64_t word = mem_word(mem, name, 8);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!__builtin_memcmp(&word, kinds[i].text, sizeof(word)))
			kind = (enum code_kind)kinds[i].kind;
	if (kind == CODE_STUBS) {
		word = mem_word(mem, name + sizeof("StubRoutines ") - 1, 8);
		if (!__builtin_memcmp(&word, "(continu", sizeof(word)))
			kind = CODE_CONTINUATION;
	}
	return kind;
}

static int32_t signed_field(const struct walk_field *field, const uint8_t *copy)
{
	uint64_t value = layout_field(field, copy);

	return field->bytes == 2 ? (int16_t)value : (int32_t)value;
}

/* A part of the blob: its header has the part's address (8 bytes) or, in other releases, its offset from base. */
static uint64_t code_part(
	const struct walk_field *field, const struct code_blob *blob, uint64_t base)
{
	uint64_t value = layout_field(field, blob->copy);

	return field->bytes == 8 ? value : base + (uint32_t)value;
}

static bool blob_load(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t start,
	struct code_blob *out)
{
	/* A small blob may be followed by unmapped memory: then read only CodeBlob's own fields. */
	if (!mem_load(mem, start, out->copy, layout->nmethod_bytes) &&
		!mem_load(mem, start, out->copy, SMALL_BLOB_BYTES))
		return false;
	out->start = start;
	out->end = start + (uint32_t)layout_field(&layout->blob_size, out->copy);
	out->code = code_part(&layout->code_begin, out, start);
	out->frame_words = signed_field(&layout->blob_frame_size, out->copy);
	out->frame_complete = signed_field(&layout->blob_frame_complete, out->copy);
	out->name = layout_field(&layout->blob_name, out->copy);
	out->kind = kind_of(mem, out->name, out->frame_words);
	return true;
}

bool code_cache_find(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t pc,
	struct code_blob *out)
{
	for (uint32_t i = 0; i < layout->heap_count; i++) {
		const struct walk_heap *heap = &layout->heaps[i];

		if (pc < heap->low || pc >= heap->high)
			continue;

		uint64_t block = block_find(heap, mem, pc);

		if (!block || !mem_u8(mem, block + (uint64_t)layout->block_used.offset))
			return false;
		if (!blob_load(layout, mem, block + layout->heap_block_bytes, out))
			return false;
		return pc >= out->code && pc < out->end;
	}
	return false;
}

bool code_cache_at(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t start,
	struct code_blob *out)
{
	return mem_u8(mem,
		       start - layout->heap_block_bytes + (uint64_t)layout->block_used.offset) &&
	       blob_load(layout, mem, start, out);
}

/* --- all blobs --------------------------------------------------------------------------------------- */

/* Bytes of the block at this address. Blocks are contiguous; unused memory after them is 0 or unmapped. 0: there is none. */
static uint64_t block_bytes(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_heap *heap, uint64_t at)
{
	uint64_t bytes = layout_load(&layout->block_length, mem, at) << heap->shift;

	return bytes <= heap->high - at ? bytes : 0;
}

/* If there are several heaps, the one with the interpreter has no compiled methods. */
static bool heap_has_methods(const struct walk_layout *layout, const struct walk_heap *heap)
{
	return layout->heap_count == 1 || layout->interpreter_low < heap->low ||
	       layout->interpreter_low >= heap->high;
}

bool code_cache_fill(
	const struct walk_layout *layout, const struct walk_mem *mem, struct code_fill *out)
{
	*out = (struct code_fill){0, 0};
	for (uint32_t i = 0; layout->block_length.offset >= 0 && i < layout->heap_count; i++) {
		const struct walk_heap *heap = &layout->heaps[i];

		if (!heap_has_methods(layout, heap))
			continue;
		for (uint64_t at = heap->low, bytes; at < heap->high; at += bytes) {
			bytes = block_bytes(layout, mem, heap, at);
			if (!bytes)
				break;
			if (layout_load(&layout->block_used, mem, at))
				out->used += bytes;
		}
		out->bytes += heap->high - heap->low;
	}
	return out->used > 0;
}

bool code_cache_next(const struct walk_layout *layout, const struct walk_mem *mem,
	struct code_cursor *cursor, struct code_blob *out)
{
	for (; layout->block_length.offset >= 0 && cursor->heap < layout->heap_count;
		cursor->heap++, cursor->block = 0) {
		const struct walk_heap *heap = &layout->heaps[cursor->heap];
		uint64_t at = cursor->block ? cursor->block : heap->low, bytes = 0;

		for (; heap_has_methods(layout, heap) && at < heap->high; at += bytes) {
			bytes = block_bytes(layout, mem, heap, at);
			if (!bytes)
				break;
			if (!layout_load(&layout->block_used, mem, at) ||
				!blob_load(layout, mem, at + layout->heap_block_bytes, out) ||
				out->kind != CODE_NMETHOD)
				continue;
			cursor->block = at + bytes;
			return true;
		}
	}
	return false;
}

/* --- nmethod's parts --------------------------------------------------------------------------------- */

/*
 * Owner id of an nmethod's debug information, which never changes: no other nmethod at this address has the same compile id.
 * 0: unknown, or the debug information is in the code cache.
 */
static uint64_t owner_of(const struct walk_layout *layout, const struct code_blob *blob)
{
	int32_t id = layout->compile_id.offset < 0 || layout->immutable_data.offset < 0
			     ? 0
			     : (int32_t)layout_field(&layout->compile_id, blob->copy);

	return blob->kind == CODE_NMETHOD && id > 0
		       ? (uint64_t)(uint32_t)id << 32 | (uint32_t)blob->start
		       : 0;
}

static uint64_t immutable_base(const struct walk_layout *layout, const struct code_blob *blob)
{
	return layout->immutable_data.offset >= 0
		       ? layout_field(&layout->immutable_data, blob->copy)
		       : blob->start;
}

static uint64_t scopes_begin(const struct walk_layout *layout, const struct code_blob *blob)
{
	return code_part(&layout->scopes_data, blob, immutable_base(layout, blob));
}

/* JDK 8-22: dependencies follow the PcDescs; since 23 the scopes do. */
static uint64_t descs_end(const struct walk_layout *layout, const struct code_blob *blob)
{
	if (layout->immutable_data.offset >= 0)
		return scopes_begin(layout, blob);
	return code_part(&layout->dependencies_offset, blob, blob->start);
}

/* JDK 8-22: offset from the blob; 23, 24: from its data; since 25 after the relocations. */
static uint64_t metadata_begin(const struct walk_layout *layout, const struct code_blob *blob)
{
	uint64_t base = blob->start;

	if (layout->mutable_data.offset >= 0)
		return code_part(&layout->relocation_size, blob,
			layout_field(&layout->mutable_data, blob->copy));
	if (layout->immutable_data.offset >= 0)
		base = code_part(&layout->data_offset, blob, base);
	return code_part(&layout->metadata_offset, blob, base);
}

uint64_t code_method(const struct walk_layout *layout, const struct code_blob *blob)
{
	return layout_field(&layout->nmethod_method, blob->copy);
}

uint64_t code_of_method(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t method)
{
	return layout_load(&layout->method_code, mem, method);
}

uint64_t code_verified_entry(const struct walk_layout *layout, const struct code_blob *blob)
{
	return code_part(&layout->verified_entry, blob, blob->code);
}

uint64_t code_osr_entry(const struct walk_layout *layout, const struct code_blob *blob)
{
	if (layout->entry_bci.offset < 0 ||
		(int32_t)layout_field(&layout->entry_bci, blob->copy) < 0)
		return 0;
	return layout_field(&layout->osr_entry, blob->copy);
}

bool code_is_deopt(const struct walk_layout *layout, const struct code_blob *blob, uint64_t pc)
{
	return pc == code_part(&layout->deopt, blob, blob->start) ||
	       (layout->deopt_mh.offset >= 0 &&
		       pc == code_part(&layout->deopt_mh, blob, blob->start));
}

uint64_t code_orig_pc_slot(
	const struct walk_layout *layout, const struct code_blob *blob, uint64_t sp)
{
	return code_part(&layout->orig_pc_offset, blob, sp);
}

/* --- PcDesc ------------------------------------------------------------------------------------------ */

static uint64_t descs_begin(const struct walk_layout *layout, const struct code_blob *blob)
{
	return code_part(&layout->scopes_pcs_offset, blob, immutable_base(layout, blob));
}

/* Prefetches debug information outside of the code cache: PcDescs in [begin, end), the scopes after them, and their Methods. */
static void descs_prefetch(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, uint64_t begin, uint64_t end)
{
	struct walk_part parts[2] = {
		{begin, end - begin + SCOPES_AHEAD}, {metadata_begin(layout, blob), METHODS_AHEAD}};

	if (parts[0].bytes <= DESCS_AHEAD)
		mem_prefetch(mem, owner_of(layout, blob), parts, 2);
}

bool code_desc_find(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, uint64_t pc, struct code_desc *out)
{
	uint64_t begin = descs_begin(layout, blob);
	uint64_t end = descs_end(layout, blob), owner = owner_of(layout, blob);
	int64_t offset = (int64_t)(pc - blob->code);

	if (end <= begin || end - begin > (64u << 20))
		return false;
	if (owner)
		descs_prefetch(layout, mem, blob, begin, end);

	/* Invariant: descs before low are before pc, descs from high on are not. */
	uint64_t low = 0, high = (end - begin) / layout->pc_desc_bytes;
	bool found = false;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		uint64_t at = begin + middle * layout->pc_desc_bytes;
		uint8_t copy[LAYOUT_DESC_BYTES];

		if (!mem_load_constant(mem, owner, at, copy, layout->pc_desc_bytes))
			return false;
		int32_t pc_offset = (int32_t)layout_field(&layout->pc_desc_pc, copy);
		if (pc_offset < offset) {
			low = middle + 1;
		} else {
			high = middle;
			out->pc_offset = pc_offset;
			out->scope = (int32_t)layout_field(&layout->pc_desc_scope, copy);
			found = true;
		}
	}
	/* The last desc is a sentinel beyond all code. */
	return found && (uint64_t)(uint32_t)out->pc_offset <= blob->end - blob->code;
}

/* --- scopes ------------------------------------------------------------------------------------------ */

bool code_scope_read(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, int32_t offset, struct code_scope *out)
{
	uint8_t bytes[SCOPE_BYTES] = {0};
	uint64_t addr = scopes_begin(layout, blob) + (uint32_t)offset;
	uint64_t owner = owner_of(layout, blob);
	uint32_t at = 0, sender, method, bci;

	/* A blob's scopes are never the last bytes of their mapping, but may be of a copy: retry with the minimum. */
	if (!mem_load_constant(mem, owner, addr, bytes, 16) && !mem_load(mem, addr, bytes, 3))
		return false;
	if (!layout_number(layout, bytes, &at, &sender) ||
		!layout_number(layout, bytes, &at, &method) ||
		!layout_number(layout, bytes, &at, &bci))
		return false;
	out->sender = (int32_t)sender;
	out->bci = (int32_t)bci - 1;
	out->method = 0;
	if (method &&
		!mem_load_constant(mem, owner, metadata_begin(layout, blob) + 8ull * (method - 1),
			&out->method, sizeof(out->method)))
		out->method = 0;
	return true;
}

/* --- missing inlining info --------------------------------------------------------------------------- */

static bool is_call(uint8_t code)
{
	return (code >= CALL_FIRST && code <= CALL_LAST) ||
	       (code >= CALL_FINAL_FIRST && code <= CALL_FINAL_LAST) ||
	       (code >= CALL_HANDLE_FIRST && code <= CALL_HANDLE_LAST);
}

/*
 * True when the nmethod's method calls any method, which may be inlined. Overestimates: operands that look like calls count,
 * and so do methods longer than CALL_BYTES.
 */
static bool calls_any(
	const struct walk_layout *layout, const struct walk_mem *mem, const struct code_blob *blob)
{
	uint64_t method = code_method(layout, blob), owner = owner_of(layout, blob);
	uint64_t const_method, word;
	uint8_t copy[LAYOUT_CONST_BYTES];

	if (!mem_plausible(method) ||
		!mem_load_constant(mem, owner, method + (uint64_t)layout->method_const.offset,
			&const_method, sizeof(const_method)) ||
		!mem_plausible(const_method) ||
		!mem_load_constant(mem, owner, const_method, copy, layout->const_method_bytes))
		return false;
	uint64_t code = const_method + layout->const_method_bytes;
	uint32_t bytes = (uint16_t)layout_field(&layout->const_code_size, copy);
	for (uint32_t i = 0; i < bytes; i += 8) {
		if (i >= CALL_BYTES)
			return true;
		if (!mem_load_constant(mem, owner, code + i, &word, sizeof(word)))
			return false;
		for (uint32_t k = i; k < i + 8 && k < bytes; k++, word >>= 8)
			if (is_call((uint8_t)word))
				return true;
	}
	return false;
}

/*
 * Each safepoint has one PcDesc and one oop map. Additional PcDescs mean debug information between safepoints, except for two:
 * one before the first instruction and one after the last. Inlined methods without a safepoint inside may leave no trace.
 */
bool code_lacks_inlining(
	const struct walk_layout *layout, const struct walk_mem *mem, const struct code_blob *blob)
{
	uint64_t begin = descs_begin(layout, blob), end = descs_end(layout, blob);
	uint64_t maps = layout_field(&layout->oop_maps, blob->copy);
	uint32_t map_count = 0;

	if (layout->oop_maps.offset < 0 || layout->oop_map_count.offset < 0)
		return false;
	if (maps && !mem_load_constant(mem, owner_of(layout, blob),
			    maps + (uint32_t)layout->oop_map_count.offset, &map_count,
			    sizeof(map_count)))
		return false;
	return (end - begin) / layout->pc_desc_bytes <= 2ull + map_count &&
	       calls_any(layout, mem, blob);
}

/* --- checks ------------------------------------------------------------------------------------------ */

/* The PcDesc of the uncommon trap that the code at pc calls. False if it calls something else, or nothing soon. */
static bool trap_desc(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, uint64_t pc, struct code_desc *out)
{
	static const char UNCOMMON[] = "Uncommon"; /* UncommonTrapBlob */
	uint64_t word;

	if (pc < blob->code || pc >= blob->end || !code_desc_find(layout, mem, blob, pc, out))
		return false;
	uint64_t back = blob->code + (uint32_t)out->pc_offset;
	uint64_t target = back - pc <= TRAP_BYTES ? arch_call_target(mem, back) : 0;
	for (uint32_t i = 0; target && i < layout->heap_count; i++) {
		const struct walk_heap *heap = &layout->heaps[i];

		if (target < heap->low || target >= heap->high)
			continue;
		uint64_t block = block_find(heap, mem, target);
		if (!block)
			return false;
		word = mem_word(mem,
			layout_load(&layout->blob_name, mem, block + layout->heap_block_bytes), 8);
		return !__builtin_memcmp(&word, UNCOMMON, sizeof(word));
	}
	return false;
}

/*
 * Finds the first implicit null check whose instruction ends at or after pc and begins before *limit, and lowers *limit to it.
 * The table: a count, then pairs of offsets from the start of the code: of the instruction, and of its fault target.
 */
static bool null_check_find(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, uint64_t pc, uint64_t *limit, struct code_desc *out)
{
	uint64_t table = code_part(&layout->null_checks, blob, immutable_base(layout, blob));
	uint64_t owner = owner_of(layout, blob);
	uint32_t pairs[CHECK_CHUNK][2], count;
	struct code_desc desc;
	bool found = false;

	/* Up to JDK 22 an empty table is at the end of the blob. */
	if (table == blob->end || !mem_load_constant(mem, owner, table, &count, sizeof(count)) ||
		count > CHECK_NULLS)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = i % CHECK_CHUNK, left = count - i;

		if (!k && !mem_load_constant(mem, owner, table + 4 + 8ull * i, pairs,
				  8ull * (left < CHECK_CHUNK ? left : CHECK_CHUNK)))
			return found;
		uint64_t at = blob->code + pairs[k][0];
		if (at < *limit && at + ACCESS_BYTES >= pc &&
			(at >= pc || arch_access_end(mem, at) >= pc) &&
			trap_desc(layout, mem, blob, blob->code + pairs[k][1], &desc)) {
			*limit = at;
			*out = desc;
			found = true;
		}
	}
	return found;
}

/* Finds the first conditional branch to an uncommon trap that begins in [at, limit). */
static bool branch_find(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, uint64_t at, uint64_t limit, struct code_desc *out)
{
	struct code_desc trap;
	uint64_t target;

	for (int i = 0; i < CHECK_BRANCHES && arch_branch_next(mem, &at, limit, &target); i++)
		if (trap_desc(layout, mem, blob, target, &trap)) {
			*out = trap;
			return true;
		}
	return false;
}

bool code_check_find(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, uint64_t pc, struct code_desc *desc)
{
	uint64_t limit = blob->code + (uint32_t)desc->pc_offset, ends = pc - ARCH_BRANCH_BYTES;
	bool found = false;

	if (layout->null_checks.offset >= 0)
		found = null_check_find(layout, mem, blob, pc, &limit, desc);
	return branch_find(layout, mem, blob, ends, ends + 1, desc) ||
	       branch_find(layout, mem, blob, pc, limit, desc) || found;
}
