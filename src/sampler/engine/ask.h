/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requesting a sample from a thread, on behalf of an agent thread that polls.
 *
 *   requesting thread:  slot->asked[who] = ns, then a signal
 *   target's handler:   consumes the ns, walks its stack, and records a sample of that weight
 *
 * Pending signals coalesce, and a thread may block them, so the ns stay in the slot until a handler or an impatient
 * requester consumes them.
 */
#ifndef JHOT_SAMPLER_ENGINE_ASK_H
#define JHOT_SAMPLER_ENGINE_ASK_H

#include "sampler/sampler.h"

/*
 * Sends the signal. Returns false if the thread has ended, the kernel's signal queue is full, or the thread must get no
 * signals (collect.h). May block for some ms (collect_permits).
 */
bool ask_signal(struct sampler *s, struct thread_slot *slot, uint32_t event);

/*
 * Consumes a request that has not been answered, and records its ns under [unknown]. For a thread that blocks the
 * signal or gets no core.
 */
void ask_unanswered(struct sampler *s, struct thread_slot *slot, enum thread_ask who,
	uint32_t event, uint32_t state);

/* Waits up to 20 ms for outstanding requests of `who` to be answered. Call once no new requests are made. */
void ask_wait(struct sampler *s, enum thread_ask who);

#endif
