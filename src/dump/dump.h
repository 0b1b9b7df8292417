/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks of all threads of a HotSpot JVM, read from outside with ptrace and process_vm_readv: no agent, no attach, no
 * cooperation. Works on JVMs that are stopped, hang, or refuse attach requests.
 *
 *   before any stop    maps, symbols, unwind rows, HotSpot's layout, list of threads     (everything slow)
 *   per thread         name and id from java.lang.Thread, while it runs
 *                      +- stopped: PTRACE_SEIZE, PTRACE_INTERRUPT, wait for the stop
 *                      |    copy registers, the used stack (at most 1 MB), its JavaThread
 *                      |    read state and lock of the Java thread
 *                      +- detached: PTRACE_DETACH, on every path
 *                      walk the copy; anything outside of it is read from the running process
 *   afterwards         owners of locks, deadlocks, virtual threads without a carrier
 *
 * While a thread is stopped, its tracer thread does nothing else; longest_pause_ns is an upper bound of the stop. A system
 * call of the thread may return early (EINTR). The stacks are not of one instant.
 *
 * struct dump owns all its texts. Blocks; single-threaded.
 */
#ifndef JHOT_DUMP_DUMP_H
#define JHOT_DUMP_DUMP_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum dump_type {
	DUMP_COMPILED,
	DUMP_INTERPRETED,
	DUMP_INLINED,
	DUMP_NATIVE,
	DUMP_VM, /* libjvm, stubs */
	DUMP_KERNEL,
	DUMP_BREAK, /* pseudo frame: why the stack ends here */
	DUMP_TYPES
};
struct dump_type_info {
	char letter; /* as in other lists of jhot */
	const char *name;
};
extern const struct dump_type_info dump_types[DUMP_TYPES];

struct dump_frame {
	char *name;   /* "java.util.HashMap.getNode", "inflate", "0x1234" */
	char *module; /* "libz.so.1"; "" for Java */
	int32_t line; /* 0: unknown */
	int32_t bci;  /* -1: unknown */
	enum dump_type type;
};

/* The lock that a Java thread waits for. Addresses serve only to distinguish locks. */
struct dump_lock {
	const char *what; /* "waiting to lock"; NULL: no lock known */
	char *class_name; /* "java.lang.Object" */
	uint64_t address;
	const char *owner; /* name of the owning thread; NULL: unknown */
	pid_t owner_tid;
};

struct dump_thread {
	pid_t tid, nstid; /* in our namespace, in its own */
	char name[256];   /* Java's name, else the kernel's, which has at most 15 characters */
	char state;       /* R, S, D, T, ... before jhot stopped it */
	const char *java; /* "in native", "blocked", ...; NULL: not a Java thread */
	int64_t java_id;  /* Thread.getId; 0: unknown */
	const char *java_status; /* "WAITING (parking)"; NULL: unknown */
	struct dump_lock lock;
	const char *note; /* why there are no user frames; NULL: there are some */
	struct dump_frame *frames;
	uint32_t count;
	bool truncated; /* true: the stack is deeper than `frames` */
};

/* A group of unmounted virtual threads with the same state, class and stack. */
#define DUMP_NAMES 3u
struct dump_name {
	char name[128]; /* "": unnamed */
	int64_t id;     /* Thread.threadId */
};
struct dump_group {
	uint64_t count;    /* an estimate if only a sample was examined */
	const char *state; /* "parked", "waiting to enter a monitor", ... */
	char *class_name;  /* class of the object that they wait for; "": none or unknown */
	struct dump_name names[DUMP_NAMES];
	uint32_t named;
	struct dump_thread stack; /* only its frames are set */
};

struct dump {
	struct dump_group *groups; /* largest first */
	uint32_t group_count;
	/* Unmounted virtual threads (an estimate if only a sample was examined), and how many of them were examined. */
	uint64_t parked, parked_scans;
	struct dump_thread *threads;
	uint32_t count, stopped; /* stopped: how many of them were stopped and walked */
	uint64_t longest_pause_ns;
	bool denied;    /* dump_capture failed because the kernel denies tracing */
	bool by_agent;  /* sampled by the agent over some time, see cli/verb/dump.c */
	char note[256]; /* the limitations of this dump, as a sentence; "": none */
};

/* jvm: from hotspot_find; its verdict is ignored. 0, or -1 with an error and *out empty but for denied. */
int dump_capture(const struct hotspot *jvm, struct dump *out, struct err *err);
void dump_done(struct dump *d);

/*
 * Finds a cycle of threads that wait for each other, whose first thread is `first`; fills in up to `most` indices and returns
 * their number, 0: none. Since threads were stopped one after the other, only a second dump with the same cycle proves a
 * deadlock.
 */
uint32_t dump_cycle(const struct dump *d, uint32_t first, uint32_t *list, uint32_t most);

#endif
