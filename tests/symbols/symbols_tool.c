/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbols module as a command, for scripts: names of offsets in a file, or of kernel addresses.
 *
 *   symbols_tool FILE|--kernel|--raw|[vdso] < offsets     prints "OFFSET MODULE START NAME" per line, then the note
 *   symbols_tool FILE PID < offsets                       of a file that this process has mapped
 */
#include "base/clock.h"
#include "symbols/child/child.h"
#include "symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds the first executable mapping of this path in the process, as maps has it. */
static int add_mapped(struct symbols *s, int pid, const char *path)
{
	char maps[64], line[4096], perms[8];
	struct proc_map m = {.path = path};
	unsigned long long start, end, offset, inode;
	int found = -1;
	FILE *f;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	f = fopen(maps, "re");
	while (f && found < 0 && fgets(line, sizeof(line), f)) {
		if (!strstr(line, path) ||
			sscanf(line, "%llx-%llx %7s %llx %x:%x %llu", &start, &end, perms, &offset,
				&m.dev_major, &m.dev_minor, &inode) != 7)
			continue;
		if (perms[2] != 'x')
			continue;
		m.start = start;
		m.end = end;
		m.offset = offset;
		m.inode = inode;
		found = symbols_module_add(s, &m);
	}
	if (f)
		fclose(f);
	return found;
}

int main(int argc, char **argv)
{
	int pid = argc == 3 ? atoi(argv[2]) : 0;
	struct symbols *s;
	uint64_t begin_ns = clock_mono_ns(), first_ns = 0;
	char line[64];
	int module = -1;

	if (elf_child_main(argc, argv, NULL))
		return 0;
	if (argc < 2)
		return 2;
	s = symbols_new(pid, pid);
	if (pid)
		module = add_mapped(s, pid, argv[1]);
	else if (strncmp(argv[1], "--", 2))
		module = symbols_module_add(s, &(struct proc_map){.path = argv[1]});
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
