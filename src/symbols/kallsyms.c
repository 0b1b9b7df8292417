/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are read in place: the kernel has 120,000 of them. */
#include "symbols/kallsyms.h"

#include <stdlib.h>
#include <string.h>

#define PERFMAP_ENTRIES_MAX (1u << 20)

static bool kallsyms_is_code(char type)
{
	return strchr("tTwW", type) != NULL;
}

enum kallsyms_result kallsyms_read(FILE *file, struct symtab *out)
{
	char *line = NULL;
	size_t cap = 0;
	bool names = false, addresses = false;

	while (getline(&line, &cap, file) > 0) {
		char *rest, *name;
		uint64_t address = strtoull(line, &rest, 16);

		if (rest == line || rest[0] != ' ' || !rest[1] || rest[2] != ' ')
			continue;
		name = rest + 3;
		name[strcspn(name, "\t\n ")] = '\0';
		names = true;
		addresses = addresses || address;
		if (address)
			symtab_add(out, address, 0, kallsyms_is_code(rest[1]) ? name : "",
				kallsyms_is_code(rest[1]) ? SYMTAB_GLOBAL : SYMTAB_MARK);
	}
	free(line);
	symtab_finish(out);
	if (!names)
		return KALLSYMS_NONE;
	return addresses ? KALLSYMS_OK : KALLSYMS_HIDDEN;
}

void perfmap_read(FILE *file, struct symtab *out)
{
	char *line = NULL;
	size_t cap = 0;

	while (getline(&line, &cap, file) > 0 && out->count < PERFMAP_ENTRIES_MAX) {
		char *size_at, *name;
		uint64_t start = strtoull(line, &size_at, 16);
		uint64_t size = strtoull(size_at, &name, 16);

		if (size_at == line || name == size_at || *name != ' ' || !size)
			continue;
		name++;
		name[strcspn(name, "\r\n")] = '\0';
		if (*name)
			symtab_add(out, start, size, name, SYMTAB_GLOBAL);
	}
	free(line);
	symtab_finish(out);
}
