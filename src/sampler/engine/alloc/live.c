/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weak references to sampled objects, retained until a collection has decided on them.
 *
 * The end of a collection is not sufficient: the JVM also reports each pause of a concurrent one (G1's remark and
 * cleanup, all of ZGC's and Shenandoah's), and objects allocated during marking survive it unexamined. Therefore
 * unreachable objects serve as canaries: once a canary was collected, everything older than it has been examined. The
 * younger canary is replaced at each sweep, so that a single collection decides on nearly everything; the elder is
 * retained until it is collected, because a marking may take longer than the time between two sweeps.
 */
#include "sampler/engine/alloc/alloc.h"

#include "sampler/engine/arms.h"
#include "sampler/jvm/jvm.h"
#include "sampler/session/memory.h"
#include "sampler/signal/raw.h"

#include <string.h>

#define LIVE_OBJECTS 4096u
#define LIVE_PROBES  16u
/*
 * Every object is admitted while the table is at most half full. Beyond that, each further LIVE_STEP entries halve the
 * probability of admission, and the weight of an admitted object is multiplied by its inverse. The table therefore has
 * space for 130,000 sampled objects between two collections.
 */
#define LIVE_STEP   (LIVE_OBJECTS / 16)
#define LIVE_FRAMES 254u /* deeper stacks are truncated at the root and flagged */

enum { LIVE_FREE, LIVE_BUSY, LIVE_FILLED };

struct live_object {
	_Atomic uint32_t state;
	uint32_t age; /* canaries with a higher number are younger than the object */
	jweak reference;
	struct thread_slot *thread; /* pinned */
	uint32_t id;                /* id of the thread, or of the virtual thread that it carried */
	uint64_t weight;
	uint32_t frame_count;
	uint16_t flags;
	uint64_t frames[LIVE_FRAMES];
};

struct canary {
	jweak reference; /* NULL: none */
	uint32_t number;
};

struct live {
	_Atomic uint32_t next, collections;
	_Atomic uint32_t used;    /* entries in use */
	_Atomic uint32_t number;  /* number of the last canary */
	_Atomic uint32_t swept;   /* value of collections at the last sweep */
	_Atomic uint32_t tracked; /* objects ever tracked */
	_Atomic uint32_t behind;  /* value of tracked when the last canary was made */
	struct canary elder, younger;
	struct live_object objects[LIVE_OBJECTS];
};

struct live *live_new(struct sampler *s)
{
	return sampler_part_new(s, sizeof(struct live));
}

static void object_free(struct live *live, struct live_object *o)
{
	atomic_store_explicit(&o->state, LIVE_FREE, memory_order_release);
	atomic_fetch_sub(&live->used, 1);
}

static void object_release(struct live *live, struct live_object *o, JNIEnv *jni)
{
	(*jni)->DeleteWeakGlobalRef(jni, o->reference);
	atomic_fetch_sub(&o->thread->pins, 1);
	object_free(live, o);
}

static void canary_release(struct canary *c, JNIEnv *jni)
{
	if (c->reference)
		(*jni)->DeleteWeakGlobalRef(jni, c->reference);
	c->reference = NULL;
}

void live_release(struct live *live, JNIEnv *jni)
{
	canary_release(&live->elder, jni);
	canary_release(&live->younger, jni);
	for (uint32_t i = 0; i < LIVE_OBJECTS; i++) {
		if (atomic_load(&live->objects[i].state) == LIVE_FILLED)
			object_release(live, &live->objects[i], jni);
	}
}

static struct live_object *live_acquire(struct live *live)
{
	for (uint32_t i = 0; i < LIVE_PROBES; i++) {
		uint32_t at = atomic_fetch_add(&live->next, 1) % LIVE_OBJECTS, free = LIVE_FREE;

		if (atomic_compare_exchange_strong(&live->objects[at].state, &free, LIVE_BUSY)) {
			atomic_fetch_add(&live->used, 1);
			return &live->objects[at];
		}
	}
	return NULL;
}

/* One object in this many is admitted. Depends only on how full the table is. */
static uint32_t live_thinning(struct live *live)
{
	uint32_t used = atomic_load(&live->used);

	return used <= LIVE_OBJECTS / 2 ? 1 : 2u << (used - LIVE_OBJECTS / 2 - 1) / LIVE_STEP;
}

