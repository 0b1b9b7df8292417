/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of three kinds, references narrow, whole and coloured: each is tried, the class's name is the proof. */
#include "dump/object.h"

#include "base/utf8.h"
#include "walk/hotspot/oop.h"
#include "walk/load/mem.h"

#include <string.h>

#define CLASS_NAME 1024u
#define SUPERS     64 /* against loops */
#define FIELDS     512u
#define TEXT_CHARS 256u

static bool plausible(uint64_t address)
{
	return address >= 4096 && !(address & 7) && !(address >> 47);
}

/* --- classes ----------------------------------------------------------------------------------------- */

uint32_t object_class_name(const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass,
	char *out, uint32_t out_bytes)
{
	uint32_t length = oop_klass_name(l, mem, klass, out, out_bytes - 1);

	out[length] = '\0';
	return length;
}

uint64_t object_super(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass, const char *name)
{
	char text[CLASS_NAME];

	for (int i = 0; i < SUPERS && object_class_name(l, mem, klass, text, sizeof(text)); i++) {
		if (!strcmp(text, name))
			return klass;
		klass = layout_load(&l->klass_super, mem, klass);
	}
	return 0;
}

/*
 * Before JDK 21 the fields of a class are an array of six 16-bit numbers each: flags, name, signature, initial
 * value, and the offset in two halves above two bits of a tag.
 */
static uint32_t offset_old(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass, const char *field)
{
	uint64_t array = layout_load(&l->klass_fields_old, mem, klass);
	uint64_t pool = layout_load(&l->klass_constants, mem, klass);
	uint64_t pool_length = layout_load(&l->pool_length, mem, pool);
	uint32_t count = plausible(array) ? mem_u32(mem, array) / 6 : 0,
		 bytes = (uint32_t)strlen(field);
	char name[64];

	for (uint32_t i = 0; i < count && i < FIELDS; i++) {
		uint16_t tuple[6];
		uint64_t symbol;

		if (!mem_load(mem, array + 4 + 12ull * i, tuple, sizeof(tuple)) ||
			tuple[1] >= pool_length)
			continue;
		symbol = mem_u64(mem, pool + l->constant_pool_bytes + 8ull * tuple[1]) & ~3ull;
		if (bytes > sizeof(name) || layout_load(&l->symbol_length, mem, symbol) != bytes ||
			!mem_load(mem, symbol + (uint64_t)l->symbol_body.offset, name, bytes))
			continue;
		if (!memcmp(name, field, bytes))
			return ((uint32_t)tuple[5] << 16 | tuple[4]) >> 2;
	}
	return 0;
}

uint32_t object_offset(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass, const char *field)
{
	const char *names[1] = {field};
	uint32_t offset = 0;

	if (l->klass_fields.offset < 0)
		return offset_old(l, mem, klass, field);
	return oop_fields(l, mem, klass, names, &offset, 1) ? offset : 0;
}

/* --- objects ----------------------------------------------------------------------------------------- */

static bool is_class(const struct walk_layout *l, const struct walk_mem *mem, uint64_t klass)
{
	char text[CLASS_NAME];

	return object_class_name(l, mem, klass, text, sizeof(text)) > 0;
}

/* A header: class in 32 bits behind the mark, inside the mark, or in 64 bits behind it. */
static bool object_here(const struct walk_layout *l, const struct walk_mem *mem, uint64_t address,
	struct object *out)
{
	uint64_t base = mem_u64(mem, l->narrow_klass_base);
	uint32_t shift = mem_u32(mem, l->narrow_klass_shift) & 31;
	uint64_t header[2];

	*out = (struct object){.address = 0};
	if (!plausible(address) || !mem_load(mem, address, header, sizeof(header)))
		return false;

	/* JDK 23 puts the elements of an array right behind its length. */
	const struct object kinds[] = {
		{address, base + ((uint64_t)(uint32_t)header[1] << shift), 12, 16},
		{address,
			l->mark_klass_shift ? base + (header[0] >> l->mark_klass_shift << shift)
					    : 0,
			8, 12},
		{address, header[1], 16, l->jdk >= 23 ? 20 : 24},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!is_class(l, mem, kinds[i].klass))
			continue;
		*out = kinds[i];
		return true;
	}
	return false;
}

static bool object_at(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t word, struct object *out)
{
	return object_here(l, mem, oop_uncoloured(word), out);
}

bool object_field(const struct walk_layout *l, const struct walk_mem *mem,
	const struct object *from, uint64_t offset, struct object *out)
{
	uint64_t at = from->address + offset;
	uint32_t narrow = mem_u32(mem, at);
	uint64_t object = mem_u64(mem, l->narrow_oop_base) +
			  ((uint64_t)narrow << (mem_u32(mem, l->narrow_oop_shift) & 7));

	*out = (struct object){.address = 0};
	if (!offset)
		return false;
	if (narrow && object_here(l, mem, object, out))
		return true;
	return !(at & 7) && object_at(l, mem, mem_u64(mem, at), out);
}

bool object_of_handle(const struct walk_layout *l, const struct walk_mem *mem, uint64_t handle,
	struct object *out)
{
	/* A handle's slot is not an object's address: its first words are no header. */
	return object_at(l, mem, mem_u64(mem, handle), out) || object_at(l, mem, handle, out);
}

/* --- texts ------------------------------------------------------------------------------------------- */

/* Latin-1 bytes or UTF-16 units; halves of pairs that stand alone become U+FFFD. */
static void decode(const uint8_t *bytes, uint32_t count, bool wide, char *out, size_t out_bytes)
{
	size_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t c = wide ? (uint32_t)(bytes[2 * i] | bytes[2 * i + 1] << 8) : bytes[i];
		uint32_t next = wide && i + 1 < count
					? (uint32_t)(bytes[2 * i + 2] | bytes[2 * i + 3] << 8)
					: 0;
		char encoded[5];
		size_t n;

		if (c >= 0xd800 && c < 0xdc00 && next >= 0xdc00 && next < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (next - 0xdc00);
			i++;
		} else if (c >= 0xd800 && c < 0xe000) {
			c = 0xfffd;
		}
		n = utf8_put(c, encoded);
		if (at + n >= out_bytes)
			break;
		memcpy(out + at, encoded, n);
		at += n;
	}
	out[at] = '\0';
}

bool object_text(const struct walk_layout *l, const struct walk_mem *mem,
	const struct object *string, char *out, size_t out_bytes)
{
	struct object chars = *string;
	uint8_t bytes[2 * TEXT_CHARS];
	char name[CLASS_NAME];
	uint32_t length;
	bool wide;

	out[0] = '\0';
	if (object_class_name(l, mem, string->klass, name, sizeof(name)) &&
		!strcmp(name, "java/lang/String")) {
		if (!object_field(l, mem, string, object_offset(l, mem, string->klass, "value"),
			    &chars) ||
			!object_class_name(l, mem, chars.klass, name, sizeof(name)))
			return false;
	}
	wide = !strcmp(name, "[C");
	if (!wide && strcmp(name, "[B") != 0)
		return false;
	length = mem_u32(mem, chars.address + chars.array_length_at);
	if (!wide && mem_u8(mem, string->address + object_offset(l, mem, string->klass, "coder"))) {
		wide = true;
		length /= 2;
	}
	if (length > TEXT_CHARS)
		length = TEXT_CHARS;
	if (!mem_load(mem, chars.address + chars.array_data_at, bytes, wide ? 2 * length : length))
		return false;
	decode(bytes, length, wide, out, out_bytes);
	return true;
}
