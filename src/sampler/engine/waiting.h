/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual threads that wait without a carrier, as the engines of the wall clock and of locks see them: each looks at
 * them from a thread of its own, by walk/frames/unmounted.h. Nothing is hooked, nothing in the JVM is switched on: mounts and
 * unmounts cost what they cost without.
 *
 * A look goes through at most WAITING_PLACES of each table of threads; what it finds stands for the others, too. The
 * same places are looked at for a while, so that waits are seen to begin and to end.
 */
#ifndef JHOT_SAMPLER_ENGINE_WAITING_H
#define JHOT_SAMPLER_ENGINE_WAITING_H

#include "sampler/signal/signal.h"
#include "walk/frames/unmounted.h"

#define WAITING_PLACES 256u

struct waiting {
	struct sampler *s;
	struct here here; /* which java reads by */
	struct here_lines lines;
	struct unmounted java;
	struct unmounted_pick pick;
	bool open;
	uint32_t tries;          /* to open it */
	uint64_t moved_ns;       /* when other places were chosen */
	struct thread_slot slot; /* stands for a thread, which they have none of */
};

void waiting_open(struct waiting *w, struct sampler *s);
/*
 * Can they be looked at now? What a collector has moved just then may not let it be: it is tried again for a while, then
 * the front end is told why not.
 */
bool waiting_ready(struct waiting *w, uint64_t now);
/* The same places for a while more; classes that have been loaded meanwhile are known from now on. */
void waiting_stay(struct waiting *w, uint64_t now);
/* Other places from now on. */
void waiting_move(struct waiting *w, uint64_t now);
/* Those that cannot be read are lost to this event. false: none was found where there are some. */
bool waiting_each(struct waiting *w, uint32_t event, unmounted_fn *fn, void *ctx);

/* Its id on the wire; its name is remembered. 0: it is not to be sampled. */
uint32_t waiting_id(struct waiting *w, const struct unmounted_thread *thread);
/*
 * Its stack, if it is where it was when that has been walked; whoever gets it gives it back. sp: where in the heap it
 * begins. Inside the session's room (sig_enter).
 */
bool waiting_stack(struct waiting *w, const struct unmounted_thread *thread, struct stack *stack,
	struct frozen *where, uint64_t *sp);

#endif
