/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the tables of vmStructs.cpp, using the exported variables that give the stride of entries and the offsets of their
 * parts; finds performance counters and options by name.
 */
#include "walk/hotspot/layout_read.h"

#include "walk/load/mem.h"

/* The value of a variable that HotSpot exports; 0 if there is no such symbol. */
static uint64_t symbol_value(const struct layout_read *r, const char *name)
{
	uint64_t addr = r->tables->symbol(r->tables->ctx, name);

	return addr ? mem_u64(r->mem, addr) : 0;
}

/* Width of a field: that of its row or, where it varies between releases, that of its type; 0: unknown. */
static uint8_t field_bytes(const struct layout_row *row, const char *type)
{
	static const uint8_t bytes[] = {8, 4, 2, 1};
	static const struct {
		const char *name;
		uint8_t bytes;
	} types[] = {{"int", 4}, {"int16_t", 2}, {"u2", 2}, {"short", 2}, {"uint", 4},
		{"int32_t", 4}, {"uint32_t", 4}, {"size_t", 8}};
	unsigned width = (row->kind & FIELD_BYTES) / FIELD_4;

	if (width < sizeof(bytes))
		return bytes[width];
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (text_equal(type, types[i].name))
			return types[i].bytes;
	return 0;
}

static void *dest_of(struct layout_read *r, const struct layout_row *row)
{
	return (char *)r + row->dest;
}

/* --- fields ------------------------------------------------------------------------------------------ */

struct struct_entry {
	char type[LAYOUT_NAME], field[LAYOUT_NAME], type_string[LAYOUT_NAME];
	uint32_t is_static;
	uint64_t offset, address;
};

static void struct_entry_store(struct layout_read *r, const struct struct_entry *e)
{
	uint8_t kind = e->is_static ? STATIC : FIELD;

	for (size_t i = 0; i < LAYOUT_ROWS; i++) {
		const struct layout_row *row = &layout_rows[i];

		if ((row->kind & KIND) != kind || !text_equal(row->type, e->type) ||
			!text_equal(row->field, e->field))
			continue;
		if (kind == STATIC) {
			*(uint64_t *)dest_of(r, row) = e->address;
		} else {
			struct walk_field *field = dest_of(r, row);

			field->bytes = field_bytes(row, e->type_string);
			if (!field->bytes)
				continue;
			field->offset = (int32_t)e->offset;
		}
		r->found[i] = true;
	}
}

static bool structs_read(struct layout_read *r)
{
	uint64_t entry = symbol_value(r, "gHotSpotVMStructs");
	uint64_t stride = symbol_value(r, "gHotSpotVMStructEntryArrayStride");
	uint64_t type = symbol_value(r, "gHotSpotVMStructEntryTypeNameOffset");
	uint64_t field = symbol_value(r, "gHotSpotVMStructEntryFieldNameOffset");
	uint64_t type_string = symbol_value(r, "gHotSpotVMStructEntryTypeStringOffset");
	uint64_t is_static = symbol_value(r, "gHotSpotVMStructEntryIsStaticOffset");
	uint64_t offset = symbol_value(r, "gHotSpotVMStructEntryOffsetOffset");
	uint64_t address = symbol_value(r, "gHotSpotVMStructEntryAddressOffset");
	struct struct_entry e;

	if (!entry || !stride)
		return false;
	for (;; entry += stride) {
		if (mem_string(r->mem, mem_u64(r->mem, entry + type), e.type, LAYOUT_NAME) < 0)
			return true;
		if (mem_string(r->mem, mem_u64(r->mem, entry + field), e.field, LAYOUT_NAME) < 0)
			return true;
		if (mem_string(r->mem, mem_u64(r->mem, entry + type_string), e.type_string,
			    LAYOUT_NAME) < 0)
			e.type_string[0] = '\0';
		e.is_static = mem_u32(r->mem, entry + is_static);
		e.offset = mem_u64(r->mem, entry + offset);
		e.address = mem_u64(r->mem, entry + address);
		struct_entry_store(r, &e);
	}
}

/* --- sizes and constants ----------------------------------------------------------------------------- */

/* These tables share one shape: a name and a number. */
static const struct number_table {
	uint8_t kind;
	const char *first, *stride, *name, *value;
} number_tables[] = {
	{SIZE, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride",
		"gHotSpotVMTypeEntryTypeNameOffset", "gHotSpotVMTypeEntrySizeOffset"},
	{INT, "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
		"gHotSpotVMIntConstantEntryNameOffset", "gHotSpotVMIntConstantEntryValueOffset"},
	{LONG, "gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntryArrayStride",
		"gHotSpotVMLongConstantEntryNameOffset", "gHotSpotVMLongConstantEntryValueOffset"},
};
#define NUMBER_TABLES (sizeof(number_tables) / sizeof(number_tables[0]))

static bool numbers_read(struct layout_read *r, const struct number_table *t)
{
	uint64_t entry = symbol_value(r, t->first);
	uint64_t stride = symbol_value(r, t->stride);
	uint64_t name_at = symbol_value(r, t->name);
	uint64_t value_at = symbol_value(r, t->value);
	char name[LAYOUT_NAME];

	if (!entry || !stride)
		return false;
	for (; mem_string(r->mem, mem_u64(r->mem, entry + name_at), name, sizeof(name)) >= 0;
		entry += stride) {
		for (size_t i = 0; i < LAYOUT_ROWS; i++) {
			const struct layout_row *row = &layout_rows[i];

			if ((row->kind & KIND) != t->kind || !text_equal(row->type, name))
				continue;
			*(uint32_t *)dest_of(r, row) = mem_u32(r->mem, entry + value_at);
			r->found[i] = true;
		}
	}
	return true;
}

