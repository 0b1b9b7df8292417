/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency of single calls: while methods are selected, the wall clock polls threads inside them more often, and reports where
 * each of these polls found the thread (struct wire_poll). The front end reconstructs calls from them.
 *
 *   publisher        latency_select: which methods
 *   handler          sig_latency_record: the place of the call, into the thread's slot
 *   wall clock       latency_collect: from the slot into the queue; latency_tick: polls the threads inside
 *   publisher        latency_publish: from the queue into the ring
 */
#ifndef JHOT_SAMPLER_ENGINE_LATENCY_H
#define JHOT_SAMPLER_ENGINE_LATENCY_H

#include "sampler/engine/entries.h"
#include "sampler/sampler.h"
#include "wire/control.h"
#include "wire/record.h"

#define LATENCY_QUEUE  4096u /* a power of two: polls not yet published */
#define LATENCY_LISTED 1024u /* threads polled more often at most */
#define LATENCY_POOLED 64u   /* likewise, while none of them has been found inside yet */
#define LATENCY_POOLS  16u

struct latency_poll {
	struct wire_poll record;
	uint64_t hash; /* of its trace; 0: it has none */
};

struct latency {
	/* written by the publisher */
	struct {
		_Atomic uint32_t id, parameters;
	} methods[WIRE_TIMED_METHODS];
	_Atomic uint32_t count;       /* of methods; 0: off */
	_Atomic uint64_t interval;    /* as requested, ns */
	uint64_t heap;                /* HotSpot's CollectedHeap; 0: collections are not known */
	uint64_t heap_low, heap_high; /* range of references; 0, 0: unknown */

	/* private to the wall clock's thread */
	/* Slots of the threads that were inside lately, and of threads with the same names but for digits. */
	uint32_t listed[LATENCY_LISTED];
	uint32_t listed_count;
	uint64_t pools[LATENCY_POOLS]; /* hashes of such names */
	uint32_t pool_count;
	uint32_t cursor; /* the next slot in which a new thread is looked for */
	struct entries_thread entered[LATENCY_LISTED]; /* of listed[i] */
	struct entries entries;
	uint64_t in_force; /* the interval that keeps to the budget, ns */
	uint64_t checked_ns, spent_ns;

	/* single producer: the wall clock's thread; single consumer: the publisher */
	_Atomic uint32_t head, tail;
	struct latency_poll queue[LATENCY_QUEUE];
};

/* Selects the methods of a WIRE_OP_LATENCY. 0 or -errno with a reason in text. Publisher only. */
int latency_select(struct sampler *s, const struct wire_command *c, char *text, size_t bytes);
/* Publishes queued polls whose traces have been published, as far as the ring has space. Publisher only. */
void latency_publish(struct sampler *s);
uint64_t latency_memory(const struct sampler *s);

/* The state if methods are selected, else NULL. Any thread. */
static inline struct latency *latency_on(struct sampler *s)
{
	struct latency *l = atomic_load_explicit(&s->latency, memory_order_acquire);

	return l && atomic_load_explicit(&l->count, memory_order_relaxed) ? l : NULL;
}

/* --- for the wall clock's thread ------------------------------------------------------------- */

/* Call at each poll of a thread, before it is asked again: queues what its handler has recorded. */
void latency_collect(struct sampler *s, struct thread_slot *slot, uint64_t now);
/* The thread has ended: so has its call. */
void latency_ended(struct sampler *s, struct thread_slot *slot, uint64_t now);
/* The thread is still where its last sample found it. */
void latency_rested(struct sampler *s, struct thread_slot *slot, uint64_t now);
/* The thread is asked for a sample at `now`; cpu, delay: its CPU time and run-queue delay. */
void latency_asked(
	struct sampler *s, struct thread_slot *slot, uint64_t cpu, uint64_t delay, uint64_t now);
/*
 * Calls poll for each thread that is due. Returns the time until the next is due, UINT64_MAX if there is none.
 */
uint64_t latency_tick(
	struct sampler *s, void (*poll)(void *ctx, struct thread_slot *slot), void *ctx);

/* Removes all breakpoints, at the end of the wall clock's thread. Waits up to a second for handlers. */
void latency_end(struct sampler *s);

#endif
