/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process has mapped: where libjvm is, how to unwind through each library, what to call its functions.
 *
 * Reads maps once, at modules_open; the unwind rows of all libraries are compiled there, before any thread is
 * stopped. One thread.
 */
#ifndef JHOT_DUMP_MODULES_H
#define JHOT_DUMP_MODULES_H

#include "base/err.h"
#include "symbols/symbols.h"
#include "walk/frames/unwind.h"
#include "walk/hotspot/layout.h"

struct modules;

/* NULL when maps cannot be read or no libjvm is mapped. */
struct modules *modules_open(pid_t pid, pid_t nspid, struct err *err);
void modules_close(struct modules *m);

/* Where libjvm's variables are, for walk_layout_read; valid until modules_close. */
struct walk_tables modules_tables(struct modules *m);

/* Of all libraries that have call frame information; owned by m. Slow once: call before stopping threads. */
const struct unwind_table *modules_rows(struct modules *m);

/* The end of the mapping that holds the address, 0 if none did. ctx: the struct modules. */
uint64_t modules_mapping_end(void *ctx, uint64_t address);

/* A native pc as a symbol; the module is "" where nothing is mapped. */
void modules_symbol(struct modules *m, uint64_t pc, struct symbol *out);

#endif
