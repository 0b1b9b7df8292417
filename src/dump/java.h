/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a thread's Java-level facts from the target's memory: full name, state, the lock that it waits for and that lock's owner.
 *
 * The source of all layouts is walk/hotspot. Everything is optional: a field that cannot be read stays empty. Addresses of locks
 * only distinguish them. The threads are not read at one instant, so an owner may have released its lock in the meantime.
 * Single-threaded; no file is read.
 */
#ifndef JHOT_DUMP_JAVA_H
#define JHOT_DUMP_JAVA_H

#include "dump/dump.h"
#include "walk/hotspot/oop.h"

#define JAVA_NAME 256

enum java_wait {
	JAVA_WAIT_NONE,
	JAVA_WAIT_ENTER,  /* to enter a monitor */
	JAVA_WAIT_NOTIFY, /* in Object.wait */
	JAVA_WAIT_PARK,   /* parked for a synchronizer */
};

struct java_facts {
	char name[JAVA_NAME]; /* UTF-8, cleaned; "": unknown */
	int64_t id;           /* Thread.getId; 0: unknown */
	const char *state;    /* "BLOCKED (on object monitor)" as in jstack; NULL: unknown */
	enum java_wait wait;
	char lock_class[JAVA_NAME]; /* "java/lang/Object" */
	uint64_t lock;
	uint64_t owner;   /* its JavaThread, or an address on its stack; 0: unknown */
	int64_t owner_id; /* or its Thread.getId; 0: unknown */
};

struct java_reader;

/* NULL if the objects of this JVM's threads cannot be read. layout and mem must outlive the reader. */
struct java_reader *java_reader_new(const struct walk_layout *layout, const struct walk_mem *mem);
void java_reader_free(struct java_reader *r);

/* Reads name and id, which rarely change, so the thread may be running. */
void java_read_name(struct java_reader *r, uint64_t java_thread, struct java_facts *out);
/* Reads state and lock. Fast: meant for a stopped thread. Call java_read_name for the same thread before. */
void java_read_state(struct java_reader *r, uint64_t java_thread, struct java_facts *out);

/* The text of a String or char[] as cleaned UTF-8, cut to fit; "" if it is neither. */
void java_read_text(struct java_reader *r, struct oop string, char *out, size_t out_bytes);
/* Converts the JVM's "java/lang/Object" to "java.lang.Object". The caller frees it. */
char *java_class_text(const char *name);

/* A Java thread of the dump. */
struct java_thread {
	uint32_t index;   /* in dump.threads */
	uint64_t address; /* of its JavaThread */
	struct java_facts facts;
};
/* Fills in the locks of these threads in the dump, once all have been read. */
void java_locks_resolve(const struct java_thread *threads, size_t count,
	const struct walk_layout *layout, const struct walk_mem *mem, struct dump *d);

#endif
