/* SPDX-License-Identifier: Apache-2.0 */
/* Object headers, references, and field lists of classes. */
#include "walk/hotspot/oop.h"

#include "walk/hotspot/method.h"
#include "walk/load/mem.h"

#define STREAM_BYTES 512 /* maximum size of a class's field list */

/* Kinds of object headers, by where the class is. */
enum { HEADER_NARROW, HEADER_COMPACT, HEADER_WHOLE, HEADERS };

static uint64_t header_klass(
	const struct walk_layout *l, const struct walk_mem *mem, uint8_t kind, uint64_t object)
{
	uint64_t base = mem_u64(mem, l->narrow_klass_base);
	uint32_t shift = mem_u32(mem, l->narrow_klass_shift) & 31;
	uint64_t header[2];

	if (!mem_plausible(object) || !mem_load(mem, object, header, sizeof(header)))
		return 0;
	if (kind == HEADER_NARROW)
		return base + ((uint64_t)(uint32_t)header[1] << shift);
	if (kind == HEADER_COMPACT)
		return l->mark_klass_shift
			       ? base + (header[0] >> (l->mark_klass_shift & 63) << shift)
			       : 0;
	return header[1];
}

static uint64_t reference(const struct walk_mem *mem, uint64_t addr)
{
	return mem_plausible(addr) ? oop_uncolored(mem_u64(mem, addr)) : 0;
}

static uint64_t narrow_reference(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t addr)
{
	uint64_t narrow = mem_u32(mem, addr);

	return narrow ? mem_u64(mem, l->narrow_oop_base) +
				(narrow << (mem_u32(mem, l->narrow_oop_shift) & 7))
		      : 0;
}

/* --- objects of a known class ------------------------------------------------------------------------ */

bool oop_klass_is(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass, const char *name)
{
	return mem_plausible(klass) &&
	       symbol_is(l, mem, layout_load(&l->klass_name, mem, klass), name);
}

uint64_t oop_klass(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t object, const char *name)
{
	for (uint8_t kind = 0; kind < HEADERS; kind++) {
		uint64_t klass = header_klass(l, mem, kind, object);

		if (oop_klass_is(l, mem, klass, name))
			return klass;
	}
	return 0;
}

uint64_t oop_follow(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t addr, const char *name)
{
	uint64_t object = narrow_reference(l, mem, addr);

	if (oop_klass(l, mem, object, name))
		return object;
	object = reference(mem, addr);
	return oop_klass(l, mem, object, name) ? object : 0;
}

/* --- objects of any class ---------------------------------------------------------------------------- */

uint32_t oop_klass_name(const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass,
	char *out, uint32_t cap)
{
	uint64_t symbol = mem_plausible(klass) ? layout_load(&l->klass_name, mem, klass) : 0;
	uint64_t bytes = mem_plausible(symbol) ? layout_load(&l->symbol_length, mem, symbol) : 0;

	if (bytes > cap)
		bytes = cap;
	if (!bytes || !mem_load(mem, symbol + (uint64_t)l->symbol_body.offset, out, bytes))
		return 0;
	/* A name never has control characters; other memory does. */
	for (uint32_t i = 0; i < bytes; i++)
		if ((uint8_t)out[i] < ' ')
			return 0;
	return (uint32_t)bytes;
}

static uint64_t klass_of(const struct oop_mode *mode, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t object)
{
	uint64_t klass = header_klass(l, mem, mode->header, object);
	char first[4];

	return oop_klass_name(l, mem, klass, first, sizeof(first)) ? klass : 0;
}

struct oop oop_slot(const struct oop_mode *mode, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t addr)
{
	uint64_t object = reference(mem, addr);
	struct oop oop = {object, klass_of(mode, l, mem, object)};

	return oop.klass ? oop : (struct oop){0, 0};
}

struct oop oop_held(const struct oop_mode *mode, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t addr)
{
	struct oop oop = oop_slot(mode, l, mem, mem_u64(mem, addr));

