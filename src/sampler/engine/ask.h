/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking a thread for a sample of itself, by a thread of the agent that goes round.
 *
 *   the asking thread:  slot->asked[who] = ns   then a signal
 *   its own handler:    takes these ns, walks, and puts a sample that stands for them
 *
 * Signals that are pending at once become one, and a thread may block them: the ns stay in the slot until a handler, or
 * whoever has lost patience, takes them.
 */
#ifndef JHOT_SAMPLER_ENGINE_ASK_H
#define JHOT_SAMPLER_ENGINE_ASK_H

#include "sampler/sampler.h"

/* The signal. false: the thread has ended, the kernel has no space for one, or the thread must get none (collect.h). */
bool ask_signal(struct sampler *s, struct thread_slot *slot, uint32_t event);

/* It blocks the signal, or gets no core: what it was asked for, if it has not answered, goes to [unknown]. */
void ask_unanswered(struct sampler *s, struct thread_slot *slot, enum thread_ask who,
	uint32_t event, uint32_t state);

/* Nobody asks any more: who was asked gets some time to answer. */
void ask_wait(struct sampler *s, enum thread_ask who);

#endif
