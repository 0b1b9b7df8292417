/* SPDX-License-Identifier: Apache-2.0 */
/* Reads vmStructs.cpp's tables by the variables that say how wide an entry is and where its parts are. */
#include "walk/hotspot/exported.h"

#include "walk/load/mem.h"
#include "walk/load/text.h"

struct reader {
	const struct exported_table *table;
	const struct walk_mem *mem;
	const struct walk_tables *tables;
	char *base;
	bool *found;
};

/* The value of an exported variable of HotSpot's; 0 if there is no such symbol. */
static uint64_t symbol_value(struct reader *r, const char *stem, const char *suffix)
{
	char name[EXPORTED_NAME];
	size_t n = 0;

	for (; *stem; stem++)
		name[n++] = *stem;
	for (; *suffix && n + 1 < sizeof(name); suffix++)
		name[n++] = *suffix;
	name[n] = '\0';

	uint64_t addr = r->tables->symbol(r->tables->ctx, name);

	return addr ? mem_u64(r->mem, addr) : 0;
}

/* Widths of the types that vary between releases; what is not here must be given by the row. */
static uint8_t type_bytes(const char *type)
{
	static const struct {
		const char *name;
		uint8_t bytes;
	} widths[] = {
		{"int", 4}, {"int16_t", 2}, {"u2", 2}, {"short", 2}, {"uint", 4}, {"int32_t", 4}};

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		if (text_equal(type, widths[i].name))
			return widths[i].bytes;
	return 0;
}

static uint8_t row_kind(const struct exported_row *row)
{
	return row->kind & EXPORTED_KIND;
}

/* --- fields ------------------------------------------------------------------------------------------ */

struct struct_entry {
	char type[EXPORTED_NAME], field[EXPORTED_NAME], type_string[EXPORTED_NAME];
	uint32_t is_static;
	uint64_t offset, address;
};

static void struct_entry_store(struct reader *r, const struct struct_entry *e)
{
	uint8_t kind = e->is_static ? EXPORTED_STATIC : EXPORTED_FIELD;

	for (size_t i = 0; i < r->table->count; i++) {
		const struct exported_row *row = &r->table->rows[i];
		void *dest = r->base + row->dest;

		if (row_kind(row) != kind || !text_equal(row->type, e->type) ||
			!text_equal(row->field, e->field))
			continue;
		if (kind == EXPORTED_STATIC) {
			*(uint64_t *)dest = e->address;
		} else {
			struct walk_field *field = dest;

			field->bytes = row->bytes ? row->bytes : type_bytes(e->type_string);
			if (!field->bytes)
				continue;
			field->offset = (int32_t)e->offset;
		}
		r->found[i] = true;
	}
}

static bool structs_read(struct reader *r)
{
	uint64_t entry = symbol_value(r, "gHotSpotVMStructs", "");
	uint64_t stride = symbol_value(r, "gHotSpotVMStructEntryArrayStride", "");
	uint64_t type = symbol_value(r, "gHotSpotVMStructEntry", "TypeNameOffset");
	uint64_t field = symbol_value(r, "gHotSpotVMStructEntry", "FieldNameOffset");
	uint64_t type_string = symbol_value(r, "gHotSpotVMStructEntry", "TypeStringOffset");
	uint64_t is_static = symbol_value(r, "gHotSpotVMStructEntry", "IsStaticOffset");
	uint64_t offset = symbol_value(r, "gHotSpotVMStructEntry", "OffsetOffset");
	uint64_t address = symbol_value(r, "gHotSpotVMStructEntry", "AddressOffset");
	struct struct_entry e;

	if (!entry || !stride)
		return false;
	for (;; entry += stride) {
		if (mem_string(r->mem, mem_u64(r->mem, entry + type), e.type, EXPORTED_NAME) < 0)
			return true;
		if (mem_string(r->mem, mem_u64(r->mem, entry + field), e.field, EXPORTED_NAME) < 0)
			return true;
		if (mem_string(r->mem, mem_u64(r->mem, entry + type_string), e.type_string,
			    EXPORTED_NAME) < 0)
			e.type_string[0] = '\0';
		e.is_static = mem_u32(r->mem, entry + is_static);
		e.offset = mem_u64(r->mem, entry + offset);
		e.address = mem_u64(r->mem, entry + address);
		struct_entry_store(r, &e);
	}
}

/* --- sizes and constants ----------------------------------------------------------------------------- */

/* Their tables have one shape: a name and a number. */
static const struct number_table {
	uint8_t kind;
	const char *variable, *stem, *name, *value;
} number_tables[] = {
	{EXPORTED_SIZE, "gHotSpotVMTypes", "gHotSpotVMTypeEntry", "TypeNameOffset", "SizeOffset"},
	{EXPORTED_INT, "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntry", "NameOffset",
		"ValueOffset"},
	{EXPORTED_LONG, "gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntry", "NameOffset",
		"ValueOffset"},
};
#define NUMBER_TABLES (sizeof(number_tables) / sizeof(number_tables[0]))

static bool numbers_read(struct reader *r, const struct number_table *t)
{
	uint64_t entry = symbol_value(r, t->variable, "");
	uint64_t stride = symbol_value(r, t->stem, "ArrayStride");
	uint64_t name_at = symbol_value(r, t->stem, t->name);
	uint64_t value_at = symbol_value(r, t->stem, t->value);
	char name[EXPORTED_NAME];

	if (!entry || !stride)
		return false;
	for (; mem_string(r->mem, mem_u64(r->mem, entry + name_at), name, sizeof(name)) >= 0;
		entry += stride) {
		for (size_t i = 0; i < r->table->count; i++) {
			const struct exported_row *row = &r->table->rows[i];

			if (row_kind(row) != t->kind || !text_equal(row->type, name))
				continue;
			*(uint32_t *)(void *)(r->base + row->dest) =
				mem_u32(r->mem, entry + value_at);
			r->found[i] = true;
		}
	}
	return true;
}

/* --- all --------------------------------------------------------------------------------------------- */

bool exported_read(const struct exported_table *table, const struct walk_mem *mem,
	const struct walk_tables *tables, void *base, bool *found)
{
	struct reader r = {table, mem, tables, base, found};

	for (size_t i = 0; i < table->count; i++) {
		struct walk_field *field = (void *)(r.base + table->rows[i].dest);

		found[i] = false;
		if (row_kind(&table->rows[i]) == EXPORTED_FIELD)
			field->offset = -1;
	}
	if (!structs_read(&r))
		return false;
	for (size_t i = 0; i < NUMBER_TABLES; i++)
		if (!numbers_read(&r, &number_tables[i]))
			return false;
	return true;
}

const struct exported_row *exported_missing(
	const struct exported_table *table, const bool *found, int32_t jdk, bool part)
{
	for (size_t i = 0, next; i < table->count; i = next) {
		bool have = found[i];

		for (next = i + 1; next < table->count && table->rows[next].kind & EXPORTED_OR;
			next++)
			have |= found[next];
		if (part != !!(table->rows[i].kind & EXPORTED_PART))
			continue;
		for (size_t k = i; k < next && !have; k++)
			if (jdk >= table->rows[k].since && jdk <= table->rows[k].until)
				return &table->rows[k];
	}
	return NULL;
}
