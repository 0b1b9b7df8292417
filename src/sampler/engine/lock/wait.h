/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock that a Java thread waits for, read from the JVM's memory while the thread waits: a monitor that another thread
 * owns, or a synchronizer of java.util.concurrent (ReentrantLock, Semaphore, ...) for which it is parked. Waiting for work
 * (conditions, queues, latches) is not contention. A thread that has been notified or signalled but has not reacquired
 * the lock yet waits for the lock.
 *
 * No thread is stopped, so a reading may be stale when it returns: callers read twice (TOCTOU). Each function that
 * reads a wait or an owner discards cached memory first. Nothing blocks. A reader must stay at its address and serves
 * one thread at a time.
 */
#ifndef JHOT_SAMPLER_ENGINE_LOCK_WAIT_H
#define JHOT_SAMPLER_ENGINE_LOCK_WAIT_H

#include "walk/frames/unmounted.h"
#include "walk/hotspot/java_wait.h"
#include "walk/load/self.h"

#include <stdbool.h>
#include <stdint.h>

struct sampler;
struct thread_slot;

#define LOCK_KLASSES 256u

enum lock_klass {
	LOCK_KLASS_OTHER,
	LOCK_KLASS_LOCK, /* parked threads wait for another thread to release it */
	LOCK_KLASS_CONDITION
};

struct lock_reader {
	struct sampler *s;
	struct self_mem self; /* the memory accessor of `java` */
	SELF_LINES_OF(SELF_LINES) lines;
	struct java_waits java;
	struct unmounted *virtuals; /* unmounted virtual threads; NULL: not considered; not owned */
	bool parks;                 /* true when parked threads' blockers can be read */
	struct {
		uint64_t klass;
		enum lock_klass is;
	} klasses[LOCK_KLASSES];
};

struct lock_wait {
	uint64_t lock;   /* ObjectMonitor or object; 0: the thread waits for no lock */
	uint64_t object; /* the locked object */
	uint64_t klass;  /* its class */
	uint64_t of;     /* of a java.lang.Class: the class that it represents; else 0 */
	bool monitor;
	bool reenters;   /* true when it reacquires the monitor after Object.wait */
	bool signalled;  /* true when signalled on a Condition and parked for its lock */
	bool parked;     /* true when parked for something other than a lock; then lock is 0 */
	uint64_t sp, pc; /* where the thread left Java: the same place is the same wait */
};

/* Returns false if the reason for parking cannot be read in this JVM; monitors can be read anyway. */
bool lock_reader_open(struct lock_reader *r, struct sampler *s);
/* Discards cached facts about classes, which may have been unloaded. */
void lock_reader_forget(struct lock_reader *r);
/* The monitor that the thread waits to enter, at first or again after a notification in Object.wait; 0: none. */
uint64_t lock_wait_monitor(struct lock_reader *r, uint64_t java_thread);
/* Reads the wait of a thread; .lock 0: it waits for no lock. */
struct lock_wait lock_wait_read(struct lock_reader *r, uint64_t java_thread);
/*
 * True when the thread is still in that wait; a few loads. False: read it again. For a signalled wait true may also mean
 * that the thread has parked again since, which the caller has to rule out.
 */
bool lock_wait_still(struct lock_reader *r, uint64_t java_thread, const struct lock_wait *wait);
/* True when both readings may be of one wait: same kind, class and place and, for a monitor, the same monitor. */
bool lock_wait_same(const struct lock_wait *a, const struct lock_wait *b);
/* The wait of an unmounted virtual thread; sp and pc are 0. */
struct lock_wait lock_wait_virtual(
	struct lock_reader *r, const struct unmounted *java, const struct unmounted_thread *thread);
/* The owner of a lock: a thread, the virtual thread that it carries, or an unmounted virtual thread. */
struct lock_owner {
	uint32_t id; /* wire id; 0: unknown, or, if free, no owner */
	bool free;
	struct thread_slot *slot; /* the thread or the carrier; NULL: none */
	uint64_t number, object;  /* of an unmounted virtual thread; object 0: not found */
};
/* Finds the current owner; searches the list of threads and, for some locks, virtual threads. */
struct lock_owner lock_wait_owner(struct lock_reader *r, const struct lock_wait *wait);

#endif
