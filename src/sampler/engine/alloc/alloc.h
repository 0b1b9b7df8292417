/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocation event: its interface to the rest of the agent, the weights of its samples, and the tracking of sampled
 * objects that survive.
 *
 * Survivors: a weak reference tracks each sampled object until the next collection. An object that survives it becomes
 * a sample of its allocation site. Each object counts once.
 *
 *   callback: FREE -> FILLED      after a collection, in a VM call: FILLED -> FREE
 *
 * The table is bounded. The fuller it is, the fewer objects are admitted and the more each of them weighs, so that sums
 * and shares stay unbiased. An admitted object that finds no entry is counted as lost. All references are deleted when
 * the event stops.
 *
 * Sizes, positions and weights are in bytes.
 */
#ifndef JHOT_SAMPLER_ENGINE_ALLOC_ALLOC_H
#define JHOT_SAMPLER_ENGINE_ALLOC_ALLOC_H

#include "sampler/jvm/jvm.h"
#include "sampler/signal/signal.h"

#include "walk/hotspot/layout.h"
#include "walk/load/mem.h"

/* --- weight.c ---------------------------------------------------------------------------- */

/* HotSpot places sampling points correctly from this JDK on (JDK-8356372). */
#define ALLOC_EXACT 25

/* A sampled object, and HotSpot's accounting of its thread's allocations up to it. 0: unknown. */
struct alloc_object {
	uint64_t size, at;
	/* The thread's buffer: filled up to `top`; buffer_bytes is the target size of the next one. */
	uint64_t start, top, end, buffer_bytes;
	bool outside;           /* true when the object lies outside the buffer */
	bool counted;           /* true when the fields below are known */
	uint64_t all;           /* bytes that the thread has allocated */
	uint64_t epoch;         /* changes with each collection, which resets the counts below */
	uint64_t inside, waste; /* bytes allocated in buffers; bytes left over at their ends */
	uint32_t refills, slow; /* buffers; allocations outside them */
	uint32_t here;    /* allocations outside since the buffer was acquired, this one included */
	uint64_t pending; /* bytes that HotSpot considers allocated since the last point */
	uint64_t next;    /* bytes up to the next point */
};

/*
 * Reads the object's accounting by loads from the JVM's memory. For the JVM's callback, on the allocating thread.
 * `handle` is a local reference, `size` is in bytes.
 */
struct alloc_object alloc_object(const struct walk_layout *l, const struct walk_mem *mem,
	uint64_t java_thread, uint64_t handle, uint64_t size);
/* The object's weight in bytes. Updates `past`, which belongs to the object's thread. `jvm_interval`: set in the JVM last. */
uint64_t alloc_weight(const struct walk_layout *l, struct alloc_past *past,
	const struct alloc_object *o, uint64_t jvm_interval);
/* False when the JVM's layout lacks the fields that weights are corrected by: samples before JDK 25 are then biased. */
bool alloc_weighable(const struct walk_layout *l);

/* --- live.c ------------------------------------------------------------------------------ */

struct live;

/*
 * Allocates the table for the whole session; NULL without memory. References that still exist when the session ends
 * stay with the JVM.
 */
struct live *live_new(struct sampler *s);
/* Deletes all references, except one that a callback is filling in at the moment. In a VM call. */
void live_release(struct live *live, JNIEnv *jni);
/*
 * Tracks the object. `stack` is its allocation site, with the class before the leaf. A full table admits only a random
 * part of the objects. Returns false only if the object was admitted but found no entry, and is to be counted as lost.
 * In the JVM's callback; does not block.
 */
bool live_track(
	struct live *live, JNIEnv *jni, jobject object, const struct stack *stack, uint64_t weight);
/* Records that a collection, or a pause of one, has ended. At a safepoint. */
void live_collected(struct live *live);
/* True when a collection has ended since the last sweep. Any thread. */
bool live_due(struct live *live);
/* True when objects exist that are younger than every canary; a sweep then makes a new canary. Any thread. */
bool live_stale(struct live *live);
/* Turns survivors into samples and releases all objects that a collection has decided on. In a VM call. */
void live_sweep(struct live *live, struct sampler *s, JNIEnv *jni);

#endif
