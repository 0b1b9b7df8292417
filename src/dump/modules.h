/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mappings of a process: locates libjvm, provides unwind rows for each library and names for its functions.
 *
 * Reads maps once, at modules_open. The unwind rows of all libraries are compiled by the first modules_rows, which must come
 * before any thread is stopped. Single-threaded; blocks for files.
 */
#ifndef JHOT_DUMP_MODULES_H
#define JHOT_DUMP_MODULES_H

#include "base/err.h"
#include "symbols/symbols.h"
#include "walk/frames/unwind.h"
#include "walk/hotspot/layout.h"

struct modules;

/* NULL with an error if maps cannot be read or no libjvm is mapped. */
struct modules *modules_open(pid_t pid, pid_t nspid, struct err *err);
void modules_close(struct modules *m);

/* The addresses of libjvm's variables, for walk_layout_read; valid until modules_close. */
struct walk_tables modules_tables(struct modules *m);

/* Unwind rows of all libraries with call frame information; owned by m. The first call is slow: not with a stopped thread. */
const struct unwind_table *modules_rows(struct modules *m);

/* End of the mapping that contains the address; 0: none. ctx: the struct modules. */
uint64_t modules_mapping_end(void *ctx, uint64_t address);

/* Resolves a native pc to a symbol; its module is "" if nothing is mapped there. */
void modules_symbol(struct modules *m, uint64_t pc, struct symbol *out);

#endif
