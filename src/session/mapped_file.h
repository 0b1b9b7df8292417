/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file in the target's maps, as symbols want it: what is called so in the file, and where that is in memory.
 *
 * Plain functions. The path stays the map's.
 */
#ifndef JHOT_SESSION_MAPPED_FILE_H
#define JHOT_SESSION_MAPPED_FILE_H

#include "attach/proc.h"
#include "symbols/symbols.h"

struct symbols_module mapped_file_module(const struct proc_map *map);
/*
 * mapped_file_function: the address of the function that the file's symbols call so; 0 if none is, or if it is not in
 * this mapping of the file. module: symbols' number of it.
 */
uint64_t mapped_file_function(
	struct symbols *symbols, int module, const struct proc_map *map, const char *name);

#endif
