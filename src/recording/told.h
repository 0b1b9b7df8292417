/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file has been told of so far: names, stacks and threads get numbers of the file's own when something first uses
 * them, in the order in which they are written. One thread.
 */
#ifndef JHOT_RECORDING_TOLD_H
#define JHOT_RECORDING_TOLD_H

#include "base/buf.h"
#include "profile/profile.h"

struct told_numbers {
	uint32_t *of; /* by the profile's number: the file's + 1; 0: none */
	uint32_t cap, count;
};

struct told_thread {
	uint32_t serial, number; /* number: the file's + 1 */
	uint64_t hash;           /* of what was told */
};

/* Zero-initialised. The buffers are chunks to be written, in this order, before what uses them. */
struct told {
	struct told_numbers methods, frames, stacks;
	struct told_thread *threads; /* by the profile's number */
	uint32_t thread_cap, thread_count;
	struct buf methods_out, frames_out, stacks_out, threads_out;
	uint32_t *chain, chain_cap;
	uint32_t swept; /* of the profile, when the numbers were given */
	bool forgot;    /* to be told: all but threads begins anew */
};
void told_done(struct told *t);
/* Before anything of a second is told: what the profile's numbers meant may be gone. */
void told_check(struct told *t, const struct profile *p);
/* The file's numbers. PROFILE_ROOT_STACK is 0. */
uint32_t told_method(struct told *t, const struct profile *p, uint32_t method);
uint32_t told_stack(struct told *t, const struct profile *p, uint32_t stack);
uint32_t told_thread(struct told *t, const struct profile *p, uint32_t thread);
/* All threads that are new, or called otherwise than before. */
void told_threads(struct told *t, const struct profile *p);

#endif
