/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads by HotSpot's own SafeFetch, which fail instead of faulting as long as HotSpot's handler of SIGSEGV is called at
 * all: they need no handler of ours. HotSpot tells nobody where they are; they are found by their code. A word costs
 * some ns more than a guarded load. Signal-safe but for fetch_use.
 */
#ifndef JHOT_WALK_LOAD_FETCH_H
#define JHOT_WALK_LOAD_FETCH_H

#include "walk/types.h"

struct fetch_code {
	const char *bytes;
	uint32_t count, word32,
		word64; /* offsets of SafeFetch32 and SafeFetchN, which begin with the load */
	uint32_t failed32, failed64; /* where they go on when it has failed */
};

/* In libjvm since JDK 17; before that among the first stubs of the code cache. bytes NULL: not known for this CPU. */
extern const struct fetch_code fetch_library, fetch_stubs;
#define FETCH_CODE_MAX 16 /* no code is longer */

/*
 * From now on: this code is at that address. By one thread at a time. everywhere: HotSpot's handler knows it on all
 * threads; on JDK 8 it does so on Java threads only.
 */
void fetch_use(const struct fetch_code *code, uint64_t at, bool everywhere);
bool fetch_ready(void);
bool fetch_everywhere(void);

/*
 * SafeFetchN where it is known on all threads, else NULL: for loads of a word in the middle of other code (mem.h). It
 * returns `otherwise` when it has failed, or by chance.
 */
typedef uint64_t fetch_64(uint64_t addr, uint64_t otherwise);
extern _Atomic(fetch_64 *) fetch_word_everywhere __attribute__((visibility("hidden")));
#define FETCH_NONE 0x9d3a6f1c58e2b704ull

/* Nothing is mapped below: a field of no object is not tried, for a load that fails costs as much as hundreds that do not. */
#define FETCH_LOWEST 4096u

/* In a SIGSEGV or SIGBUS handler: as guard_recover; HotSpot's own handler would do the same, and needs more stack. */
bool fetch_recover(void *ucontext);

/* A walk_mem.load for the own process; false for everything before fetch_use. */
bool fetch_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes);

#endif
