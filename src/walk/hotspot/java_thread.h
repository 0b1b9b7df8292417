/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.Thread objects: a thread's name, and the virtual thread that a carrier has mounted.
 *
 * Everything is read by loads while the collector may relocate objects: an object counts as a thread only if its class, and
 * fields that refer back to where it was found, prove it. Field offsets are those of java.lang.Thread and java.lang.String in
 * this JVM, found once, and of VirtualThread, found when the first one is seen. Signal-safe except for java_threads_find. The
 * caller owns the structs.
 */
#ifndef JHOT_WALK_HOTSPOT_JAVA_THREAD_H
#define JHOT_WALK_HOTSPOT_JAVA_THREAD_H

#include "walk/hotspot/oop.h"

#include <stdatomic.h>

/* longer names are truncated; with characters beyond Latin-1, each takes two */
#define JAVA_NAME_BYTES 72u

struct java_threads {
	struct oop_mode mode;      /* mode.known false: nothing here can be read */
	bool direct;               /* a JavaThread contains references, not handles */
	uint32_t name, tid, eetop; /* offsets in java.lang.Thread */
	uint32_t value;            /* offset in java.lang.String */
	int32_t coder;             /* likewise; < 0: every string is UTF-16 */
	uint64_t klass;            /* java.lang.Thread, set by java_threads_find */
	uint64_t plain;            /* vtable of the C++ class JavaThread itself; 0: unknown */
	/* java.lang.VirtualThread: its class, 0 until one was seen, and the offset of carrierThread. */
	_Atomic uint64_t virtual_klass;
	uint32_t carrier;
};

struct java_name {
	uint8_t bytes[JAVA_NAME_BYTES];
	uint32_t count; /* bytes */
	bool wide;      /* UTF-16, else Latin-1 */
};

/* Finds the offsets from the JVM's tables and live threads. False if they cannot be found, or not yet. */
bool java_threads_find(
	struct java_threads *threads, const struct walk_layout *layout, const struct walk_mem *mem);

/*
 * The C++ class of a JavaThread, identified by its vtable. Threads started by Java code and attached native threads are plain
 * JavaThreads. HotSpot has subclasses for its own threads, for example compilers; only those have CompilerThread's fields.
 */
enum java_thread_class {
	JAVA_THREAD_UNKNOWN, /* unreadable, or java_threads_find has not found the vtable */
	JAVA_THREAD_PLAIN,
	JAVA_THREAD_SUBCLASS,
};
enum java_thread_class java_thread_class(
	const struct java_threads *threads, const struct walk_mem *mem, uint64_t java_thread);

/* The raw reference from a JavaThread to its java.lang.Thread; changes when a collector relocates the object. */
uint64_t java_thread_word(const struct java_threads *threads, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t java_thread);

/* The java.lang.Thread of a JavaThread; {0, 0}: unreadable at the moment. */
struct oop java_thread_object(const struct java_threads *threads, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t java_thread);

/* Reads the name of a java.lang.Thread. False: unreadable at the moment. */
bool java_thread_name(const struct java_threads *threads, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t object, struct java_name *out);

/* Buffer for the first characters of a String or char[]. */
struct java_text {
	uint8_t *bytes;
	uint32_t size, count; /* bytes */
	bool wide;
};
bool java_text_read(const struct java_threads *threads, const struct walk_layout *layout,
	const struct walk_mem *mem, struct oop string, struct java_text *out);

/* Converts to UTF-8: at most 2 * count bytes, whose number is returned. Unpaired surrogates become U+FFFD. */
uint32_t java_text_utf8(const uint8_t *bytes, uint32_t count, bool wide, char *out);
static inline uint32_t java_name_utf8(const struct java_name *name, char *out)
{
	return java_text_utf8(name->bytes, name->count, name->wide, out);
}

/*
 * The words from which a thread's name was last read: while they are unchanged, so is the name. They also change when a
 * collector relocates an object, so the name itself is hashed.
 */
struct java_name_seen {
	uint64_t slot; /* address of the reference to the thread's object */
	uint64_t thread_word, name_at, name_word;
	uint64_t hash; /* 0: the name has not been read yet */
};
/* Re-reads the words, and the name if they changed. True when the name differs from the last one. */
bool java_name_changed(const struct java_threads *threads, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t java_thread, struct java_name_seen *seen);

/* The virtual thread that this JavaThread has mounted: its object and its id. False if there is none. */
bool java_virtual_mounted(struct java_threads *threads, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t java_thread, uint64_t *object, uint64_t *number);

#endif
