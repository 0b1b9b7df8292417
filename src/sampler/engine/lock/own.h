/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of those who wait for locks, private to the files of this event: lock.c looks at threads,
 * waiting.c at virtual threads without a carrier, told.c has the tally and tells of long waits.
 *
 *   lock_thread.told:  NOTHING -> BEGUN -> (publisher: SAID) -> BEGUN, by another owner, or ENDED
 *                      BEGUN -> ENDED;  ENDED -> (publisher: NOTHING)
 *
 * An end is told whatever was told before; the publisher knows whether it has said the beginning.
 */
#ifndef JHOT_SAMPLER_ENGINE_LOCK_OWN_H
#define JHOT_SAMPLER_ENGINE_LOCK_OWN_H

#include "sampler/engine/lock/lock.h"
#include "sampler/engine/lock/wait.h"
#include "sampler/engine/pace.h"
#include "sampler/engine/waiting.h"

#define LOCK_FRAMES   512u /* stacks that are kept; deeper ones are walked at each look */
#define LOCK_FLUSH_NS (100 * NS_PER_MS) /* waits that go on are told so often */
#define LOCK_LONG_NS  (20 * NS_PER_MS)  /* waits that are shown with their owners */
#define LOCK_VIRTUALS 512u              /* virtual threads at a time; a power of two */
#define LOCK_MAX      (THREADS_MAX + LOCK_VIRTUALS)

enum { TOLD_NOTHING, TOLD_BEGUN, TOLD_SAID, TOLD_ENDED };

/* What is known of one thread that waits: by number of its slot; after these virtual threads, in no order. */
struct lock_thread {
	struct lock_wait wait; /* lock 0: it waits for nothing */
	uint64_t since_ns, flushed_ns;
	uint64_t weight_ns; /* not put into the trace table yet */
	uint32_t count;     /* and this neither: waits that have been found */
	uint64_t cpu_ns;    /* of the thread, at the last look at this wait */
	uint32_t slot_id;
	uint32_t looked; /* the slot's id when it was looked at before; 0: not yet */
	bool at_least; /* it waited at the first look: since_ns is the latest that it can have begun */
	uint32_t id; /* of the virtual thread that waits in it; 0: none */
	uint32_t class_id;
	uint32_t frames;     /* kept, the class first; 0: too many */
	uint64_t stands_for; /* of what it has waited, so many times as much counts */
	uint16_t flags, flaw;

	_Atomic uint32_t told;
	struct wire_wait record; /* written before told moves to BEGUN */
	uint64_t ended_ns;       /* and this before it moves to ENDED */
	bool said;               /* the publisher's: this wait was published, its end was not */
};

/* A virtual thread among those, at the same place: what tells one wait of it from the next. */
struct lock_virtual {
	uint64_t number; /* 0: none */
	uint64_t round;  /* the look that found it last */
	uint64_t chunk, depth,
		words; /* where its stack is, how deep in there, a hash of what is on it */
};

/* How far the clock that a CPU's run queue stamps sleepers with is behind ours: each CPU has its own. */
struct lock_clock {
	int32_t cpu;
	uint64_t read_ns; /* 0: never */
	uint64_t behind_ns;
};
#define LOCK_CLOCKS 64u

struct lock {
	_Atomic int32_t tid;
	_Atomic uint32_t leave; /* futex */
	unsigned long thread;   /* pthread_t */
	uint64_t last_ns, owners_ns, forgot_ns, random;
	struct pace pace;
	struct lock_reader reader;
	struct lock_clock clocks[LOCK_CLOCKS]; /* by CPU, modulo */
	struct lock_thread threads[LOCK_MAX];
	uint64_t kept[LOCK_MAX][LOCK_FRAMES];

	struct waiting waiting;
	struct lock_virtual virtuals[LOCK_VIRTUALS];
	uint64_t round;
	uint64_t most; /* that one of them stood for in this look */
};

/* The wait is over: since, how long ago it was seen last. */
void lock_ends(struct sampler *s, struct thread_slot *slot, struct lock_thread *t, uint64_t since);
/* What has been found of it and not been put into the trace table yet. */
void lock_put(struct sampler *s, struct thread_slot *slot, struct lock_thread *t);
/*
 * Names what it waits for, as the stack's leaf, and keeps the stack for the looks to come, so that it is walked only
 * once. One that is too deep to be kept is put into the trace table at each look, with the time since the last one.
 */
void lock_keep(struct sampler *s, struct lock_thread *t, const struct lock_wait *wait,
	struct stack *stack, uint64_t weight_ns);
/* The same wait once more, since its last look. */
void lock_goes_on(struct sampler *s, struct thread_slot *slot, struct lock_thread *t,
	const struct lock_wait *wait, uint64_t now, uint64_t since);
/* Who holds what this thread has been waiting for; told again when it is another. */
void lock_owners(struct sampler *s, struct lock_thread *t, uint64_t now);

/* waiting.c: virtual threads; now and since of this look. */
void lock_waiting_look(struct sampler *s, uint64_t now, uint64_t since);
void lock_waiting_end(struct sampler *s);

#endif
