/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object that a Java thread waits for, and its owner: the thread's status, its monitor, the java.util.concurrent
 * synchronizer that it is parked for. Everything is read by loads while it may change, so callers read twice or suspend the
 * thread first. Not for signal handlers; a struct java_waits is for one thread at a time.
 */
#ifndef JHOT_WALK_HOTSPOT_JAVA_WAIT_H
#define JHOT_WALK_HOTSPOT_JAVA_WAIT_H

#include "walk/hotspot/java_thread.h"

/* Bits of a thread's status; the values are JVMTI's (jvmti.h). */
#define JAVA_TERMINATED 0x0002u
#define JAVA_RUNNABLE   0x0004u
#define JAVA_TIMED      0x0020u
#define JAVA_SLEEPING   0x0040u
#define JAVA_NOTIFY     0x0100u /* in Object.wait */
#define JAVA_PARKED     0x0200u
#define JAVA_BLOCKED    0x0400u /* waiting to enter a monitor */

struct java_waits {
	const struct walk_layout *layout;
	const struct walk_mem *mem;
	struct java_threads threads;
	/* Offsets in java.lang.Thread; since JDK 19 the status is in its FieldHolder. 0: not known (yet). */
	uint32_t blocker, status, field_holder, field_holder_status;
	/* AbstractOwnableSynchronizer, once a lock of that class was seen, and the offset of its owner field. */
	uint64_t ownable;
	uint32_t owner;
	/* Class of the last Condition seen, and offsets of its lock, of the lock's queue, and of the links in queue nodes. */
	struct java_queue {
		uint64_t condition;
		/* before, thread: 0 until a node was seen */
		uint32_t lock, state, tail, before, thread;
	} queue;
};

/* Returns false if objects cannot be read in this JVM, or not yet; java_wait_holder works even then. */
bool java_waits_open(
	struct java_waits *w, const struct walk_layout *layout, const struct walk_mem *mem);

/* Status of a java.lang.Thread. False if unreadable. */
bool java_wait_status(struct java_waits *w, uint64_t thread, uint32_t *status);
/* The object that a java.lang.Thread is parked for; {0, 0}: unknown. */
struct oop java_wait_blocker(const struct java_waits *w, uint64_t thread);
/* The object whose monitor this ObjectMonitor is. */
struct oop java_wait_object(const struct java_waits *w, uint64_t monitor);

/* Owner of a monitor. at, id 0 and none false: recorded only in the owner's own list of locks (walk_thread_has_locked). */
struct java_holder {
	bool none;   /* the monitor has no owner */
	uint64_t at; /* the owner's JavaThread, or an address on its stack */
	int64_t id;  /* the owner's Thread.threadId */
};
struct java_holder java_wait_holder(const struct java_waits *w, uint64_t monitor);
/* The java.lang.Thread that owns a synchronizer; {0, 0}: none, or its class does not record it. */
struct oop java_wait_owner(struct java_waits *w, struct oop synchronizer);
/* True for the classes of the Conditions that java.util.concurrent's locks create. */
bool java_is_condition(const struct java_waits *w, uint64_t klass);
/*
 * A signalled thread is still parked for the Condition, but queues for its lock: returns the lock that this java.lang.Thread
 * waits for. {0, 0}: it still waits for the signal, or the lock is free and the thread is only being woken.
 */
struct oop java_wait_signalled(struct java_waits *w, struct oop condition, uint64_t thread);

/* The class with this name among klass and its superclasses; 0: there is none. */
uint64_t java_super(const struct java_waits *w, uint64_t klass, const char *name);

#endif
