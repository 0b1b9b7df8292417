/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of those who wait for locks, private to the files of this event: lock.c looks at threads,
 * waiting.c at virtual threads without a carrier, holder.c at who holds what they wait for, told.c has the tally and
 * tells of long waits, counted.c has how often each thread has waited by the JVM's own count, timed.c for how long.
 *
 *   lock_thread.told:  NOTHING -> BEGUN -> (publisher: SAID) -> BEGUN, by another owner, or ENDED
 *                      BEGUN -> ENDED;  ENDED -> (publisher: NOTHING)
 *
 * An end is told whatever was told before; the publisher knows whether it has said the beginning.
 */
#ifndef JHOT_SAMPLER_ENGINE_LOCK_OWN_H
#define JHOT_SAMPLER_ENGINE_LOCK_OWN_H

#include "sampler/engine/engine.h"
#include "sampler/engine/lock/lock.h"
#include "sampler/engine/lock/wait.h"
#include "sampler/engine/pace.h"
#include "sampler/engine/waiting.h"
#include "sampler/jvm/jvm.h"

#define LOCK_FRAMES   512u        /* of stacks that are kept; deeper ones are walked at each look */
#define LOCK_PLACES   4u          /* stacks that are kept of a thread */
#define LOCK_NOWHERE  LOCK_PLACES /* the place of what no look has ever found: one row */
#define LOCK_FLUSH_NS (100 * NS_PER_MS) /* waits that go on are told so often */
#define LOCK_LONG_NS  (20 * NS_PER_MS)  /* waits that are shown with their owners */
#define LOCK_VIRTUALS 512u              /* virtual threads at a time; a power of two */
#define LOCK_MAX      (THREADS_MAX + LOCK_VIRTUALS)
#define LOCK_BLOCK    16u /* threads whose places are mapped together; 330 kB */

enum { TOLD_NOTHING, TOLD_BEGUN, TOLD_SAID, TOLD_ENDED };

/* Where a thread has been found waiting: what for, at which stack. */
struct lock_place {
	struct lock_wait wait; /* lock 0: the place is free */
	uint32_t id;           /* of the virtual thread that waits in it; 0: none */
	uint32_t class_id;
	uint32_t frames; /* kept, the class first; 0: too many */
	uint16_t flags, flaw;
	uint64_t brief_ns; /* of waits that one look only has found: timed.c */
	uint64_t kept[LOCK_FRAMES];
};

/* How often a thread has waited by the JVM's count, and what is in the tally of that: counted.c. */
struct lock_count {
	uint64_t upto;     /* all waits up to this one are */
	uint64_t last;     /* the last one that is known of */
	uint64_t newest;   /* the last one that a look has found */
	uint64_t rest_ns;  /* when upto was settled last */
	uint64_t later_ns; /* time of some of the others */
	uint32_t found;    /* so many of those after it are */
	/*
	 * The place, + 1, of the last one that was over at once, and of the last that one look only has found, or, if
	 * there is none, of any.
	 */
	uint32_t brief, single;
	bool doubtful; /* others have been found that are in the same count */
};

/* How long, by the JVM's clock of it: timed.c. */
struct lock_time {
	uint64_t from, from_ns; /* it, and ours, when it was read first */
	uint64_t upto;          /* so far it is in the tally */
	uint64_t last;          /* as it was read last */
	uint64_t long_ns; /* what is in the tally of waits after upto, as looks have found them */
};

/* What is known of one thread that waits: by number of its slot; after these virtual threads, by theirs. */
struct lock_thread {
	struct lock_wait wait; /* lock 0: it waits for nothing */
	uint64_t since_ns, flushed_ns;
	uint64_t weight_ns; /* not put into the trace table yet */
	uint32_t count;     /* and this neither: waits that have been found */
	uint64_t cpu_ns;    /* of the thread, at the last look at this wait */
	uint64_t number;    /* of this wait, by the JVM's count; 0: it is not known */
	uint32_t slot_id;
	uint32_t looked; /* the slot's id when it was looked at before; 0: not yet */
	bool at_least; /* it waited at the first look: since_ns is the latest that it can have begun */
	uint64_t stands_for; /* of what it has waited, so many times as much counts */
	bool again;          /* more than one look has found this wait */
	/* Who held what it waits for, by the last look and by this one: see holder.c */
	uint32_t holder, holder_now;
	uint32_t place, places; /* where it waits, or did; how many are known */
	uint32_t counted;       /* the slot's id when its counts were read first */
	uint64_t listed_ns;     /* and when that thread was listed */
	struct lock_count counts[JVM_WAIT_COUNTS];
	bool timed;           /* its times have been read, of the same thread as its counts */
	bool untimed;         /* it has been found in waits that they do not have alone */
	uint64_t first_timed; /* 1 + the number of its wait when the JVM began to time waits */
	struct lock_time times[JVM_WAIT_COUNTS];

