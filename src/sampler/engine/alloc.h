/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rest of the agent asks of the event of allocations, and its sampled objects that live on.
 *
 * Of the sampled objects those that survive: each is remembered by a weak reference until a collection has looked at
 * it, and becomes a sample of its allocation site if it is still there then. An object counts once.
 *
 *   callback: FREE -> FILLED      after a collection, on the visiting thread: FILLED -> FREE
 *
 * The table is bounded. The fuller it is, the fewer objects are admitted, and the more each of them weighs, so that sums
 * and shares stay unbiased. An object that finds no entry is counted as lost. All references are given back when the event
 * stops.
 */
#ifndef JHOT_SAMPLER_ENGINE_ALLOC_H
#define JHOT_SAMPLER_ENGINE_ALLOC_H

#include "sampler/jvm/jvm.h"
#include "sampler/signal/signal.h"

/* Says what the JVM does not tell of, once that is seen to matter. */
void alloc_publish(struct sampler *s);

/* --- alloc_live.c ------------------------------------------------------------------------------ */

struct live;

/* For the whole session; references that are still there at its end stay with the JVM. */
struct live *live_new(struct sampler *s);
/* All references are given back, but for one that a callback is filling in just now. On the visiting thread. */
void live_release(struct live *live, JNIEnv *jni);
/*
 * Remembers the object whose stack this is, its class before the leaf, unless the table is so full that only some objects
 * are admitted and this is not one of them. Returns false if it was admitted but found no entry. In the JVM's callback.
 */
bool live_remember(
	struct live *live, JNIEnv *jni, jobject object, const struct stack *stack, uint64_t weight);
/* A collection, or a pause of one, is over. At a safepoint. */
void live_collected(struct live *live);
/* Is there anything to look at since the last one? Any thread. */
bool live_due(struct live *live);
/* Are there objects that no canary is younger than? A sweep makes one. */
bool live_stale(struct live *live);
/* On the visiting thread. */
void live_sweep(struct live *live, struct sampler *s, JNIEnv *jni);

#endif
