/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed loads through a struct walk_mem. A failed load reads as 0 where the function returns a value;
 * callers for whom 0 is a valid value use the bool form.
 */
#ifndef JHOT_WALK_MEM_H
#define JHOT_WALK_MEM_H

#include "walk/walk.h"

static inline bool mem_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	return mem->load(mem, addr, out, bytes);
}

static inline uint64_t mem_u64(const struct walk_mem *mem, uint64_t addr)
{
	uint64_t value;

	return mem->load(mem, addr, &value, sizeof(value)) ? value : 0;
}

static inline uint32_t mem_u32(const struct walk_mem *mem, uint64_t addr)
{
	uint32_t value;

	return mem->load(mem, addr, &value, sizeof(value)) ? value : 0;
}

static inline uint16_t mem_u16(const struct walk_mem *mem, uint64_t addr)
{
	uint16_t value;

	return mem->load(mem, addr, &value, sizeof(value)) ? value : 0;
}

static inline uint8_t mem_u8(const struct walk_mem *mem, uint64_t addr)
{
	uint8_t value;

	return mem->load(mem, addr, &value, sizeof(value)) ? value : 0;
}

/* The bytes of a C string, cut at cap - 1, always ended by NUL; -1 when its first byte cannot be read. */
int mem_string(const struct walk_mem *mem, uint64_t addr, char *out, size_t cap);

#endif