	_Atomic uint32_t told;
	struct wire_wait record; /* written before told moves to BEGUN */
	uint64_t ended_ns;       /* and this before it moves to ENDED */
	bool said;               /* the publisher's: this wait was published, its end was not */

	/* Of a virtual thread: its number, 0: none; the look that found it last; what tells one wait from the next. */
	uint64_t virtual, round;
	struct lock_frozen {
		uint64_t chunk, depth,
			words; /* its stack, how deep in there, a hash of what is on it */
	} frozen;
};

/* How far the clock that a CPU's run queue stamps sleepers with is behind ours: each CPU has its own. */
struct lock_clock {
	int32_t cpu;
	uint64_t read_ns; /* 0: never */
	uint64_t behind_ns;
};
#define LOCK_CLOCKS 64u

/* What is asked of a thread that holds locks, by number of its slot. */
struct lock_holder {
	uint64_t due_ns; /* waits that its next sample is to stand for, as far as this look is */
	uint64_t asked_ns;
	uint64_t sp, pc; /* where it had left Java at its last sample; 0: it was in it */
	uint64_t cpu_ns;
};

/* And of a virtual thread that holds locks while it has no carrier. */
struct lock_parked {
	uint64_t number;    /* 0: the entry is free */
	uint64_t object;    /* where the look at looked_ns has found it */
	uint64_t looked_ns; /* 0: none has */
	uint64_t due_ns;
	uint64_t hash; /* of its last sample's trace; 0: it has none yet */
	uint32_t id;
};
#define LOCK_PARKED 64u

/* Whom this look has found for a lock. */
struct lock_held {
	uint64_t lock;
	uint32_t holder; /* as holder.c numbers them */
	uint32_t owner;  /* as on the wire; 0: not known, or nobody */
};
#define LOCK_HELD 64u

/* Frames that stand in place of a stack: of a holder, the first two; of who waits. */
enum lock_row { LOCK_ROW_UNHELD, LOCK_ROW_FREE, LOCK_ROW_NOWHERE, LOCK_ROWS };

struct lock_block {
	struct lock_place places[LOCK_BLOCK][LOCK_PLACES + 1]; /* the last one: LOCK_NOWHERE */
};

struct lock {
	_Atomic int32_t tid;
	_Atomic uint32_t leave, left; /* futexes, see spawn_end */
	uint64_t last_ns, owners_ns, forgot_ns, rests_ns;
	struct pace pace;
	struct lock_reader reader;
	struct lock_clock clocks[LOCK_CLOCKS]; /* by CPU, modulo */
	uint64_t on_ns;                        /* since when waits are counted */
	bool counts;                           /* the JVM's are known */
	uint64_t timed_ns;                     /* since when it times them, too; 0: it does not */
	struct lock_wait seen[THREADS_MAX];    /* by this look, of each listed thread */
	struct lock_held held[LOCK_HELD];      /* by this look */
	uint32_t held_count;
	bool virtuals_charged;    /* at the last look */
	uint64_t rows[LOCK_ROWS]; /* packed frames */
	struct lock_thread threads[LOCK_MAX];
	/*
	 * Where threads wait, in memory that is mapped when the first of LOCK_BLOCK threads waits (lock_places_make). `none`
	 * stands for the places of all others, and stays zeroed.
	 */
	_Atomic(struct lock_block *) blocks[LOCK_MAX / LOCK_BLOCK];
	_Atomic uint32_t blocks_used;
	struct lock_place none[LOCK_PLACES + 1];
	struct lock_holder holders[THREADS_MAX];
	struct lock_parked parked[LOCK_PARKED];

