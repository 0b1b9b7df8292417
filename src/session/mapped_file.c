/* SPDX-License-Identifier: Apache-2.0 */
/* Between what maps tells of a file and what symbols know of it. */
#include "session/mapped_file.h"

struct symbols_module mapped_file_module(const struct proc_map *map)
{
	return (struct symbols_module){.path = map->path,
		.start = map->start,
		.end = map->end,
		.file_offset = map->offset,
		.inode = map->inode,
		.dev_major = map->dev_major,
		.dev_minor = map->dev_minor};
}

uint64_t mapped_file_function(
	struct symbols *symbols, int module, const struct proc_map *map, const char *name)
{
	uint64_t offset;

	if (!symbols_function(symbols, module, name, &offset) ||
		offset - map->offset >= map->end - map->start)
		return 0;
	return map->start + (offset - map->offset);
}