bool live_track(
	struct live *live, JNIEnv *jni, jobject object, const struct stack *stack, uint64_t weight)
{
	uint32_t count = stack->count + 1, thinning = live_thinning(live);

	if (thinning > 1 && arms_random(thinning) != 0)
		return true;
	struct live_object *o = live_acquire(live);
	if (!o)
		return false;
	o->age = atomic_load(&live->number);
	o->reference = (*jni)->NewWeakGlobalRef(jni, object);
	if (!o->reference) {
		object_free(live, o);
		return false;
	}
	o->weight = weight * thinning;
	o->flags = stack->flags;
	if (count > LIVE_FRAMES) {
		count = LIVE_FRAMES;
		o->flags |= WIRE_TRACE_TRUNCATED;
	}
	o->frame_count = count;
	memcpy(o->frames, stack->user - 1, count * sizeof(o->frames[0]));
	o->thread = stack->thread;
	o->id = stack->id;
	atomic_fetch_add(&o->thread->pins, 1);
	atomic_store_explicit(&o->state, LIVE_FILLED, memory_order_release);
	atomic_fetch_add(&live->tracked, 1);
	return true;
}

void live_collected(struct live *live)
{
	atomic_fetch_add(&live->collections, 1);
}

bool live_stale(struct live *live)
{
	return atomic_load(&live->tracked) != atomic_load(&live->behind);
}

bool live_due(struct live *live)
{
	return atomic_load(&live->collections) != atomic_load(&live->swept);
}

/* Records the object as a sample of its allocation site. */
static void object_record(struct live_object *o, struct sampler *s)
{
	struct stack stack = {.s = s,
		.thread = o->thread,
		.id = o->id,
		.user = o->frames,
		.count = o->frame_count,
		.flags = o->flags};

	sig_stack_record(&stack,
		&(struct stack_sample){.event = WIRE_ALLOC, .count = 1, .weight = o->weight});
}

/* Makes a canary. Its number is published before it exists, so that every object with a lower age is older. */
static void canary_make(struct live *live, struct canary *c, JNIEnv *jni)
{
	jclass class = jvm_class(jni, "java.lang.Object");

	atomic_store(&live->behind, atomic_load(&live->tracked));
	c->number = atomic_fetch_add(&live->number, 1) + 1;
	jobject object = class ? (*jni)->AllocObject(jni, class) : NULL;
	c->reference = object ? (*jni)->NewWeakGlobalRef(jni, object) : NULL;
	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni); /* the heap is full: the next sweep tries again */
	(*jni)->DeleteLocalRef(jni, object);
	(*jni)->DeleteLocalRef(jni, class);
}

/* True when the canary has been collected: everything older than *decided, its number, has been examined. */
static bool canary_collected(struct canary *c, JNIEnv *jni, uint32_t *decided)
{
	if (!c->reference || !(*jni)->IsSameObject(jni, c->reference, NULL))
		return false;
	*decided = c->number;
	canary_release(c, jni);
	return true;
}

static uint32_t canaries_poll(struct live *live, JNIEnv *jni)
{
	uint32_t decided = 0;

	canary_collected(&live->elder, jni, &decided);
	canary_collected(&live->younger, jni, &decided);
	if (!live->elder.reference) {
		live->elder = live->younger;
		live->younger.reference = NULL;
	}
	canary_release(&live->younger, jni);
	canary_make(live, live->elder.reference ? &live->younger : &live->elder, jni);
	return decided;
}

void live_sweep(struct live *live, struct sampler *s, JNIEnv *jni)
{
	uint32_t collections = atomic_load(&live->collections);
	uint32_t decided = canaries_poll(live, jni);

	atomic_store(&live->swept, collections);
	for (uint32_t i = 0; i < LIVE_OBJECTS; i++) {
		struct live_object *o = &live->objects[i];

		if (atomic_load_explicit(&o->state, memory_order_acquire) != LIVE_FILLED ||
			o->age >= decided)
			continue;
		if (!(*jni)->IsSameObject(jni, o->reference, NULL))
			object_record(o, s);
		object_release(live, o, jni);
	}
}
