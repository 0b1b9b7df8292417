/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Java thread waits for, read from the JVM's own memory while the thread waits: a monitor that another
 * holds, or a synchronizer of java.util.concurrent (ReentrantLock, Semaphore, ...) for which it is parked.
 * Waiting for work (conditions, queues, latches) is not contention; who has been notified or signalled, and has not got
 * the lock again yet, waits for the lock.
 *
 * Nothing is stopped, so what is read may be gone: callers read twice. Each function that reads what a thread waits for, or
 * an owner, reads memory as it is then. A reader must not be moved; it is for one thread at a time.
 */
#ifndef JHOT_SAMPLER_ENGINE_LOCK_WAIT_H
#define JHOT_SAMPLER_ENGINE_LOCK_WAIT_H

#include "walk/frames/unmounted.h"
#include "walk/hotspot/java_wait.h"
#include "walk/load/here.h"

#include <stdbool.h>
#include <stdint.h>

struct sampler;
struct thread_slot;

#define LOCK_KLASSES 256u

enum lock_klass {
	LOCK_KLASS_OTHER,
	LOCK_KLASS_LOCK, /* whoever is parked for it waits for another thread to let go */
	LOCK_KLASS_CONDITION
};

struct lock_reader {
	struct sampler *s;
	struct here here; /* which java reads by */
	struct here_lines lines;
	struct java_waits java;
	struct unmounted *virtuals; /* NULL: those without a carrier are not asked for; not owned */
	bool parks;                 /* they can be told */
	struct {
		uint64_t klass;
		enum lock_klass is;
	} klasses[LOCK_KLASSES];
};

struct lock_wait {
	uint64_t lock;   /* ObjectMonitor or object; 0: the thread waits for no lock */
	uint64_t object; /* what is locked */
	uint64_t klass;  /* its class */
	uint64_t of;     /* of a java.lang.Class: the class that it stands for; else 0 */
	bool monitor;
	bool reenters;   /* after Object.wait */
	bool signalled;  /* it is parked for a Condition of the lock */
	bool parked;     /* it waits for none, but is parked: for something else */
	uint64_t sp, pc; /* where the thread left Java: the same place is the same wait */
};

/* false: parks cannot be told in this JVM; monitors can. */
bool lock_reader_open(struct lock_reader *r, struct sampler *s);
/* Classes may have been unloaded: what was found out of them is found out anew. */
void lock_reader_forget(struct lock_reader *r);
/* The monitor that it waits to enter: at first, or again when it has been notified in Object.wait; 0: none. */
uint64_t lock_wait_monitor(struct lock_reader *r, uint64_t java_thread);
struct lock_wait lock_wait_read(struct lock_reader *r, uint64_t java_thread);
/*
 * Does it still wait for what it waited for? A few loads; false: it has to be read anew. If it has been signalled: has
 * it not parked once more since?
 */
bool lock_wait_still(struct lock_reader *r, uint64_t java_thread, const struct lock_wait *wait);
bool lock_wait_same(const struct lock_wait *a, const struct lock_wait *b);
/* The same of a virtual thread without a carrier; sp and pc are not told. */
struct lock_wait lock_wait_virtual(
	struct lock_reader *r, const struct unmounted *java, const struct unmounted_thread *thread);
/* Who holds a lock: a thread, the virtual one that a thread carries, or one without a carrier. */
struct lock_owner {
	uint32_t id; /* on the wire; 0: that cannot be told, or, if free, nobody does */
	bool free;
	struct thread_slot *slot; /* the thread, or the carrier; NULL: it has none */
	uint64_t number, object;  /* of one without a carrier; object 0: it is not found */
};
struct lock_owner lock_wait_owner(struct lock_reader *r, const struct lock_wait *wait);

#endif