	struct waiting waiting;
	uint64_t round;
	uint64_t most; /* that one of them stood for in this look */
};

/* One look at all of them. */
struct lock_look {
	struct sampler *s;
	uint64_t now, since; /* the look before this one */
	bool first;          /* of these threads: what is found has begun before */
};

/* All its places. To be written to only after lock_places_make. */
static inline struct lock_place *lock_places(struct sampler *s, const struct lock_thread *t)
{
	uint32_t number = (uint32_t)(t - s->lock->threads);
	struct lock_block *block = atomic_load(&s->lock->blocks[number / LOCK_BLOCK]);

	return block ? block->places[number % LOCK_BLOCK] : s->lock->none;
}
/* Memory for them. false: there is none. */
bool lock_places_make(struct sampler *s, const struct lock_thread *t);
/* Where it waits, or has waited last. */
static inline struct lock_place *lock_place(struct sampler *s, const struct lock_thread *t)
{
	return &lock_places(s, t)[t->place];
}
/* Of a virtual thread one that stands for it. */
static inline struct thread_slot *lock_slot(struct sampler *s, const struct lock_thread *t)
{
	return t < s->lock->threads + THREADS_MAX ? &s->threads->slots[t - s->lock->threads]
						  : &s->lock->waiting.slot;
}
/* Is that memory the thread's? Of one that has ended, and is still listed, it says anything. */
static inline bool lock_is(struct sampler *s, const struct lock_thread *t, uint64_t java_thread)
{
	return walk_thread_tid(s->layout, &s->mem, java_thread) ==
	       atomic_load(&lock_slot(s, t)->tid);
}
/* Who waits in it: the thread, or the virtual one that it carried when its stack was walked. */
static inline uint32_t lock_waiter(struct sampler *s, const struct lock_thread *t)
{
	uint32_t id = lock_place(s, t)->id;

	return id ? id : t->slot_id;
}

/* The wait is over: since, how long ago it was seen last. */
void lock_ends(struct sampler *s, struct lock_thread *t, uint64_t since);
/* Another wait, of the thread with this id: as long as it has no stack it is none yet. lock_begun: now it is. */
void lock_begins(const struct lock_look *look, struct lock_thread *t, uint32_t id);
void lock_begun(const struct lock_look *look, struct lock_thread *t, const struct lock_wait *wait,
	bool at_least);
/* The same wait once more, since its last look. */
void lock_goes_on(
	const struct lock_look *look, struct lock_thread *t, const struct lock_wait *wait);
/* Into the trace table: waits at that place of its. */
void lock_put(struct sampler *s, struct lock_thread *t, uint32_t place, uint32_t count,
	uint64_t weight_ns);
/* Makes LOCK_NOWHERE a place of this thread's to put monitors' waits to. */
bool lock_nowhere(struct sampler *s, struct lock_thread *t);
/* Has it waited like this at a place that is known, and only one? Then it is there. */
bool lock_recall(struct sampler *s, struct lock_thread *t, const struct lock_wait *wait);
/* Of a thread that is another one: no place is known. */
void lock_forget(struct sampler *s, struct lock_thread *t);
/*
 * Names what it waits for, as the stack's leaf, and keeps the stack for the looks to come, so that it is walked only
 * once. One that is too deep to be kept is put into the trace table at each look, with the time since the last one.
 */
void lock_keep(const struct lock_look *look, struct lock_thread *t, const struct lock_wait *wait,
	struct stack *stack);
/*
 * When a thread that waited before anyone looked went to sleep, by the kernel, if that was before *since_ns. It may
 * have tried the lock then, and begun earlier still: so it is the latest that the wait can have begun.
 */
void lock_began(
	struct lock_clock *clocks, int task_fd, int32_t task, uint64_t now, uint64_t *since_ns);
/* Who holds what this thread has been waiting for; told again when it is another. */
void lock_owners(struct sampler *s, struct lock_thread *t, uint64_t now);

/* --- counted.c --------------------------------------------------------------------------------- */

