/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through the target's mapped files twice: exported names are quick, symbol tables are not. */
#include "cli/functions.h"

#include "attach/proc.h"
#include "symbols/dynsym.h"
#include "symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

struct search {
	pid_t pid;
	const char *library, *function;
	struct symbols *symbols; /* NULL: exported names only */
	uint64_t address;
	bool library_seen;
};

static bool search_wants(struct search *s, const struct proc_map *map)
{
	const char *name = strrchr(map->path, '/');

	if (map->path[0] != '/' || !name)
		return false;
	if (!s->library)
		return true;
	s->library_seen |= !strncmp(name + 1, s->library, strlen(s->library));
	return !strncmp(name + 1, s->library, strlen(s->library));
}

static struct symbols_module search_module(const struct proc_map *map)
{
	return (struct symbols_module){.path = map->path,
		.start = map->start,
		.end = map->end,
		.file_offset = map->offset,
		.inode = map->inode,
		.dev_major = map->dev_major,
		.dev_minor = map->dev_minor};
}

static void search_exported(struct search *s, const struct proc_map *map)
{
	struct symbols_module module = search_module(map);
	struct dynsym *d = map->offset == 0 ? dynsym_open(s->pid, &module, NULL) : NULL;

	if (d)
		s->address = dynsym_find(d, s->function);
	dynsym_close(d);
}

static void search_table(struct search *s, const struct proc_map *map)
{
	struct symbols_module module = search_module(map);
	uint64_t offset;

	if (map->perms[2] != 'x' ||
		!symbols_function(
			s->symbols, symbols_module_add(s->symbols, &module), s->function, &offset))
		return;
	if (offset - map->offset < map->end - map->start)
		s->address = map->start + (offset - map->offset);
}

static bool search_map(void *ctx, const struct proc_map *map)
{
	struct search *s = ctx;

	if (search_wants(s, map))
		(s->symbols ? search_table : search_exported)(s, map);
	return s->address == 0;
}

int functions_find(
	void *ctx, const char *library, const char *function, uint64_t *address, struct err *err)
{
	struct search s = {.pid = *(const pid_t *)ctx, .library = library, .function = function};

	proc_maps(s.pid, search_map, &s);
	if (!s.address) {
		s.symbols = symbols_new(s.pid, s.pid);
		proc_maps(s.pid, search_map, &s);
		symbols_free(s.symbols);
	}
	*address = s.address;
	if (s.address)
		return 0;
	if (library && !s.library_seen)
		return err_set(err, ERR_USAGE, "Process %d has no library \"%s\" mapped.",
			(int)s.pid, library);
	return err_set(err, ERR_USAGE,
		"There is no event \"%s\", and process %d has no native function of that name.",
		function, (int)s.pid);
}