	return oop.klass ? oop : oop_slot(mode, l, mem, addr);
}

static uint64_t field_object(const struct oop_mode *mode, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t addr)
{
	return mode->narrow ? narrow_reference(l, mem, addr) : reference(mem, addr);
}

struct oop oop_field(const struct oop_mode *mode, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t addr)
{
	uint64_t object = field_object(mode, l, mem, addr);

	return (struct oop){object, klass_of(mode, l, mem, object)};
}

uint64_t oop_field_of(const struct oop_mode *mode, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t addr, uint64_t klass)
{
	uint64_t object = field_object(mode, l, mem, addr);

	return klass && header_klass(l, mem, mode->header, object) == klass ? object : 0;
}

uint64_t oop_field_word(const struct oop_mode *mode, const struct walk_mem *mem, uint64_t addr)
{
	return mode->narrow ? mem_u32(mem, addr) : mem_u64(mem, addr);
}

/* Offset of an array's length, after the header; since JDK 23 the elements follow it directly. */
static uint32_t array_length_at(const struct oop_mode *mode)
{
	static const uint32_t at[HEADERS] = {
		[HEADER_NARROW] = 12, [HEADER_COMPACT] = 8, [HEADER_WHOLE] = 16};

	return at[mode->header];
}

uint32_t oop_array_length(const struct oop_mode *mode, const struct walk_mem *mem, uint64_t object)
{
	return mem_u32(mem, object + array_length_at(mode));
}

uint64_t oop_array_data(const struct oop_mode *mode, const struct walk_layout *l, uint64_t object)
{
	uint64_t at = object + array_length_at(mode) + 4;

	return mode->header == HEADER_WHOLE && l->jdk < 23 ? (at + 7) & ~7ull : at;
}

uint64_t oop_array_at(
	const struct oop_mode *mode, const struct walk_layout *l, uint64_t object, uint32_t i)
{
	uint32_t bytes = mode->narrow ? 4 : 8;
	uint64_t at = oop_array_data(mode, l, object);

	return ((at + bytes - 1) & ~(uint64_t)(bytes - 1)) + (uint64_t)i * bytes;
}

bool oop_mode_find(struct oop_mode *mode, const struct walk_layout *l, const struct walk_mem *mem,
	uint64_t slot, const char *name, uint32_t offset)
{
	for (uint8_t header = 0; header < HEADERS; header++) {
		struct oop_mode m = {.known = true, .header = header, .narrow = true};
		struct oop of = oop_slot(&m, l, mem, slot);

		if (!oop_klass_is(l, mem, of.klass, name))
			continue;
		for (int narrow = 1; narrow >= 0; narrow--) {
			m.narrow = narrow != 0;
			uint64_t klass = oop_field(&m, l, mem, of.object + offset).klass;
			if (!oop_klass_is(l, mem, klass, "java/lang/String") &&
				!oop_klass_is(l, mem, klass, "[C"))
				continue;
			*mode = m;
			return true;
		}
	}
	return false;
}

uint64_t oop_object_class(const struct walk_layout *l, const struct walk_mem *mem, uint64_t object)
{
	uint64_t klass = mem_u64(mem, object + mem_u32(mem, l->class_klass));
	char first[4];

	return oop_klass_name(l, mem, klass, first, sizeof(first)) ? klass : 0;
}

uint64_t oop_class(const struct walk_layout *l, const struct walk_mem *mem, uint64_t addr)
{
	return oop_object_class(l, mem, reference(mem, addr));
}

uint32_t oop_bytes(const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass)
{
	/* The layout helper of an instance class is the size; its low bit only selects the allocation path. */
	return (uint32_t)layout_load(&l->klass_layout_helper, mem, klass) & ~7u;
}

/* --- fields ------------------------------------------------------------------------------------------ */

/*
 * The list of a class's fields. Since JDK 21 it consists of UNSIGNED5 numbers: two counts, then for each field name, signature,
 * offset, access flags, field flags, and one more number for each of three of these flags. Before, it is an array of six
 * 16-bit numbers per field: flags, name, signature, initial value, and the offset in two halves, above a tag of two bits.
 */
