/* SPDX-License-Identifier: Apache-2.0 */
/* Weak references to sampled objects, until the next collection has spared them or not. */
#include "sampler/alloc_live.h"

#include "sampler/raw.h"

#include <string.h>

#define LIVE_OBJECTS 4096u
#define LIVE_PROBES  16u
#define LIVE_FRAMES  254u /* deeper stacks lose their root and say so */

enum { LIVE_FREE, LIVE_BUSY, LIVE_FILLED };

struct live_object {
	_Atomic uint32_t state;
	uint32_t collections; /* that were over when it was allocated */
	jweak reference;
	struct thread_slot *thread; /* pinned */
	uint64_t weight;
	uint32_t frame_count;
	uint16_t flags;
	uint64_t frames[LIVE_FRAMES];
};

struct live {
	_Atomic uint32_t next, collections;
	uint32_t swept; /* collections at the last sweep */
	struct live_object objects[LIVE_OBJECTS];
};

struct live *live_new(void)
{
	return raw_map(sizeof(struct live));
}

static void object_release(struct live_object *o, JNIEnv *jni)
{
	(*jni)->DeleteWeakGlobalRef(jni, o->reference);
	atomic_fetch_sub(&o->thread->pins, 1);
	atomic_store_explicit(&o->state, LIVE_FREE, memory_order_release);
}

void live_free(struct live *live, JNIEnv *jni)
{
	for (uint32_t i = 0; live && jni && i < LIVE_OBJECTS; i++) {
		if (atomic_load(&live->objects[i].state) == LIVE_FILLED)
			object_release(&live->objects[i], jni);
	}
	if (live)
		raw_unmap(live, sizeof(*live));
}

static struct live_object *live_take(struct live *live)
{
	for (uint32_t i = 0; i < LIVE_PROBES; i++) {
		uint32_t at = atomic_fetch_add(&live->next, 1) % LIVE_OBJECTS, free = LIVE_FREE;

		if (atomic_compare_exchange_strong(&live->objects[at].state, &free, LIVE_BUSY))
			return &live->objects[at];
	}
	return NULL;
}

bool live_remember(
	struct live *live, JNIEnv *jni, jobject object, const struct stack *stack, uint64_t weight)
{
	struct live_object *o = live_take(live);
	uint32_t count = stack->count + 1;

	if (!o)
		return false;
	o->collections = atomic_load(&live->collections);
	o->reference = (*jni)->NewWeakGlobalRef(jni, object);
	if (!o->reference) {
		atomic_store(&o->state, LIVE_FREE);
		return false;
	}
	o->weight = weight;
	o->flags = stack->flags;
	if (count > LIVE_FRAMES) {
		count = LIVE_FRAMES;
		o->flags |= WIRE_TRACE_TRUNCATED;
	}
	o->frame_count = count;
	memcpy(o->frames, stack->user - 1, count * sizeof(o->frames[0]));
	o->thread = stack->thread;
	atomic_fetch_add(&o->thread->pins, 1);
	atomic_store_explicit(&o->state, LIVE_FILLED, memory_order_release);
	return true;
}

void live_collected(struct live *live)
{
	atomic_fetch_add(&live->collections, 1);
}

bool live_due(struct live *live)
{
	return atomic_load(&live->collections) != live->swept;
}

/* object_put: a sample of the site where it was allocated. */
static void object_put(struct live_object *o, struct sampler *s)
{
	struct stack stack = {.s = s,
		.thread = o->thread,
		.user = o->frames,
		.count = o->frame_count,
		.flags = o->flags};

	sig_stack_put(&stack,
		&(struct stack_sample){.event = WIRE_ALLOC, .count = 1, .weight = o->weight});
}

void live_sweep(struct live *live, struct sampler *s, JNIEnv *jni)
{
	uint32_t collections = atomic_load(&live->collections);

	for (uint32_t i = 0; i < LIVE_OBJECTS; i++) {
		struct live_object *o = &live->objects[i];

		if (atomic_load_explicit(&o->state, memory_order_acquire) != LIVE_FILLED ||
			o->collections == collections)
			continue;
		if (!(*jni)->IsSameObject(jni, o->reference, NULL))
			object_put(o, s);
		object_release(o, jni);
	}
	live->swept = collections;
}
