/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the lock event, private to its files. The event's thread owns all of it unless stated otherwise; times are
 * in ns.
 *
 *   lock.c      polls threads
 *   waiting.c   polls unmounted virtual threads
 *   holder.c    samples the owners of contended locks
 *   report.c    the tally in the trace table; reports long waits
 *   counted.c   number of waits, by the JVM's own count per thread
 *   timed.c     duration of waits, by the JVM's own clock per thread
 *
 * Reporting of a long wait to the publisher:
 *
 *   lock_thread.report:  NONE -> BEGUN -> (publisher: SENT) -> BEGUN, by another owner, or ENDED
 *                      BEGUN -> ENDED;  ENDED -> (publisher: NONE)
 *
 * An end is set in any case; the publisher knows whether it has published the beginning.
 *
 * Accounting, for one thread and one kind of wait (monitor, park). By the JVM's count, the thread has waited 7 times at the
 * last settlement and 13 times now:
 *
 *   wait    [8]  [---9---]  [10]  [------11------]  [12]  [-13-]
 *   poll             P1               P2      P3              P4
 *   found            begins, once     begins  again           over before its stack was walked (brief)
 *
 *   count   9 and 11 are recorded when found. At 13, last 13 - upto 7 = 6 waits, of which polls have found 3: the others
 *           (8, 10, 12) are recorded with it, at its place (rest_settle)
 *   time    11: several polls found it, so its time is recorded at once and added to long_ns; 9 and 13: brief_ns of their
 *           places. Residual = the JVM's time (last - upto) - long_ns, shared out in proportion to brief_ns
 *
 * Invariant after each settlement (lock_count_residual): the waits and ns of a thread in the trace table equal the JVM's own
 * count and time since the event began. Exceptions: `doubtful` and `untimed` threads and virtual threads, of which only waits
 * found by polls are recorded; and waits without a known place, until the thread ends ([unknown place]).
 */
#ifndef JHOT_SAMPLER_ENGINE_LOCK_OWN_H
#define JHOT_SAMPLER_ENGINE_LOCK_OWN_H

#include "sampler/engine/engine.h"
#include "sampler/engine/lock/lock.h"
#include "sampler/engine/lock/wait.h"
#include "sampler/engine/waiting.h"
#include "sampler/jvm/jvm.h"

#define LOCK_FRAMES   512u        /* of retained stacks; deeper ones are walked at each poll */
#define LOCK_PLACES   4u          /* stacks retained per thread */
#define LOCK_NOWHERE  LOCK_PLACES /* the place of waits that no poll has found: one row */
#define LOCK_FLUSH_NS (100 * NS_PER_MS) /* flush interval of ongoing waits */
/* Waits from this length on are reported with their owners. */
#define LOCK_LONG_NS  (20 * NS_PER_MS)
#define LOCK_VIRTUALS 512u /* virtual threads tracked at a time; a power of two */
#define LOCK_MAX      (THREADS_MAX + LOCK_VIRTUALS)
#define LOCK_BLOCK    16u /* threads whose places are mapped together; 330 kB */

enum { REPORT_NONE, REPORT_BEGUN, REPORT_SENT, REPORT_ENDED };

/* A place where a thread has been found waiting: the lock and the stack. */
struct lock_place {
	struct lock_wait wait; /* lock 0: the place is free */
	uint32_t id;           /* id of the virtual thread that waits in it; 0: none */
	uint32_t class_id;
	uint32_t frames; /* frames retained, the class first; 0: too many */
	uint16_t flags, flaw;
	uint64_t brief_ns; /* time of waits that only one poll has found: timed.c */
	uint64_t kept[LOCK_FRAMES];
};

/*
 * How often a thread has waited by the JVM's count, and which of these waits the tally has: counted.c. Waits are
 * numbered from 1 by that count.
 */