struct field_reader {
	const struct walk_layout *layout;
	const struct walk_mem *mem;
	uint64_t tuples; /* old format, address of the array; 0: UNSIGNED5 numbers */
	uint8_t bytes[STREAM_BYTES + 8];
	uint32_t at, length; /* in bytes, or in tuples */
};

struct field {
	uint32_t name, offset;
	bool injected; /* added by HotSpot: its name is not in the class's constant pool */
};

static bool next(struct field_reader *r, uint32_t *out)
{
	return r->at < r->length && layout_number(r->layout, r->bytes, &r->at, out);
}

static bool fields_open(struct field_reader *r, const struct walk_layout *l,
	const struct walk_mem *mem, uint64_t klass)
{
	bool old = l->klass_fields.offset < 0;
	uint64_t array = layout_load(old ? &l->klass_fields_old : &l->klass_fields, mem, klass);
	uint32_t length = mem_u32(mem, array), skipped; /* Array: int length, data */

	r->layout = l;
	r->mem = mem;
	r->at = 0;
	r->tuples = old ? array + 4 : 0;
	r->length = old ? length / 6 : length;
	if (r->length > STREAM_BYTES)
		r->length = STREAM_BYTES;
	if (old || !mem_plausible(array))
		return mem_plausible(array);
	for (uint32_t i = 0; i < 8; i++)
		r->bytes[r->length + i] = 0;
	return mem_load(mem, array + 4, r->bytes, r->length) && next(r, &skipped) &&
	       next(r, &skipped);
}

static bool tuple_next(struct field_reader *r, struct field *out)
{
	uint16_t tuple[6];

	if (r->at == r->length ||
		!mem_load(r->mem, r->tuples + sizeof(tuple) * r->at++, tuple, sizeof(tuple)))
		return false;
	*out = (struct field){
		.name = tuple[1], .offset = ((uint32_t)tuple[5] << 16 | tuple[4]) >> 2};
	return true;
}

static bool field_next(struct field_reader *r, struct field *out)
{
	const struct walk_layout *l = r->layout;
	uint32_t optional = 1u << (l->field_initialized & 31) | 1u << (l->field_generic & 31) |
			    1u << (l->field_contended & 31);
	uint32_t skipped, flags;

	if (r->tuples)
		return tuple_next(r, out);
	if (!next(r, &out->name) || !next(r, &skipped) || !next(r, &out->offset) ||
		!next(r, &skipped) || !next(r, &flags))
		return false;
	for (uint32_t left = flags & optional; left; left &= left - 1)
		if (!next(r, &skipped))
			return false;
	out->injected = flags >> (l->field_injected & 31) & 1;
	return true;
}

bool oop_fields(const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass,
	const char *const *names, uint32_t *offsets, uint32_t count)
{
	uint64_t pool = layout_load(&l->klass_constants, mem, klass);
	uint64_t length = layout_load(&l->pool_length, mem, pool);
	uint32_t found = 0;
	struct field_reader r;
	struct field field;

	if (!fields_open(&r, l, mem, klass))
		return false;
	while (found != (1u << count) - 1 && field_next(&r, &field)) {
		if (field.injected || field.name >= length)
			continue;

		uint64_t symbol = mem_u64(mem, pool + l->constant_pool_bytes + 8ull * field.name);

		for (uint32_t i = 0; i < count; i++) {
			if (!symbol_is(l, mem, symbol & ~3ull, names[i]))
				continue;
			offsets[i] = field.offset;
			found |= 1u << i;
		}
	}
	return found == (1u << count) - 1;
}

uint32_t oop_injected_field(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass, uint32_t n)
{
	struct field_reader r;
	struct field field;

	if (fields_open(&r, l, mem, klass))
		while (field_next(&r, &field))
			if (field.injected && !n--)
				return field.offset;
	return 0;
}
