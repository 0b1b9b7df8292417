/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unmounted virtual threads, as the wall-clock and lock engines see them: each engine polls them from a thread of its
 * own by walk/frames/unmounted.h. Nothing is hooked or enabled in the JVM, so mounting and unmounting cost nothing
 * extra.
 *
 * A poll covers at most WAITING_PLACES of each thread table, and its results are scaled up to the whole table. The same
 * places are polled for a while, so that polls see waits begin and end.
 *
 * Each instance is used by one thread. Times are in ns.
 */
#ifndef JHOT_SAMPLER_ENGINE_WAITING_H
#define JHOT_SAMPLER_ENGINE_WAITING_H

#include "sampler/signal/signal.h"
#include "walk/frames/unmounted.h"

#define WAITING_PLACES 256u
#define WAITING_LINES  64u /* with SELF_LINES, a poll takes twice the system calls */

struct waiting {
	struct sampler *s;
	struct self_mem self; /* the memory accessor of `java` */
	SELF_LINES_OF(WAITING_LINES) lines;
	struct unmounted java;
	struct unmounted_pick pick;
	bool open;
	uint64_t unread; /* threads that the last waiting_each could not read */
	uint32_t tries;  /* failed attempts to open `java` */
	/* When places were last chosen or confirmed, or opening was last tried. */
	uint64_t placed_ns;
	struct thread_slot slot; /* placeholder: unmounted threads have no slot */
};

/* Initializes the struct and makes a first attempt to open `java`. */
void waiting_open(struct waiting *w, struct sampler *s);
/*
 * True when the threads can be read now. A collector that relocates objects may prevent that, so it is retried for two
 * seconds before the reason is reported to the front end.
 */
bool waiting_ready(struct waiting *w, uint64_t now);
/* Keeps the places for another period, and scans the classes that have been loaded since the last one. */
void waiting_keep_places(struct waiting *w, uint64_t now);
/* Chooses new random places. */
void waiting_new_places(struct waiting *w, uint64_t now);
/*
 * Calls fn for each thread in the chosen places. Unreadable threads are counted as lost to the event. Returns false if
 * there are threads but none could be read.
 */
bool waiting_each(struct waiting *w, uint32_t event, unmounted_fn *fn, void *ctx);

/* The thread's wire id; its name is recorded. 0: not selected for sampling. */
uint32_t waiting_id(struct waiting *w, const struct unmounted_thread *thread);
/*
 * Walks the thread's stack. True if the thread was in the same place before and after; then the caller owns the stack
 * and must call sig_stack_release. *sp: the address in the heap where the stack begins. Call between sig_enter and
 * sig_leave.
 */
bool waiting_stack(struct waiting *w, const struct unmounted_thread *thread, struct stack *stack,
	struct frozen *where, uint64_t *sp);

#endif
