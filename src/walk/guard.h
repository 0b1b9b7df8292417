/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guarded loads inside the own process: a load that faults fails instead of killing the process.
 *
 * The loads are a few instructions at known addresses. Whoever owns SIGSEGV and SIGBUS calls
 * guard_recover first; it recognises a fault by its pc alone (HotSpot uses both signals for itself, and
 * all its faults have other pcs), moves the pc to the failure exit and says true: return from the
 * handler. SIGSEGV and SIGBUS must not be blocked where guarded loads run, signal handlers included: so the
 * handler of these two blocks every signal whose own handler loads (sa_mask).
 * No state: any number of threads and nested handlers may load at once.
 */
#ifndef JHOT_WALK_GUARD_H
#define JHOT_WALK_GUARD_H

#include "walk/walk.h"

/* A walk_mem.load for the own process. Signal-safe. */
bool guard_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
	__attribute__((visibility("hidden")));

/* In a SIGSEGV or SIGBUS handler: true when the fault was a guarded load's and has been dealt with. */
bool guard_recover(void *ucontext);

#define GUARD_MEM                               \
	{                                       \
		.load = guard_load, .ctx = NULL \
	}

#endif