struct lock_count {
	uint64_t upto;     /* the tally has all waits up to this one */
	uint64_t last;     /* the last wait known */
	uint64_t newest;   /* the last wait that a poll has found */
	uint64_t rest_ns;  /* when upto was last settled */
	uint64_t later_ns; /* time of short waits that polls found without a place */
	uint32_t found;    /* number of waits after upto that polls have found */
	/*
	 * 1 + the place of the last wait that ended before its stack was walked; 1 + the place of the last wait that
	 * only one poll has found or, without such, of any. 0: none yet.
	 */
	uint32_t brief, single;
	/* True once a wait for something else was found that the same count includes. */
	bool doubtful;
};

/* The thread's total waiting time by the JVM's clock: timed.c. */
struct lock_time {
	uint64_t from, from_ns; /* the JVM's time and ours at the first reading */
	uint64_t upto;          /* the tally has the time up to this value */
	uint64_t last;          /* the last reading */
	/* Time after upto that the tally has already, of waits that several polls found. */
	uint64_t long_ns;
};

/* One waiting thread. The index is that of the slot; virtual threads follow, hashed by their number. */
struct lock_thread {
	struct lock_wait wait; /* lock 0: it does not wait */
	uint64_t since_ns, flushed_ns;
	uint64_t weight_ns; /* waiting time not recorded in the trace table yet */
	uint32_t count;     /* waits found and not recorded yet */
	uint64_t cpu_ns;    /* the thread's CPU time at the last poll that found this wait */
	uint64_t number;    /* the wait's number by the JVM's count; 0: unknown */
	uint32_t slot_id;
	uint32_t polled_id; /* the slot's id at its last poll; 0: not polled yet */
	/* True when it waited at the first poll: since_ns is then an upper bound of the beginning. */
	bool at_least;
	/* Scale factor of its waits: it also represents threads that are not polled. */
	uint64_t multiplicity;
	bool again; /* true when more than one poll has found this wait */
	/* The owner of the lock at the last poll and at this one, as encoded in holder.c. */
	uint32_t holder, holder_now;
	uint32_t place, places; /* place of the current or last wait; number of known places */
	uint32_t counted;       /* the slot's id when its counts were first read */
	uint64_t listed_ns;     /* when that thread was listed */
	struct lock_count counts[JVM_WAIT_COUNTS];
	bool timed; /* true when its times have been read, of the same thread as its counts */
	/* True when it was found in waits whose time the JVM does not attribute to it alone. */
	bool untimed;
	uint64_t first_timed; /* 1 + the number of its wait when the JVM began to time waits */
	struct lock_time times[JVM_WAIT_COUNTS];

	_Atomic uint32_t report;
	struct wire_wait record; /* written before `report` is set to BEGUN */
	uint64_t ended_ns;       /* written before `report` is set to ENDED */
	/* Publisher's: true when this wait's beginning was published and its end was not. */
	bool reported;

	/*
	 * Virtual threads: the number, 0: none; the last poll that found it; the state that distinguishes one wait from the next.
	 */
	uint64_t virtual, round;
	struct lock_frozen {
		/* The stack's chunk, the depth in it, a hash of the words there. */
		uint64_t chunk, depth, words;
	} frozen;
};

/*
 * Lag of the clock with which a CPU's run queue stamps sleeping threads behind CLOCK_MONOTONIC. Each CPU has its own.
 */
struct lock_clock {
	int32_t cpu;
	uint64_t read_ns; /* 0: never */
	uint64_t behind_ns;
};
#define LOCK_CLOCKS 64u

/* Sampling of a thread that owns contended locks; indexed like its slot. */
struct lock_holder {
	/* Waiting time charged by this poll, which its next sample is to represent. */
	uint64_t due_ns;
	uint64_t asked_ns;
	uint64_t sp, pc; /* where it had left Java at its last sample; 0: it was in Java */
	uint64_t cpu_ns;
};

