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
#include "walk/frames/unmounted.h"
#include "walk/hotspot/method.h"
#include "wire/control.h"
#include "wire/record.h"

#define LATENCY_QUEUE  4096u /* a power of two: polls not yet published */
#define LATENCY_LISTED 1024u /* threads polled more often at most */
#define LATENCY_POOLED 64u   /* likewise, while none of them has been found inside yet */
#define LATENCY_POOLS  16u

#define LATENCY_VIRTUALS \
	4096u /* a power of two: virtual threads polled at most, less when the table is crowded */
#define LATENCY_WINDOW    16u
#define LATENCY_TOP_WORDS 40u /* at the top of frozen frames, that are compared */

struct latency_poll {
	struct wire_poll record;
	uint64_t hash; /* of its trace; 0: it has none */
};

/* A virtual thread of the polled subset. */
struct latency_virtual {
	uint64_t number;    /* Thread.threadId */
	uint64_t polled_ns; /* the last poll that found out where it was */
	uint64_t seen_ns;   /* the last round that visited it */
	uint32_t id;        /* on the wire; 0: the entry is free */
	uint32_t weight;    /* number of threads that it represents */
	bool known;         /* a poll has found out where it was */
	bool inside;        /* as of that poll */
	/* Where it was unmounted, as of its last walk; object 0: it has not been walked, or has moved since. */
	struct latency_frozen {
		uint64_t object, chunk, sp; /* sp: in the chunk's stack */
		uint64_t words;             /* hash of the words at sp */
		uint32_t state;             /* VirtualThread.state */
		uint32_t sp_field;          /* StackChunk.sp */
	} at;
};

struct latency {
	/* written by the publisher */
	struct {
		_Atomic uint32_t id, parameters;
		_Atomic uint64_t
			method; /* Method*; 0: not known yet. Also written by the wall clock's thread. */
	} methods[WIRE_TIMED_METHODS];
	_Atomic uint32_t count;         /* of methods; 0: off */
	_Atomic uint64_t interval;      /* as requested, ns */
	char name[SYMBOL_NAME_MAX + 1]; /* of the methods that will be or are selected */
	uint64_t find_ns;               /* when they are searched for again in the code cache */
	uint64_t heap;                  /* HotSpot's CollectedHeap; 0: collections are not known */
	uint64_t heap_low, heap_high;   /* range of references; 0, 0: unknown */
	/* Id of the outermost method of all virtual threads, set when the first unmounted one is walked; 0: not yet. */
	_Atomic uint32_t virtual_root;

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
	/* Threads that the JVM has started, 0 if it does not count them, and that were polled for the first time, as last reported. */
	uint64_t started, started_ns;
	uint32_t first_polls;
	uint32_t dropped; /* entries of threads that are not listed any more, not reported yet */
	/* Virtual threads: see latency_virtual.c. */
	struct latency_virtual virtuals[LATENCY_VIRTUALS];
	uint32_t virtuals_inside;
	bool carriers_counted; /* entries are recorded on carriers */
	uint64_t round_ns;     /* the last round that has visited the whole subset; 0: none yet */
	uint64_t newest,
		newest_now; /* the highest thread number of the rounds before this one, and with it */

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

/* Call at each poll of a thread, before it is asked again: queues the sample that its handler has recorded. */
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

/*
 * Virtual threads, in latency_virtual.c. A fixed random subset of them is polled in rounds, mounted or not: unmounted ones where their
 * frames are in the heap, mounted ones by the polls of their carriers.
 */
/* Queues a poll; counts it as lost if the queue is full. */
void latency_queue(
	struct sampler *s, struct latency *l, const struct wire_poll *record, uint64_t hash);
/* A round visits this thread of the subset. NULL: there is no space for it. */
struct latency_virtual *latency_virtual_visit(
	struct sampler *s, struct latency *l, const struct unmounted_thread *thread, uint64_t now);
/* The thread is unmounted, and in this place. */
void latency_virtual_found(struct sampler *s, struct latency *l, struct latency_virtual *v,
	const struct thread_call *call, uint64_t now);
/* The thread is still where its last poll found it. */
static inline void latency_virtual_rested(struct latency_virtual *v, uint64_t now)
{
	v->polled_ns = now;
}
/* Its carrier's handler found it mounted in this place. Ignored if it is not of the subset. */
void latency_virtual_mounted(struct sampler *s, struct latency *l, const struct thread_call *call);
/* The round that began at `now` has visited all: calls of threads that are gone have ended. */
void latency_virtual_round(
	struct sampler *s, struct latency *l, struct unmounted *java, uint64_t now);
void latency_virtual_forget(struct latency *l);
/*
 * Polls the unmounted threads of the subset between two rounds, at a fraction of a round's cost. Those that are where they were rest;
 * calls moved for each of the others.
 */
typedef void latency_moved_fn(
	void *ctx, struct latency_virtual *v, const struct unmounted_thread *thread);
void latency_virtual_probe(struct sampler *s, struct latency *l, struct unmounted *java,
	uint64_t now, latency_moved_fn *moved, void *ctx);
/* Stores where the thread was frozen when it was walked, for later probes. */
void latency_virtual_walked(struct latency_virtual *v, const struct unmounted *java,
	const struct unmounted_thread *thread, const struct frozen *where, uint64_t sp);
/* Queues what handlers on carriers have recorded, so that polls are queued in their order. Before a round. */
void latency_collect_listed(struct sampler *s, uint64_t now);

/* Removes all breakpoints, at the end of the wall clock's thread. Waits up to a second for handlers. */
void latency_end(struct sampler *s);

#endif
