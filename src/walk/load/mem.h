/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed loads through a struct walk_mem. A failed load reads as 0 where the function returns a value; callers for whom 0 is
 * a valid value use the bool form. Signal-safe.
 */
#ifndef JHOT_WALK_LOAD_MEM_H
#define JHOT_WALK_LOAD_MEM_H

#include "walk/types.h"

static inline bool mem_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	return mem->load(mem, addr, out, bytes);
}

/* owner: id of the memory's owner (walk_mem.load_constant); 0: unknown, so no cached copy is used. */
static inline bool mem_load_constant(
	const struct walk_mem *mem, uint64_t owner, uint64_t addr, void *out, size_t bytes)
{
	return owner && mem->load_constant ? mem->load_constant(mem, owner, addr, out, bytes)
					   : mem->load(mem, addr, out, bytes);
}

static inline void mem_prefetch(
	const struct walk_mem *mem, uint64_t owner, const struct walk_part *parts, uint32_t count)
{
	if (mem->prefetch)
		mem->prefetch(mem, owner, parts, count);
}

/* Call between two loads of the same word whose results are compared. */
static inline void mem_refresh(const struct walk_mem *mem)
{
	if (mem->refresh)
		mem->refresh(mem);
}

static inline bool mem_on_stack(const struct walk_mem *mem, uint64_t addr)
{
	return __builtin_expect(addr - mem->stack_low < mem->stack_bytes, 1);
}

/* A word at any address, exempt from alignment and aliasing rules. */
#define MEM_WORD(bits)                                                                      \
	struct mem_word_##bits {                                                            \
		uint##bits##_t word;                                                        \
	} __attribute__((packed, may_alias));                                               \
	static inline uint##bits##_t mem_in_place_##bits(uint64_t addr)                     \
	{                                                                                   \
		return ((const volatile struct mem_word_##bits *)(uintptr_t)addr)->word;    \
	}                                                                                   \
	static inline uint##bits##_t mem_u##bits(const struct walk_mem *mem, uint64_t addr) \
	{                                                                                   \
		uint##bits##_t value;                                                       \
                                                                                            \
		if (mem_on_stack(mem, addr))                                                \
			return mem_in_place_##bits(addr);                                   \
		return mem->load(mem, addr, &value, sizeof(value)) ? value : 0;             \
	}
MEM_WORD(64)
MEM_WORD(32)
MEM_WORD(16)
MEM_WORD(8)

static inline bool mem_load_u64(const struct walk_mem *mem, uint64_t addr, uint64_t *out)
{
	if (!mem_on_stack(mem, addr))
		return mem->load(mem, addr, out, sizeof(*out));
	*out = mem_in_place_64(addr);
	return true;
}

/* Loads up to 8 bytes as a little-endian number. */
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

/* Loads words at `count` addresses, 0 for unreadable ones; in few system calls if the memory has a gather. */
static inline void mem_gather(const struct walk_mem *mem, const uint64_t *addrs, uint32_t count,
	uint32_t bytes, uint64_t *out)
{
	if (mem->gather) {
		mem->gather(mem, addrs, count, bytes, out);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		out[i] = addrs[i] ? mem_word(mem, addrs[i], bytes) : 0;
}

/* mem_word for memory that was read before and is never unmapped, such as the committed code cache: read in place. */
static inline uint64_t mem_word_in_place(const struct walk_mem *mem, uint64_t addr, unsigned bytes)
{
	if (!mem->is_self)
		return mem_word(mem, addr, bytes);
	switch (bytes) {
	case 8: return mem_in_place_64(addr);
	case 4: return mem_in_place_32(addr);
	case 2: return mem_in_place_16(addr);
	default: return mem_in_place_8(addr);
	}
}

#if defined(__x86_64__)
#define MEM_ADDRESS_BITS 47
#else
#define MEM_ADDRESS_BITS 48
#endif

/* True when this may be the address of an object or a HotSpot struct: aligned, user space, not close to NULL. */
static inline bool mem_plausible(uint64_t address)
{
	return address >= 4096 && !(address & 7) && !(address >> MEM_ADDRESS_BITS);
}

/* Copies a C string, truncated to cap - 1 bytes and always NUL-terminated. Returns its length, -1 if unreadable. */
int mem_string(const struct walk_mem *mem, uint64_t addr, char *out, size_t cap);

#endif