/* The same for an unmounted virtual thread that owns locks. */
struct lock_parked {
	uint64_t number;    /* 0: the entry is free */
	uint64_t object;    /* its object at the poll of polled_ns */
	uint64_t polled_ns; /* 0: never */
	uint64_t due_ns;
	uint64_t hash; /* hash of its last sample's trace; 0: no sample yet */
	uint32_t id;
};
#define LOCK_PARKED 64u

/* The owner that this poll has found for a lock. */
struct lock_held {
	uint64_t lock;
	uint32_t holder; /* as encoded in holder.c */
	uint32_t owner;  /* wire id; 0: unknown or none */
};
#define LOCK_HELD 64u

/* Pseudo-frames in place of a stack: the first two for a lock's owner, the third for a waiter. */
enum lock_row { LOCK_ROW_UNHELD, LOCK_ROW_FREE, LOCK_ROW_NOWHERE, LOCK_ROWS };

struct lock_block {
	struct lock_place places[LOCK_BLOCK][LOCK_PLACES + 1]; /* the last one is LOCK_NOWHERE */
};

struct lock {
	_Atomic int32_t tid;
	_Atomic uint32_t leave, left; /* futexes, see spawn_end */
	uint64_t last_ns, owners_ns, forgot_ns, rests_ns;
	struct pace pace;
	struct lock_reader reader;
	struct lock_clock clocks[LOCK_CLOCKS]; /* indexed by CPU, modulo */
	uint64_t on_ns;                        /* when counting of waits began */
	bool counts;                           /* true when the JVM's counts are available */
	uint64_t timed_ns;                  /* when the JVM began to time waits; 0: it does not */
	struct lock_wait seen[THREADS_MAX]; /* the wait of each listed thread, by this poll */
	struct lock_held held[LOCK_HELD];   /* owners found by this poll */
	uint32_t held_count;
	bool virtuals_charged;    /* true when the last poll charged waits of virtual threads */
	uint64_t rows[LOCK_ROWS]; /* packed frames */
	struct lock_thread threads[LOCK_MAX];
	/*
	 * Places, in blocks that are mapped when the first of LOCK_BLOCK threads waits (lock_places_make). `none`
	 * serves as the places of all other threads and stays zeroed.
	 */
	_Atomic(struct lock_block *) blocks[LOCK_MAX / LOCK_BLOCK];
	_Atomic uint32_t blocks_used;
	struct lock_place none[LOCK_PLACES + 1];
	struct lock_holder holders[THREADS_MAX];
	struct lock_parked parked[LOCK_PARKED];

	struct waiting waiting;
	uint64_t round;
	uint64_t most; /* the largest scale factor of this poll */
};

/* One poll of all threads. `since` is the time since the previous poll. */
struct lock_poll {
	struct sampler *s;
	uint64_t now, since;
	/* True for the first poll of these threads: the waits that it finds began earlier. */
	bool first;
};

/* The thread's places. Read-only before lock_places_make. */
static inline struct lock_place *lock_places(struct sampler *s, const struct lock_thread *t)
{
	uint32_t index = (uint32_t)(t - s->lock->threads);
	struct lock_block *block = atomic_load(&s->lock->blocks[index / LOCK_BLOCK]);

	return block ? block->places[index % LOCK_BLOCK] : s->lock->none;
}
/* Maps memory for the thread's places. Idempotent. Returns false without memory. */
bool lock_places_make(struct sampler *s, const struct lock_thread *t);
/* The place of its current or last wait. */
static inline struct lock_place *lock_place(struct sampler *s, const struct lock_thread *t)
{
	return &lock_places(s, t)[t->place];
}
/* The thread's slot; for a virtual thread a placeholder. */
static inline struct thread_slot *lock_slot(struct sampler *s, const struct lock_thread *t)
{
	return t < s->lock->threads + THREADS_MAX ? &s->threads->slots[t - s->lock->threads]
						  : &s->lock->waiting.slot;
}
/*
 * True when java_thread is this thread's. The JavaThread of a thread that has ended but is still listed has arbitrary
 * contents.
 */
