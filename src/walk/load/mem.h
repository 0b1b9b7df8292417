/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed loads through a struct walk_mem. A failed load reads as 0 where the function returns a value;
 * callers for whom 0 is a valid value use the bool form.
 */
#ifndef JHOT_WALK_LOAD_MEM_H
#define JHOT_WALK_LOAD_MEM_H

#include "walk/load/fetch.h"
#include "walk/load/guard.h"

#include <stdatomic.h>

static inline bool mem_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	return mem->load(mem, addr, out, bytes);
}

/* mem_fetched: a word by SafeFetch; false: it is not known, or the word cannot be read, or is the one that says so. */
static inline bool mem_fetched(const struct walk_mem *mem, uint64_t addr, uint64_t *out)
{
	fetch_64 *fetch =
		mem->is_fetched ? atomic_load_explicit(&fetch_word_everywhere, memory_order_relaxed)
				: NULL;

	if (!fetch || addr < FETCH_LOWEST)
		return false;
	*out = fetch(addr, FETCH_NONE);
	return *out != FETCH_NONE;
}

/*
 * Where the target is this process a word is one instruction; elsewhere, what the accessor says. A word of less than 64
 * bits that does not cross into another is part of one that can be read as well.
 */
#define MEM_WORD(bits)                                                                      \
	static inline uint##bits##_t mem_u##bits(const struct walk_mem *mem, uint64_t addr) \
	{                                                                                   \
		uint##bits##_t accessed;                                                    \
		uint64_t value;                                                             \
                                                                                            \
		if (__builtin_expect(mem->is_here, 1)) {                                    \
			GUARD_READ(bits, addr, value);                                      \
			return (uint##bits##_t)value;                                       \
		}                                                                           \
		if ((addr & 7) <= 8 - bits / 8 && mem_fetched(mem, addr & ~7ull, &value))   \
			return (uint##bits##_t)(value >> 8 * (addr & 7));                   \
		return mem->load(mem, addr, &accessed, sizeof(accessed)) ? accessed : 0;    \
	}
MEM_WORD(64)
MEM_WORD(32)
MEM_WORD(16)
MEM_WORD(8)

static inline bool mem_load_u64(const struct walk_mem *mem, uint64_t addr, uint64_t *out)
{
	unsigned read = 1;

	if (__builtin_expect(!mem->is_here, 0))
		return mem_fetched(mem, addr, out) || mem->load(mem, addr, out, sizeof(*out));
	GUARD_READ_SURE(64, addr, *out, read);
	return read;
}

/* So many bytes, at most 8, the first one lowest. */
static inline uint64_t mem_word(const struct walk_mem *mem, uint64_t addr, unsigned bytes)
{
	uint64_t value = 0;

	switch (bytes) {
	case 8: return mem_u64(mem, addr);
	case 4: return mem_u32(mem, addr);
	case 2: return mem_u16(mem, addr);
	case 1: return mem_u8(mem, addr);
	default: return mem_load(mem, addr, &value, bytes) ? value : 0;
	}
}

#if defined(__x86_64__)
#define MEM_ADDRESS_BITS \
	47 /* a load from beyond takes a fault of another kind, which costs as much */
#else
#define MEM_ADDRESS_BITS 48
#endif

/* Whether it may be the address of an object or of a struct of HotSpot's: aligned, of user space, not next to NULL. */
static inline bool mem_plausible(uint64_t address)
{
	return address >= 4096 && !(address & 7) && !(address >> MEM_ADDRESS_BITS);
}

/* The bytes of a C string, cut at cap - 1, always ended by NUL; -1 when its first byte cannot be read. */
int mem_string(const struct walk_mem *mem, uint64_t addr, char *out, size_t cap);

#endif
