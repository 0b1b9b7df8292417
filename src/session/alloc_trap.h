/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two functions of JDK 8's libjvm that report allocations to its own tracing: breakpoints there sample the event alloc.
 * They are found by the library's symbols, which are often a separate package.
 *
 * Reads the target's maps and files, which may block. Single-threaded.
 */
#ifndef JHOT_SESSION_ALLOC_TRAP_H
#define JHOT_SESSION_ALLOC_TRAP_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"
#include "symbols/symbols.h"

#include <stdbool.h>
#include <stdint.h>

struct alloc_trap {
	/* Addresses in the target of the functions for a new TLAB and for an object outside of TLABs; 0: unknown. */
	uint64_t in_buffer, outside;
	/* Index of the argument with the size; argument 0 is the class. */
	uint32_t bytes_argument;
};

/* True when this JVM has no JVMTI allocation events (JDK 8 to 10). False if its version is unknown. */
bool alloc_trap_needed(const struct hotspot *jvm);

/* 0, or -1 with ERR_FAILED and hints which package to install, if libjvm has no symbols for these functions. */
int alloc_trap_find(const struct hotspot *jvm, struct symbols *symbols, struct alloc_trap *out,
	struct err *err);

#endif
