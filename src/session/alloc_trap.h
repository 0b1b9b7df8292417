/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a JDK 8 tells its own tracing of allocations: two functions of libjvm that only its symbols name.
 *
 * Reads the target's maps and files. One thread.
 */
#ifndef JHOT_SESSION_ALLOC_TRAP_H
#define JHOT_SESSION_ALLOC_TRAP_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"
#include "symbols/symbols.h"

#include <stdbool.h>
#include <stdint.h>

struct alloc_trap {
	uint64_t in_buffer, outside; /* addresses in the target; both 0: they are not known */
	uint32_t bytes_argument;     /* which of their arguments is the size; the class is 0 */
};

/* Does this JVM tell of allocations in no other way? false also if its version is not known. */
bool alloc_trap_needed(const struct hotspot *jvm);

/* ERR_FAILED with what to install, if libjvm's symbols are missing or have none of this name. */
int alloc_trap_find(const struct hotspot *jvm, struct symbols *symbols, struct alloc_trap *out,
	struct err *err);

#endif
