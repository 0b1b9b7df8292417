/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rest of the agent asks of the event of allocations, and its sampled objects that live on.
 *
 * Survivors: a weak reference tracks each sampled object until the next collection. If the object survives that, it becomes
 * a sample of its allocation site. Each object counts once.
 *
 *   callback: FREE -> FILLED      after a collection, on the visiting thread: FILLED -> FREE
 *
 * The table is bounded. The fuller it is, the fewer objects are admitted, and the more each of them weighs, so that sums
 * and shares stay unbiased. An object that finds no entry is counted as lost. All references are given back when the event
 * stops.
 */
#ifndef JHOT_SAMPLER_ENGINE_ALLOC_ALLOC_H
#define JHOT_SAMPLER_ENGINE_ALLOC_ALLOC_H

#include "sampler/jvm/jvm.h"
#include "sampler/signal/signal.h"

#include "walk/hotspot/layout.h"
#include "walk/load/mem.h"

/* Publishes a note about allocations that the JVM does not report, once they are significant. */
void alloc_publish(struct sampler *s);

/* --- weight.c ---------------------------------------------------------------------------- */

#define ALLOC_EXACT 25 /* from this JDK on HotSpot's points lie where they should (JDK-8356372) */

/* A sampled object, and what HotSpot knows of its thread's allocations up to it. 0: not known. */
struct alloc_object {
	uint64_t size, at;
	uint64_t start, top, end,
		buffer_bytes;   /* the buffer: filled up to top; how large the next shall be */
	bool outside;           /* the object is outside of the buffer */
	bool counted;           /* the following are known */
	uint64_t all;           /* bytes that the thread has allocated */
	uint64_t epoch;         /* differs after a collection, which resets: */
	uint64_t inside, waste; /* bytes in buffers; left over at their ends */
	uint32_t refills, slow; /* buffers; objects outside of them */
	uint64_t pending;       /* bytes that HotSpot takes for allocated since the last point */
	uint64_t next;          /* bytes up to the next point */
};

/* Reads it in the JVM's callback. `handle` is a local reference. */
struct alloc_object alloc_object(const struct walk_layout *l, const struct walk_mem *mem,
	uint64_t java_thread, uint64_t handle, uint64_t size);
/*
 * The interval from which HotSpot drew the thread's next point: the one of its last sample, whatever the JVM has been told since.
 * Before its first sample that is not known: `told`, the interval that the JVM was told last.
 */
uint64_t alloc_drawn(const struct alloc_past *past, uint64_t told);
/* The bytes that the object stands for. Updates `past`, which is its thread's own. `told` as above. */
uint64_t alloc_weight(const struct walk_layout *l, struct alloc_past *past,
	const struct alloc_object *o, uint64_t told);
/* False if the JVM leaves out so much that weights cannot put it right. */
bool alloc_weighable(const struct walk_layout *l);

/* --- live.c ------------------------------------------------------------------------------ */

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
