/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVM's options and performance counters, found by name. Layout of the counters' memory (HotSpot: perfMemory.hpp, version
 * 2.0):
 *
 *   prologue  u4 magic, u1 byte order, u1 2, u1 0, u1 accessible, i4 used, i4, i8, i4 first entry, i4 entries
 *   entry     i4 bytes, i4 name's offset, i4, u1 type, u1, u1, u1, i4 value's offset
 */
#include "walk/hotspot/layout_read.h"
#include "walk/load/mem.h"

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

/* --- counters ---------------------------------------------------------------------------------------- */

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
