/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded loads: of any size, and where to go on when one has faulted. */
#define _GNU_SOURCE 1
#include "walk/load/guard.h"
#include "walk/load/regs.h"

bool guard_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	uint8_t *to = out;
	uint64_t word;
	unsigned read = 1;

	(void)mem;
	for (; bytes >= sizeof(word); bytes -= sizeof(word)) {
		GUARD_READ_SURE(64, addr, word, read);
		if (!read)
			return false;
		__builtin_memcpy(to, &word, sizeof(word));
		addr += sizeof(word);
		to += sizeof(word);
	}
	for (; bytes; bytes--) {
		GUARD_READ_SURE(8, addr++, word, read);
		if (!read)
			return false;
		*to++ = (uint8_t)word;
	}
	return true;
}

/* An entry of GUARD_CODE. */
struct guard_entry {
	int32_t load, failed;
};
extern const struct guard_entry __start_guard_table[] __attribute__((visibility("hidden")));
extern const struct guard_entry __stop_guard_table[] __attribute__((visibility("hidden")));

/* Where to go on after a fault at pc, 0 when there is no guarded load. */
static uintptr_t failed_at(uintptr_t pc)
{
	for (const struct guard_entry *e = __start_guard_table; e < __stop_guard_table; e++) {
		if ((uintptr_t)&e->load + (uintptr_t)(intptr_t)e->load == pc)
			return (uintptr_t)&e->failed + (uintptr_t)(intptr_t)e->failed;
	}
	return 0;
}

bool guard_recover(void *ucontext)
{
	uintptr_t at = failed_at(regs_pc(ucontext));

	if (at)
		regs_set_pc(ucontext, at);
	return at != 0;
}