static inline bool lock_is(struct sampler *s, const struct lock_thread *t, uint64_t java_thread)
{
	return walk_thread_tid(s->layout, &s->mem, java_thread) ==
	       atomic_load(&lock_slot(s, t)->tid);
}
/* The JVM's count that this wait is part of. */
static inline enum jvm_wait_count lock_count_kind(const struct lock_wait *wait)
{
	return wait->monitor ? JVM_ENTERS : JVM_PARKS;
}
/* The waiter's id: the thread, or the virtual thread that it carried when its stack was walked. */
static inline uint32_t lock_waiter(struct sampler *s, const struct lock_thread *t)
{
	uint32_t id = lock_place(s, t)->id;

	return id ? id : t->slot_id;
}

/* Ends the wait, if there is one. `since`: time since the last poll that found it. */
void lock_ends(struct sampler *s, struct lock_thread *t, uint64_t since);
/*
 * lock_begins starts a wait of the thread with this id; lock_begun completes it once its stack is known. Until then
 * there is no wait.
 */
void lock_begins(const struct lock_poll *poll, struct lock_thread *t, uint32_t id);
void lock_begun(const struct lock_poll *poll, struct lock_thread *t, const struct lock_wait *wait,
	bool at_least);
/* The same wait was found again. */
void lock_continues(
	const struct lock_poll *poll, struct lock_thread *t, const struct lock_wait *wait);
/* Records waits at that place of the thread in the trace table. weight_ns is their time before scaling. */
void lock_record(struct sampler *s, struct lock_thread *t, uint32_t place, uint32_t count,
	uint64_t weight_ns);
/* Prepares the place LOCK_NOWHERE for monitor waits of this thread. Returns false without memory. */
bool lock_nowhere(struct sampler *s, struct lock_thread *t);
/* True when the thread has waited like this at exactly one known place, which becomes its place. */
bool lock_recall(struct sampler *s, struct lock_thread *t, const struct lock_wait *wait);
/* Forgets all places: the slot has another thread, or the event stops. */
void lock_forget(struct sampler *s, struct lock_thread *t);
/*
 * Adds the lock's class as the stack's leaf and retains the stack for later polls, so that it is walked only once per
 * wait. A stack too deep to retain is recorded at each poll, with the time since the previous one.
 */
void lock_retain(const struct lock_poll *poll, struct lock_thread *t, const struct lock_wait *wait,
	struct stack *stack);
/*
 * Refines the beginning of a wait that was in progress at the first poll: sets *since_ns to when the thread went to
 * sleep by the kernel's stamp, if that is earlier. The thread may have spun or slept before that, so *since_ns stays an
 * upper bound of the beginning.
 */
void lock_began(
	struct lock_clock *clocks, int task_fd, int32_t task, uint64_t now, uint64_t *since_ns);
/* Reports a long wait with its owner, and again whenever the owner has changed. */
void lock_owners(struct sampler *s, struct lock_thread *t, uint64_t now);

/* --- counted.c --------------------------------------------------------------------------------- */

/* Begins to count the thread's waits. Idempotent. */
void lock_count_from(struct sampler *s, struct lock_thread *t, uint64_t java_thread);
/*
 * Reads the JVM's count or time of a thread's waits; `at` by jvm_wait_count_at or jvm_wait_time_at. 0, too, if it
 * cannot be read.
 */
uint64_t lock_jvm_read(struct sampler *s, uint64_t java_thread, uint64_t at);
/* The number of the wait that it is in; 0: unknown. */
uint64_t lock_number(struct sampler *s, uint64_t java_thread, bool monitor);
/*
 * How many waits to record with t->wait, which has been found at t->place for the first time. brief: it ended before
 * its stack was walked.
 */
uint32_t lock_counted(
	struct sampler *s, struct lock_thread *t, const struct lock_wait *wait, bool brief);
/*
 * t->wait ended before its stack was walked, and its place is unknown. Returns true if it will be recorded with the
 * waits that no poll has found; else it is lost.
 */
