/* SPDX-License-Identifier: Apache-2.0 */
/* Strings in the target. */
#include "walk/load/mem.h"

int mem_string(const struct walk_mem *mem, uint64_t addr, char *out, size_t cap)
{
	size_t n = 0;
	uint64_t word;

	if (!addr)
		return -1;
	/* Aligned words never cross into a page that the string does not extend to. */
	for (uint64_t at = addr & ~7ull; n + 1 < cap; at += 8) {
		if (!mem_load(mem, at, &word, sizeof(word)))
			return -1;
		for (unsigned i = at < addr ? (unsigned)(addr - at) : 0; i < 8 && n + 1 < cap;
			i++) {
			out[n] = (char)(word >> (8 * i));
			if (!out[n])
				return (int)n;
			n++;
		}
	}
	out[n] = '\0';
	return (int)n;
}
