/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks of all threads of a HotSpot JVM, taken from outside: no agent, no attach, no answer needed.
 *
 * Works on JVMs that are stopped, hang, or refuse to be attached. Threads are stopped one at a time, each for
 * as long as it takes to copy its registers and stack. So the stacks are not of one instant.
 * struct dump owns all its texts. One thread.
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
	DUMP_BREAK, /* why the stack ends here */
	DUMP_TYPES
};
struct dump_type_info {
	char letter; /* as in jhot's lists */
	const char *name;
};
extern const struct dump_type_info dump_types[DUMP_TYPES];

struct dump_frame {
	char *name;   /* "java.util.HashMap.getNode", "inflate", "0x1234" */
	char *module; /* "libz.so.1"; "" for Java */
	int32_t line; /* 0 = not known */
	int32_t bci;  /* -1 = not known */
	enum dump_type type;
};

/* What a Java thread waits for. Addresses only tell one lock from another. */
struct dump_lock {
	const char *what; /* "waiting to lock", NULL: it waits for no lock that is known */
	char *class_name; /* "java.lang.Object" */
	uint64_t address;
	const char *owner; /* the name of the thread that holds it, NULL = not known */
	pid_t owner_tid;
};

struct dump_thread {
	pid_t tid, nstid; /* as we see it, as it sees itself */
	char name[256];   /* as Java knows it, or as the kernel does, cut at 15 characters by it */
	char state;       /* R, S, D, T, ... before jhot touched it */
	const char *java; /* "in native", "blocked", ...; NULL: no Java thread */
	int64_t java_id;  /* Thread.getId, 0 = not known */
	const char *java_status; /* "WAITING (parking)", NULL = not known */
	struct dump_lock lock;
	const char *note; /* why there are no user frames; NULL: there are */
	struct dump_frame *frames;
	uint32_t count;
	bool truncated; /* deeper than is shown */
};

/* Virtual threads without a carrier that do the same. */
#define DUMP_NAMES 3u
struct dump_name {
	char name[128]; /* "": it has none */
	int64_t number; /* Thread.threadId */
};
struct dump_group {
	uint64_t count;    /* about, where not all were looked at */
	const char *state; /* "parked", "waiting to enter a monitor", ... */
	char *class_name;  /* of what they are parked for; "" = nothing, or not known */
	struct dump_name names[DUMP_NAMES];
	uint32_t named;
	struct dump_thread stack; /* only its frames */
};

struct dump {
	struct dump_group *groups; /* the largest first */
	uint32_t group_count;
	uint64_t parked,
		parked_looks; /* how many there are, about; how many of them are in groups */
	struct dump_thread *threads;
	uint32_t count, stopped; /* stopped: how many were stopped and walked */
	uint64_t longest_pause_ns;
	bool denied;    /* dump_take failed because the kernel does not let us trace */
	bool by_agent;  /* seen from inside, over a while: see cli/verb/dump.c */
	char note[256]; /* what is degraded, "" if nothing */
};

/* jvm: as hotspot_find says; whether it can be attached does not matter. */
int dump_take(const struct hotspot *jvm, struct dump *out, struct err *err);
void dump_done(struct dump *d);

/*
 * dump_circle: the threads that wait for each other in a circle of which this one is the first: how many, up to `most`,
 * and which; 0: there is none. They were stopped one after the other, so only a second dump that has the same proves it.
 */
uint32_t dump_circle(const struct dump *d, uint32_t first, uint32_t *list, uint32_t most);

#endif