/* --- all tables -------------------------------------------------------------------------------------- */

bool layout_tables_read(struct layout_read *r)
{
	for (size_t i = 0; i < LAYOUT_ROWS; i++)
		if ((layout_rows[i].kind & KIND) == FIELD)
			((struct walk_field *)dest_of(r, &layout_rows[i]))->offset = -1;
	if (!structs_read(r))
		return false;
	for (size_t i = 0; i < NUMBER_TABLES; i++)
		if (!numbers_read(r, &number_tables[i]))
			return false;
	return true;
}

const struct layout_row *layout_missing(const struct layout_read *r, bool virtual)
{
	int32_t jdk = r->layout.jdk;

	for (size_t i = 0, next; i < LAYOUT_ROWS; i = next) {
		bool have = r->found[i];

		for (next = i + 1; next < LAYOUT_ROWS && layout_rows[next].kind & OR; next++)
			have |= r->found[next];
		if (virtual != !!(layout_rows[i].kind & VIRTUAL))
			continue;
		for (size_t k = i; k < next && !have; k++)
			if (jdk >= layout_rows[k].since && jdk <= layout_rows[k].until)
				return &layout_rows[k];
	}
	return NULL;
}

/* --- counters ---------------------------------------------------------------------------------------- */

/*
 * Layout of the counters' memory (HotSpot: perfMemory.hpp, version 2.0):
 *
 *   prologue  u4 magic, u1 byte order, u1 2, u1 0, u1 accessible, i4 used, i4, i8, i4 first entry, i4 entries
 *   entry     i4 bytes, i4 name's offset, i4, u1 type, u1, u1, u1, i4 value's offset
 */
#define PROLOGUE_MAJOR   5
#define PROLOGUE_USED    8
#define PROLOGUE_FIRST   24
#define PROLOGUE_ENTRIES 28
#define PERF_MAJOR       2
#define PERF_BYTES_MAX   (4u << 20)
#define PERF_MAGIC       0xc0c0fecau /* ca fe c0 c0 in memory */

#define ENTRY_NAME       4
#define ENTRY_TYPE       12
#define ENTRY_VALUE      16
#define ENTRY_BYTES      20
#define TYPE_LONG        'J'

#define FLAGS_MAX        5000

/* The low bits of JVMFlag::_flags are the origin of the value; 0: the built-in default. */
#define ORIGIN_MASK 15u

static uint64_t counter_find(const struct walk_mem *mem, uint64_t start, const char *wanted)
{
	uint32_t used = mem_u32(mem, start + PROLOGUE_USED);
	uint32_t at = mem_u32(mem, start + PROLOGUE_FIRST);
	char name[64];

	for (uint32_t n = mem_u32(mem, start + PROLOGUE_ENTRIES); n; n--) {
		uint32_t bytes = mem_u32(mem, start + at);
		uint32_t name_at = mem_u32(mem, start + at + ENTRY_NAME);
		uint32_t value_at = mem_u32(mem, start + at + ENTRY_VALUE);

		if (bytes < ENTRY_BYTES || at > used || bytes > used - at || name_at >= bytes ||
			value_at + 8ull > bytes)
			return 0;
		if (mem_u8(mem, start + at + ENTRY_TYPE) == TYPE_LONG &&
			mem_string(mem, start + at + name_at, name, sizeof(name)) > 0 &&
			text_equal(name, wanted))
			return start + at + value_at;
		at += bytes;
	}
	return 0;
}

uint64_t layout_counter_read(const struct layout_read *r, const char *name)
{
	uint64_t start = r->perf_start ? mem_u64(r->mem, r->perf_start) : 0;

	if (!start || mem_u32(r->mem, start) != PERF_MAGIC ||
		mem_u8(r->mem, start + PROLOGUE_MAJOR) != PERF_MAJOR ||
		mem_u32(r->mem, start + PROLOGUE_USED) > PERF_BYTES_MAX)
		return 0;
	return counter_find(r->mem, start, name);
}

/* --- options ----------------------------------------------------------------------------------------- */

struct layout_flag layout_flag_read(const struct layout_read *r, const char *name)
{
	uint64_t flag = r->flags ? mem_u64(r->mem, r->flags) : 0;
	uint32_t count = flag && r->flag_count ? mem_u32(r->mem, r->flag_count) : 0;
	char text[LAYOUT_NAME];

	if (count > FLAGS_MAX || !r->flag_bytes)
		return (struct layout_flag){0};
	for (; count; count--, flag += r->flag_bytes) {
		uint64_t at = layout_load(&r->flag_at, r->mem, flag);

		if (mem_string(r->mem, layout_load(&r->flag_name, r->mem, flag), text,
			    sizeof(text)) <= 0 ||
			!text_equal(text, name))
			continue;
		return (struct layout_flag){.at = at,
			.on = mem_u8(r->mem, at) == 1,
			.as_built = r->flag_origin.offset >= 0 &&
				    !(layout_load(&r->flag_origin, r->mem, flag) & ORIGIN_MASK)};
	}
	return (struct layout_flag){0};
}
