/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Java knows of a thread: its whole name, its state, what it waits for; and who waits for whom, put together when
 * all threads have been seen.
 *
 * Read from the thread's java.lang.Thread, its JavaThread and its monitors, from outside. Everything is optional:
 * what cannot be read is left empty. Addresses of locks only tell one from another. The threads were not seen at one
 * instant, so an owner may have let go meanwhile. One thread.
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
	char name[JAVA_NAME]; /* UTF-8, clean; "" = not known */
	int64_t id;           /* Thread.getId, 0 = not known */
	const char *state;    /* "BLOCKED (on object monitor)" as in jstack, NULL = not known */
	enum java_wait wait;
	char lock_class[JAVA_NAME]; /* "java/lang/Object" */
	uint64_t lock;
	uint64_t owner;   /* its JavaThread, or an address on its stack; 0 = not known */
	int64_t owner_id; /* or its Thread.getId; 0 = not known */
};

struct java_reader;

/* NULL when the objects of this JVM's threads cannot be read. */
struct java_reader *java_reader_new(const struct walk_layout *layout, const struct walk_mem *mem);
void java_reader_free(struct java_reader *r);

/* Name and id: they do not change often, so the thread may run. */
void java_read_name(struct java_reader *r, uint64_t java_thread, struct java_facts *out);
/* State and lock: quick, for while the thread is stopped. After java_read_name of the same thread. */
void java_read_state(struct java_reader *r, uint64_t java_thread, struct java_facts *out);

/* A String's text, or a char[]'s, as UTF-8, fit for screens, cut to fit; "" if it is neither. */
void java_read_text(struct java_reader *r, struct oop string, char *out, size_t out_bytes);
/* A class as people write it, "java.lang.Object", from the JVM's "java/lang/Object". On the heap. */
char *java_class_text(const char *name);

/* A Java thread of the dump. */
struct java_note {
	uint32_t thread; /* its number there */
	uint64_t java_thread;
	struct java_facts facts;
};
/* Fills their locks. */
void java_locks_resolve(const struct java_note *notes, size_t count,
	const struct walk_layout *layout, const struct walk_mem *mem, struct dump *d);

#endif
