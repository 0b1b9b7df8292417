/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of named addresses: filled in any order, finished once, then searched in O(log n).
 *
 *   start  size  name          size 0 extends to the next start; "" is a function without a name
 *
 * Owns its texts. Of several names for one address symtab_finish keeps one: first those with a size, then those with fewer leading
 * underscores, then those of higher rank. Zero-initialize; symtab_done. One thread.
 */
#ifndef JHOT_SYMBOLS_SYMTAB_H
#define JHOT_SYMBOLS_SYMTAB_H

#include "base/buf.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#define SYMTAB_ENTRIES_MAX (4u << 20)   /* a browser's library has 1 M */
#define SYMTAB_TEXTS_MAX   (256u << 20) /* and 150 MB of names */
#define SYMTAB_NAME_MAX    4096         /* bytes of a name; longer ones are truncated */

/* The kind of a symbol, ascending by how well its name is known. */
enum symtab_rank {
	SYMTAB_BOUNDARY, /* a boundary without a name */
	SYMTAB_LOCAL,
	SYMTAB_WEAK,
	SYMTAB_GLOBAL,
};

struct symtab_entry {
	uint64_t start;
	uint32_t size;
	uint32_t text; /* offset of the name in texts */
	uint8_t rank;
};

/* In symtab.names: a name that is being demangled. Never freed. */
extern char symtab_pending[];

struct symtab {
	const atomic_bool *stop; /* aborts filling; NULL: never */
	uint64_t spent_end_ns;   /* limit of the thread's CPU time, 0: none */
	struct symtab_entry *entries;
	char **names; /* demangled, by entry; NULL: not demangled yet; symtab_pending: see names.h */
	uint32_t count, cap;
	uint32_t polls; /* calls of symtab_is_full */
	bool full;
	struct buf texts;
};

void symtab_done(struct symtab *t);
/*
 * symtab_limit: filling may take a few seconds of this thread's CPU time, and ends when *stop is set. symtab_is_full: loops that
 * add untrusted data must poll it, and end when it returns true: space or time are used up.
 */
void symtab_limit(struct symtab *t, const atomic_bool *stop);
bool symtab_is_full(struct symtab *t);
void symtab_add(
	struct symtab *t, uint64_t start, uint64_t size, const char *name, enum symtab_rank rank);
void symtab_finish(struct symtab *t);
/* Makes a finished table of both buffers, which it empties. The caller has validated them (child/reply.h). t must be empty. */
void symtab_adopt(struct symtab *t, struct buf *entries, struct buf *texts);

/* The entry that covers the address, or NULL. */
const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t address);
/* The name as it is in the file, mangled or not; "" for a SYMTAB_BOUNDARY. */
const char *symtab_text(const struct symtab *t, const struct symtab_entry *e);
/*
 * The demangled name, "" for a SYMTAB_BOUNDARY; cached, valid until symtab_done. Blocks for as long as demangling takes: the front
 * end uses names_get() (names.h).
 */
const char *symtab_name(struct symtab *t, const struct symtab_entry *e);

/* --- kallsyms.c ---------------------------------------------------------------------------------------- */

enum kallsyms_result { KALLSYMS_OK, KALLSYMS_HIDDEN, KALLSYMS_NONE };

/* Kernel functions from /proc/kallsyms. HIDDEN: all addresses are 0. */
enum kallsyms_result kallsyms_read(FILE *file, struct symtab *out);
/*
 * Opens /tmp/perf-NSPID.map in the target's root. Returns a descriptor and its status, or -1. Anybody may create a file of this
 * name in a shared /tmp, so it is refused, and *note says so, unless the target's user or root owns it and no other user may
 * write to it. Symbolic links are refused.
 */
int perfmap_open(pid_t pid, pid_t nspid, struct stat *st, const char **note);
/* Functions of other JITs, "START SIZE NAME" in hexadecimal. Malformed lines are skipped. */
void perfmap_read(FILE *file, struct symtab *out);

#endif
