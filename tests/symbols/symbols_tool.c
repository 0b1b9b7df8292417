/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbols module as a command, for scripts: names of offsets in a file, or of kernel addresses.
 *
 *   symbols_tool FILE|--kernel|--raw|[vdso] < offsets     prints "OFFSET MODULE START NAME" per line, then the note
 */
#include "base/clock.h"
#include "symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct symbols *s = symbols_new(0, 0);
	uint64_t begin_ns = clock_mono_ns(), first_ns = 0;
	char line[64];
	int module = -1;

	if (argc != 2)
		return 2;
	if (strncmp(argv[1], "--", 2))
		module = symbols_module_add(s, &(struct symbols_module){.path = argv[1]});
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t at = strtoull(line, NULL, 16);
		struct symbol sym;

		if (!strcmp(argv[1], "--kernel"))
			symbols_kernel(s, at, &sym);
		else if (!strcmp(argv[1], "--raw"))
			symbols_raw(s, at, &sym);
		else
			symbols_native(s, module, at, &sym);
		if (!first_ns)
			first_ns = clock_mono_ns() - begin_ns;
		printf("%llx %s %llx %s\n", (unsigned long long)at, sym.module,
			(unsigned long long)sym.start, sym.name);
	}
	printf("note: %s\n", symbols_note(s));
	fprintf(stderr, "first name after %.1f ms\n", (double)first_ns / (double)NS_PER_MS);
	symbols_free(s);
	return 0;
}
