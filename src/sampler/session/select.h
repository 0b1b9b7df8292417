/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads are sampled: those whose names match a pattern (glob.h). Publisher only, but for the flag in each slot.
 *
 * A thread that has no name yet is not sampled while there is a pattern.
 */
#ifndef JHOT_SAMPLER_SESSION_SELECT_H
#define JHOT_SAMPLER_SESSION_SELECT_H

#include "sampler/sampler.h"

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

#endif
