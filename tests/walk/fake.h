/* SPDX-License-Identifier: Apache-2.0 */
/* Mock memory: pieces at chosen addresses, everything else unreadable; and random memory. */
#ifndef JHOT_TESTS_WALK_FAKE_H
#define JHOT_TESTS_WALK_FAKE_H

#include "walk/walk.h"

#define FAKE_PIECES 64

struct fake {
	struct walk_mem mem;
	struct {
		uint64_t addr;
		size_t bytes;
		const void *data;
	} pieces[FAKE_PIECES];
	int count;
	uint64_t loads;   /* the number of loads */
	uint64_t seed;    /* not 0: unmapped addresses read as pseudo-random words */
	uint64_t bait[8]; /* most of which are near these */
};

static bool fake_random(struct fake *f, uint64_t addr, void *out, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		uint64_t word = (addr + i) / 8 * 0x9e3779b97f4a7c15ull ^ f->seed;

		word = (word ^ word >> 29) * 0xbf58476d1ce4e5b9ull;
		word ^= word >> 32;
		if (word % 16 == 15)
			return false;
		if (word % 4)
			word = f->bait[word >> 8 & 7] + (word >> 16 & 0xf8);
		((uint8_t *)out)[i] = (uint8_t)(word >> (addr + i) % 8 * 8);
	}
	return true;
}

static bool fake_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	struct fake *f = mem->ctx;

	f->loads++;
	for (int i = 0; i < f->count; i++) {
		uint64_t at = addr - f->pieces[i].addr;

		if (at < f->pieces[i].bytes && bytes <= f->pieces[i].bytes - at) {
			__builtin_memcpy(out, (const char *)f->pieces[i].data + at, bytes);
			return true;
		}
	}
	return f->seed && fake_random(f, addr, out, bytes);
}

static void fake_add(struct fake *f, uint64_t addr, const void *data, size_t bytes)
{
	f->pieces[f->count].addr = addr;
	f->pieces[f->count].bytes = bytes;
	f->pieces[f->count++].data = data;
}

/* Fills code with calls (call rel32 or bl) that end at each multiple of 16. */
static void fake_calls(uint8_t *text, size_t bytes)
{
#if defined(__x86_64__)
	static const uint8_t call[] = {0xe8, 0, 0, 0, 0};
#else
	static const uint32_t call = 0x94000000u;
#endif

	for (size_t end = 16; end < bytes; end += 16)
		__builtin_memcpy(&text[end - sizeof(call)], &call, sizeof(call));
}

#endif
