/* SPDX-License-Identifier: Apache-2.0 */
/* HotSpot's SafeFetch: its code, and loads of any size by it. */
#define _GNU_SOURCE 1
#include "walk/load/fetch.h"
#include "walk/load/regs.h"

#include <stdatomic.h>

#if defined(__x86_64__)
/* mov (%rdi),%eax; ret; mov %esi,%eax; ret; mov (%rdi),%rax; ret; mov %rsi,%rax; ret */
const struct fetch_code fetch_library = {
	"\x8b\x07\xc3\x89\xf0\xc3\x48\x8b\x07\xc3\x48\x89\xf0\xc3", 14, 0, 6, 3, 10};
/* mov (%rdi),%esi; mov %rsi,%rax; ret; mov (%rdi),%rsi; mov %rsi,%rax; ret */
const struct fetch_code fetch_stubs = {
	"\x8b\x37\x48\x8b\xc6\xc3\x48\x8b\x37\x48\x8b\xc6\xc3", 13, 0, 6, 2, 9};
#else
const struct fetch_code fetch_library = {NULL, 0, 0, 0, 0, 0};
const struct fetch_code fetch_stubs = {NULL, 0, 0, 0, 0, 0};
#endif

/* What a load returns when it has failed, or by chance: then another is asked for. */
#define NONE_64 FETCH_NONE
#define NONE_32 0x58e2b704u

typedef uint32_t fetch_32(uint64_t addr, uint32_t otherwise);

_Atomic(fetch_64 *) fetch_word_everywhere;
static _Atomic(fetch_32 *) safe_32;
static _Atomic(fetch_64 *) safe_64;
static uint64_t failed_32, failed_64;

void fetch_use(const struct fetch_code *code, uint64_t at, bool everywhere)
{
	failed_32 = at + code->failed32;
	failed_64 = at + code->failed64;
	atomic_store(&safe_32, (fetch_32 *)(uintptr_t)(at + code->word32));
	atomic_store(&safe_64, (fetch_64 *)(uintptr_t)(at + code->word64));
	atomic_store(&fetch_word_everywhere, everywhere ? atomic_load(&safe_64) : NULL);
}

bool fetch_ready(void)
{
	return atomic_load_explicit(&safe_64, memory_order_acquire) != NULL;
}

bool fetch_everywhere(void)
{
	return atomic_load_explicit(&fetch_word_everywhere, memory_order_acquire) != NULL;
}

bool fetch_recover(void *ucontext)
{
	uint64_t pc = regs_pc(ucontext);
	uint64_t at_64 = (uintptr_t)atomic_load_explicit(&safe_64, memory_order_acquire);

	if (!at_64)
		return false;
	if (pc == at_64)
		regs_set_pc(ucontext, failed_64);
	else if (pc == (uintptr_t)atomic_load_explicit(&safe_32, memory_order_relaxed))
		regs_set_pc(ucontext, failed_32);
	else
		return false;
	return true;
}

static bool word_64(fetch_64 *fetch, uint64_t addr, uint64_t *out)
{
	*out = fetch(addr, NONE_64);
	if (__builtin_expect(*out != NONE_64, 1))
		return true;
	*out = fetch(addr, ~NONE_64);
	return *out != ~NONE_64;
}

static bool word_32(uint64_t addr, uint32_t *out)
{
	fetch_32 *fetch = atomic_load_explicit(&safe_32, memory_order_relaxed);

	*out = fetch(addr, NONE_32);
	if (__builtin_expect(*out != NONE_32, 1))
		return true;
	*out = fetch(addr, ~NONE_32);
	return *out != ~NONE_32;
}

/* What is less than a word: aligned ones never cross into a page that the bytes themselves are not in. */
static bool some_bytes(uint64_t addr, uint8_t *out, size_t bytes)
{
	uint64_t end = addr + bytes;
	uint32_t word;

	while (addr < end) {
		if (!word_32(addr & ~3ull, &word))
			return false;
		word >>= 8 * (addr & 3);
		do {
			*out++ = (uint8_t)word;
			word >>= 8;
			addr++;
		} while (addr < end && addr & 3);
	}
	return true;
}

bool fetch_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	fetch_64 *fetch = atomic_load_explicit(&safe_64, memory_order_acquire);
	uint8_t *to = out;

	(void)mem;
	if (!fetch || addr < FETCH_LOWEST)
		return false;
	for (; bytes >= 8; bytes -= 8, addr += 8, to += 8) {
		uint64_t word;

		if (!word_64(fetch, addr, &word))
			return false;
		__builtin_memcpy(to, &word, sizeof(word));
	}
	return some_bytes(addr, to, bytes);
}
