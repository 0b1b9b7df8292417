/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangled names of symbol tables, computed on the loader's thread (LOADER_NAMES).
 *
 * A mangled name comes from the target and may be arbitrarily expensive to demangle, so the thread that draws never does it.
 * Names that are not mangled are answered at once. Requests are batched: one batch runs, the next one collects.
 *
 * The loader's thread sees copies of the mangled texts only. Tables belong to the owner's thread, which calls all of
 * these functions. Zero-initialize all but loader.
 */
#ifndef JHOT_SYMBOLS_NAMES_H
#define JHOT_SYMBOLS_NAMES_H

#include "symbols/loader.h"
#include "symbols/symtab.h"

struct names {
	struct loader *loader;
	struct names_batch *running;  /* the loader's until it is done; NULL: none */
	struct names_request *queued; /* of the next batch */
	uint32_t queued_count, queued_cap;
};

/* The entry's name, valid until symtab_done; "" for a SYMTAB_BOUNDARY; NULL: being demangled, retry later. */
const char *names_get(struct names *n, struct symtab *t, const struct symtab_entry *e);
/* True while a batch runs or waits. */
bool names_are_pending(const struct names *n);
/* Drops the pending requests for a table. Call before symtab_done of a table that was passed to names_get. */
void names_forget(struct names *n, const struct symtab *t);
/* Only after loader_free has returned true. */
void names_done(struct names *n);

#endif
