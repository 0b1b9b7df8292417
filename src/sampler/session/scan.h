/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that come and go: each gets a slot in the list and the engines of the events that are on.
 *
 * scan_thread_starts and _ends, select_new and _named are for a JVMTI callback, on the thread itself, too; the rest is
 * the publisher's.
 */
#ifndef JHOT_SAMPLER_SESSION_SCAN_H
#define JHOT_SAMPLER_SESSION_SCAN_H

#include "sampler/sampler.h"

/* A thread begins (its JavaThread*, or 0), or ends to be Java's. NULL: there is no space for it. */
struct thread_slot *scan_thread_starts(struct sampler *s, int32_t tid, uint64_t java_thread);
void scan_thread_ends(struct sampler *s, int32_t tid);

/*
 * scan_threads: find threads by /proc/self/task (s->task_fd) and by the JVM's own list, give up those that are gone; a
 * slot is given away two flips of the trace table after its thread was found gone. whole: look at known threads, too.
 */
void scan_threads(struct sampler *s, bool whole);

/* The JVM lists it: it has its slot and its name from then on. false: it was known, or is the agent's own. */
bool scan_listed(struct sampler *s, const struct walk_listed *thread);

/* --- select.c ---------------------------------------------------------------------------------- */

/*
 * Which threads are sampled: those whose names match a pattern (glob_any). A thread that has no name yet is not sampled
 * while there is a pattern.
 */

/* From now on only these, running events included. */
void select_set(struct sampler *s, const char *pattern);
/* Looks at threads that are new or renamed. */
void select_update(struct sampler *s);
/* A new thread, before an engine may be set on it. Also on the thread itself. */
void select_new(struct sampler *s, struct thread_slot *slot);
/*
 * One whose name is known at its start is chosen, and sampled, at once: a short one would be over before the next look.
 * On the thread itself.
 */
void select_named(struct sampler *s, struct thread_slot *slot);

/* --- starts.c ---------------------------------------------------------------------------------- */

/*
 * Starts of threads where the JVM does not tell of them: the end of its list, where the newest are, is looked at often,
 * and ten times more often for a while after it has started threads that were gone by the next look.
 *
 * What a thread ran before it was found is in its first sample (arms.c), so only those that never were are missing.
 * Times in ns.
 */

/* Looks, if it is needed in this JVM. */
void starts_look(struct sampler *s, uint64_t now);
/* So many start that each is left to the process's own clock: nobody lists them. Also on the thread itself. */
bool starts_pass(const struct sampler *s);
/* How long until the next look; UINT64_MAX: there is no need. */
uint64_t starts_pause(struct sampler *s, uint64_t now);

#endif