bool lock_count_later(struct sampler *s, struct lock_thread *t, const struct lock_wait *wait);
/* t->wait, at t->place, has ended. */
void lock_count_place(struct lock_thread *t);
/*
 * Sets `doubtful` when the thread is found waiting for something other than a lock that the JVM counts in the same
 * counter.
 */
void lock_count_doubt(struct sampler *s, struct lock_thread *t, const struct lock_wait *wait,
	uint64_t java_thread);
/* Reads the JVM's count and time of its waits. */
void lock_count_read(struct sampler *s, struct lock_thread *t);
/*
 * Records the waits that no poll has found at the place where they most likely were. `last`: the final call, which
 * falls back to LOCK_NOWHERE. Of a thread that has ended, up to the last number that was read.
 */
void lock_count_residual(struct sampler *s, struct lock_thread *t, bool last);

/* --- timed.c ----------------------------------------------------------------------------------- */

/*
 * Begins to use the JVM's time of the thread's waits. Idempotent. Deferred while the thread is in the wait that was in
 * progress when the JVM began to time waits, because that one is not timed. wait: the one that it is in.
 */
void lock_time_from(struct sampler *s, struct lock_thread *t, uint64_t java_thread,
	const struct lock_wait *wait);
/* Reads the JVM's time of its waits. */
void lock_time_read(struct sampler *s, struct lock_thread *t, uint64_t java_thread);
/*
 * True when t->weight_ns of t->wait is retained, to be recorded with the JVM's time of short waits; false: record it
 * now.
 */
bool lock_time_later(struct sampler *s, struct lock_thread *t);
/* Adds time of short waits that polls have found at this place. */
void lock_time_brief(struct sampler *s, struct lock_thread *t, uint32_t place, uint64_t weight_ns);
/* The place is about to be reused for another stack: records the time that it has retained. */
void lock_time_flush(struct sampler *s, struct lock_thread *t, uint32_t place);
/*
 * Distributes the JVM's time over the places where polls have found waits, in proportion. place: 1 + the place to use
 * if there is none; 0: unknown.
 */
void lock_time_residual(
	struct sampler *s, struct lock_thread *t, enum jvm_wait_count which, uint32_t place);

/* --- holder.c ---------------------------------------------------------------------------------- */

/*
 * Charges half of the time since the previous poll to the current owner of the lock that t waits for. multiplicity:
 * scale factor.
 */
void holder_charge(const struct lock_poll *poll, struct lock_thread *t,
	const struct lock_wait *wait, uint64_t multiplicity);
/*
 * Charges the other half to the owner that the previous poll has found. holders_settle: for all waiters, before new
 * charges. holder_settle: for one whose wait has ended; `since` as in lock_ends.
 */
void holders_settle(const struct lock_poll *poll);
void holder_settle(struct sampler *s, struct lock_thread *t, uint64_t since);
/* The wire id of the lock's owner, as this poll has found it; 0: unknown or none. */
uint32_t holder_id(struct sampler *s, const struct lock_wait *wait);
/* Samples the owners that were charged. */
void holders_sample(const struct lock_poll *poll);
/* Call after the last poll: waits for outstanding samples, and records the rest as [unknown]. */
void holders_stop(struct sampler *s);

/* --- waiting.c: unmounted virtual threads ------------------------------------------------------- */

/* Reads the place and a hash of the thread's stack. Returns false if it has none at the moment. */
bool lock_frozen_read(struct sampler *s, struct unmounted *u, const struct unmounted_thread *thread,
	struct lock_frozen *out);
/* True when both readings are of the same wait, judging by the stack. */
bool lock_frozen_same(const struct lock_frozen *before, const struct lock_frozen *now);
/* Polls unmounted virtual threads; does nothing while they cannot be read. */
void lock_waiting_poll(const struct lock_poll *poll);
/* Ends all their waits. */
void lock_waiting_end(struct sampler *s);

#endif
