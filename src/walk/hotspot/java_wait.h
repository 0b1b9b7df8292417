/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Java thread waits for, and who has it: the thread's status, its monitor, the synchronizer of
 * java.util.concurrent that it is parked for. By loads, while all of it may change: whoever uses it reads twice, or stops
 * the thread before. Not for handlers; for one thread at a time.
 */
#ifndef JHOT_WALK_HOTSPOT_JAVA_WAIT_H
#define JHOT_WALK_HOTSPOT_JAVA_WAIT_H

#include "walk/hotspot/java_thread.h"

/* Bits of a thread's status, as JVMTI has them (jvmti.h). */
#define JAVA_TERMINATED 0x0002u
#define JAVA_RUNNABLE   0x0004u
#define JAVA_TIMED      0x0020u
#define JAVA_SLEEPING   0x0040u
#define JAVA_NOTIFY     0x0100u /* in Object.wait */
#define JAVA_PARKED     0x0200u
#define JAVA_BLOCKED    0x0400u /* it waits to enter a monitor */

struct java_waits {
	const struct walk_layout *layout;
	const struct walk_mem *mem;
	struct java_threads threads;
	/* offsets in java.lang.Thread, and since JDK 19 of the status in its FieldHolder; 0: not known (yet) */
	uint32_t blocker, status, field_holder, field_holder_status;
	/* AbstractOwnableSynchronizer, when a lock was of it, and where that has its owner */
	uint64_t ownable;
	uint32_t owner;
	/* The class of the last Condition, and where its lock, that one's queue and the nodes there have what leads on. */
	struct java_queue {
		uint64_t condition;
		uint32_t lock, state, tail, before,
			thread; /* before, thread 0: no node was seen yet */
	} queue;
};

/* false: objects cannot be read in this JVM, or not yet; monitors can be told of even then. */
bool java_waits_open(
	struct java_waits *w, const struct walk_layout *layout, const struct walk_mem *mem);

/* Of a java.lang.Thread. false: it cannot be read. */
bool java_wait_status(struct java_waits *w, uint64_t thread, uint32_t *status);
/* What a java.lang.Thread is parked for; {0, 0}: nothing that is known. */
struct oop java_wait_blocker(const struct java_waits *w, uint64_t thread);
/* The object that is locked by an ObjectMonitor. */
struct oop java_wait_object(const struct java_waits *w, uint64_t monitor);

/* Who holds a monitor: at, id 0: it is only on the holder's own list of locks (walk_thread_has_locked), if none does not say more. */
struct java_holder {
	bool none;   /* nobody does */
	uint64_t at; /* its JavaThread, or an address on its stack */
	int64_t id;  /* its Thread.threadId */
};
struct java_holder java_wait_holder(const struct java_waits *w, uint64_t monitor);
/* The java.lang.Thread that owns a synchronizer; {0, 0}: none, or it is of a class that does not say. */
struct oop java_wait_owner(struct java_waits *w, struct oop synchronizer);
/* Is this the class of Conditions, as locks of java.util.concurrent make them? */
bool java_is_condition(const struct java_waits *w, uint64_t klass);
/*
 * Who has been signalled is parked for the Condition still, but is in the queue of its lock: the lock that this
 * java.lang.Thread waits for; {0, 0}: it waits for the signal, or the lock is free and it is only being woken.
 */
struct oop java_wait_signalled(struct java_waits *w, struct oop condition, uint64_t thread);

/* The class of that name among klass and those above it; 0: there is none. */
uint64_t java_super(const struct java_waits *w, uint64_t klass, const char *name);

#endif
