/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.Thread objects: what a thread is called, and which virtual thread a carrier has mounted.
 *
 * All by loads, while the collector may move what is read: nothing is taken for a thread that is not proved to be
 * one, by its class and by fields that lead back. Signal-safe but for java_threads_find. The fields are those of
 * java.lang.Thread and java.lang.String of this JVM, found out once; of VirtualThread, when the first one is seen.
 */
#ifndef JHOT_WALK_HOTSPOT_JAVA_THREAD_H
#define JHOT_WALK_HOTSPOT_JAVA_THREAD_H

#include "walk/hotspot/oop.h"

#include <stdatomic.h>

#define JAVA_NAME_BYTES 72u /* longer names are cut; characters beyond Latin-1 take two */

struct java_threads {
	struct oop_mode mode;      /* not known: none of this can be read */
	bool direct;               /* a JavaThread has its references itself, not in handles */
	uint32_t name, tid, eetop; /* offsets in java.lang.Thread */
	uint32_t value;            /* in java.lang.String */
	int32_t coder;             /* likewise; < 0: all characters take two bytes */
	uint64_t klass;            /* java.lang.Thread, if java_threads_find was asked */
	uint64_t plain;            /* vtable of the C++ class JavaThread itself; 0: not known */
	/* of java.lang.VirtualThread: its class, 0 = none was seen yet, and its field carrierThread */
	_Atomic uint64_t virtual_klass;
	uint32_t carrier;
};

struct java_name {
	uint8_t bytes[JAVA_NAME_BYTES];
	uint32_t count; /* bytes */
	bool wide;      /* UTF-16, else Latin-1 */
};

/* By what the JVM's tables and its threads tell. false: it is not to be found out, or not yet. */
bool java_threads_find(
	struct java_threads *threads, const struct walk_layout *layout, const struct walk_mem *mem);

/*
 * The C++ class of a JavaThread, by its vtable. Threads that Java code starts, and native ones that attach, are of JavaThread
 * itself. HotSpot has subclasses for its own: compilers, for example, which alone have the fields of CompilerThread.
 */
enum java_thread_class {
	JAVA_THREAD_UNKNOWN, /* not readable, or java_threads_find has not found the vtable */
	JAVA_THREAD_PLAIN,
	JAVA_THREAD_SUBCLASS,
};
enum java_thread_class java_thread_class(
	const struct java_threads *threads, const struct walk_mem *mem, uint64_t java_thread);

/* The reference to a JavaThread's java.lang.Thread: another one when a collector moves that. */
uint64_t java_thread_word(const struct java_threads *threads, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t java_thread);

/* The java.lang.Thread of a JavaThread; { 0, 0 }: not readable just now. */
struct oop java_thread_object(const struct java_threads *threads, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t java_thread);

/* What a java.lang.Thread is called. false: not readable just now. */
bool java_thread_name(const struct java_threads *threads, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t object, struct java_name *out);

/* The first characters of a String, or of a char[]. */
struct java_text {
	uint8_t *bytes;
	uint32_t size, count; /* bytes */
	bool wide;
};
bool java_text_read(const struct java_threads *threads, const struct walk_layout *layout,
	const struct walk_mem *mem, struct oop string, struct java_text *out);

/* In UTF-8: its bytes, at most 2 * count. Halves of pairs that stand alone become U+FFFD. */
uint32_t java_text_utf8(const uint8_t *bytes, uint32_t count, bool wide, char *out);
static inline uint32_t java_name_utf8(const struct java_name *name, char *out)
{
	return java_text_utf8(name->bytes, name->count, name->wide, out);
}

/*
 * Where a thread's name was when it was looked at last: as long as these words stay it is called the same. A
 * collector that moves something changes them, too; the hash is of the name itself.
 */
struct java_name_seen {
	uint64_t slot; /* of the reference to the thread's object */
	uint64_t thread_word, name_at, name_word;
	uint64_t hash; /* 0: the name was never read */
};
/* Looks again. true: the name may be another one than the last time. */
bool java_name_moved(const struct java_threads *threads, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t java_thread, struct java_name_seen *seen);

/* The virtual thread that this JavaThread has mounted: its object and its number. false: none is known. */
bool java_virtual_mounted(struct java_threads *threads, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t java_thread, uint64_t *object, uint64_t *number);

#endif