/* From now on, if that has not been done yet, what this thread waits for counts. */
void lock_count_from(struct sampler *s, struct lock_thread *t, uint64_t java_thread);
/* What the JVM has of a thread's waits, by jvm_wait_count_at or jvm_wait_time_at; 0, too, if it cannot be read. */
uint64_t lock_jvm_read(struct sampler *s, uint64_t java_thread, uint64_t at);
/* The number of the wait that it is in; 0: it is not known. */
uint64_t lock_number(struct sampler *s, uint64_t java_thread, bool monitor);
/* How many waits count with t->wait, which has been found at t->place for the first time; brief: it was over at once. */
uint32_t lock_counted(
	struct sampler *s, struct lock_thread *t, const struct lock_wait *wait, bool brief);
/*
 * Of t->wait, which was over at once, it is not known where it was: it will count with those that no look has found.
 * false: it will not.
 */
bool lock_count_later(struct sampler *s, struct lock_thread *t, const struct lock_wait *wait);
/* t->wait, at t->place, is over. */
void lock_count_place(struct lock_thread *t);
/* What it has been found at: is it for no lock, but in the same count? */
void lock_count_doubt(struct sampler *s, struct lock_thread *t, const struct lock_wait *wait,
	uint64_t java_thread);
/* How often it has waited up to now. */
void lock_count_read(struct sampler *s, struct lock_thread *t);
/*
 * What no look has found is put down to where it belongs, as far as that is known; last: or to LOCK_NOWHERE. Of a
 * thread that has ended up to the last number that was read.
 */
void lock_count_rest(struct sampler *s, struct lock_thread *t, bool last);

/* --- timed.c ----------------------------------------------------------------------------------- */

/* From now on, if that has not been done yet and can be, the JVM's time of its waits counts; wait: what it is in. */
void lock_time_from(struct sampler *s, struct lock_thread *t, uint64_t java_thread,
	const struct lock_wait *wait);
/* The time of its waits as the JVM has it now. */
void lock_time_read(struct sampler *s, struct lock_thread *t, uint64_t java_thread);
/* Is t->weight_ns, of t->wait, kept to be put down with the JVM's time of short waits? Else it is to be put down now. */
bool lock_time_later(struct sampler *s, struct lock_thread *t);
/* Time of short waits that looks have found at this place. */
void lock_time_brief(struct sampler *s, struct lock_thread *t, uint32_t place, uint64_t weight_ns);
/* The place stands for another stack from now on. */
void lock_time_leave(struct sampler *s, struct lock_thread *t, uint32_t place);
/* The JVM's time is put down to where looks have found it; place: + 1, where none has; 0: that is not known. */
void lock_time_rest(
	struct sampler *s, struct lock_thread *t, enum jvm_wait_count which, uint32_t place);

/* --- holder.c ---------------------------------------------------------------------------------- */

/* This look has found it waiting: half of the time since the last one is the holder's of now. */
void holder_charge(const struct lock_look *look, struct lock_thread *t,
	const struct lock_wait *wait, uint64_t stands_for);
/*
 * And the other half is that of the holder that the last look has found: of all that waited, before anybody is charged anew,
 * and of one whose wait ends without a look.
 */
void holders_settle(const struct lock_look *look);
void holder_settle(struct sampler *s, struct lock_thread *t, uint64_t since);
/* Its holder's id, as this look has found it; 0: not known, or nobody. */
uint32_t holder_id(struct sampler *s, const struct lock_wait *wait);
/* Those that were charged are sampled. */
void holders_ask(const struct lock_look *look);
/* No look will come any more: who was asked gets the time to answer. */
void holders_stop(struct sampler *s);

/* waiting.c: virtual threads. */

/* Where its stack is, and what is on it. false: it has none just now. */
bool lock_frozen_read(struct sampler *s, struct unmounted *u, const struct unmounted_thread *thread,
	struct lock_frozen *out);
/* Is it still in the wait that it was in, as far as its stack tells? */
bool lock_frozen_same(const struct lock_frozen *before, const struct lock_frozen *now);
void lock_waiting_look(const struct lock_look *look);
void lock_waiting_end(struct sampler *s);

#endif
