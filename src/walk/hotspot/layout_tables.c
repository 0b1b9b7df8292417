/* SPDX-License-Identifier: Apache-2.0 */
/* Reads vmStructs.cpp's tables by the variables that give each entry's stride and the offsets of its parts. */
#include "walk/hotspot/layout_read.h"

#include "walk/load/mem.h"

/* The value of a variable that HotSpot exports; 0 if there is no such symbol. */
static uint64_t symbol_value(const struct layout_read *r, const char *name)
{
	uint64_t addr = r->tables->symbol(r->tables->ctx, name);

	return addr ? mem_u64(r->mem, addr) : 0;
}

/* Widths of the types that vary between releases; all others must be given by the row. */
static uint8_t type_bytes(const char *type)
{
	static const struct {
		const char *name;
		uint8_t bytes;
	} widths[] = {{"int", 4}, {"int16_t", 2}, {"u2", 2}, {"short", 2}, {"uint", 4},
		{"int32_t", 4}, {"uint32_t", 4}, {"size_t", 8}};

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		if (text_equal(type, widths[i].name))
			return widths[i].bytes;
	return 0;
}

/* Width of a field; 0: unknown. */
static uint8_t field_bytes(const struct layout_row *row, const char *type)
{
	static const uint8_t bytes[] = {8, 4, 2, 1};
	unsigned width = (row->kind & FIELD_BYTES) / FIELD_4;

	return width < sizeof(bytes) ? bytes[width] : type_bytes(type);
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

/* --- all --------------------------------------------------------------------------------------------- */

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
