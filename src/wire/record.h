/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring, written by the agent: the records from which the front end builds the profile.
 *
 *   tail (front end)            head (agent)          both count bytes since the start and never wrap;
 *     v                            v                  position = cursor & (ring_bytes - 1);
 *  ...[rec][rec][rec][rec][pad.....]|                 a record never crosses the end: a PAD fills it up
 *
 * One publication: MODULE, METHOD and THREAD records, each before the first record that refers to its id; TRACE for new stacks;
 * DELTAS, how often each stack was sampled; one TICK. Readers skip records of unknown types by their size. Texts are counted
 * and not NUL-terminated.
 */
#ifndef JHOT_WIRE_RECORD_H
#define JHOT_WIRE_RECORD_H

#include "wire/event.h"
#include "wire/frame.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct wire_cursors {
	_Alignas(64) _Atomic uint64_t head;
	_Alignas(64) _Atomic uint64_t tail;
	_Alignas(64) char end[64];
};

struct wire_record {
	uint32_t size; /* of the whole record including this header; a multiple of 8 */
	uint16_t type;
	uint16_t flags;
};

#define WIRE_RECORD_MAX 65536u

/* --- records ----------------------------------------------------------------------------------------- */

/* WIRE_RECORDS(X): X(NAME, value, struct) for every type; a new type is a row, a struct and an assert. */
#define WIRE_RECORDS(X)           \
	X(PAD, 0, wire_record)    \
	X(MODULE, 1, wire_module) \
	X(METHOD, 2, wire_method) \
	X(THREAD, 3, wire_thread) \
	X(TRACE, 4, wire_trace)   \
	X(DELTAS, 5, wire_deltas) \
	X(TICK, 6, wire_tick)     \
	X(NOTE, 7, wire_note)     \
	X(WAIT, 8, wire_wait)     \
	X(POLL, 9, wire_poll)     \
	X(LINKS, 10, wire_links)

#define WIRE_RECORD_ENUM(name, number, type) WIRE_REC_##name = number,
enum wire_record_type { WIRE_RECORDS(WIRE_RECORD_ENUM) };

/* An executable mapping of a file. Native frames refer to it by id; ids count up from 1 and are never reused. */
struct wire_module {
	struct wire_record rec;
	uint32_t id;
	uint32_t path_bytes;  /* without NUL */
	uint64_t start, end;  /* mapped range */
	uint64_t file_offset; /* of start */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	char path[]; /* as in /proc/PID/maps; "[vdso]" */
};

/* A name that frames refer to: a Java method, or, with only `name` set, a stub, a class or a break reason. */
struct wire_method {
	struct wire_record rec;
	uint32_t id; /* counts up from 1 */
	uint16_t class_bytes, name_bytes, signature_bytes;
	uint16_t flags;      /* WIRE_METHOD_... */
	uint32_t line_bytes; /* of the line table after the texts, 0 = unknown */
	/* Class (java/util/HashMap), name, signature, back to back, in modified UTF-8; then HotSpot's compressed line table,
	 * including its terminating 0. */
	char text[];
};
/* line table written by JDK 20 or newer: no byte of a number is 0 */
#define WIRE_METHOD_LINES_20 1u

enum wire_thread_kind {
	WIRE_THREAD_NATIVE = 0, /* unknown to the JVM */
	WIRE_THREAD_JAVA = 1,
	WIRE_THREAD_COMPILER = 2,
	WIRE_THREAD_GC = 3,
	WIRE_THREAD_VM = 4,    /* VM Thread, watcher, signal dispatcher */
	WIRE_THREAD_AGENT = 5, /* jhot's own */
	WIRE_THREAD_VIRTUAL = 6,
};

/*
 * A thread, sent before its first trace and again once its name is known; a renamed thread gets a new id. A virtual thread's
 * id is derived from its thread id; its record precedes each of its traces, with the tid of the carrier that it was last seen
 * on, and without a name if it has none or none could be read.
 */
#define WIRE_VIRTUAL_ID(java_tid) (0x80000000u | (uint32_t)(java_tid))
#define WIRE_IS_VIRTUAL(id)       ((id) >> 31)
struct wire_thread {
	struct wire_record rec;
	uint32_t id;    /* counts up from 1; a reused tid or a new name gets a new id */
	int32_t os_tid; /* in the target's PID namespace */
	uint32_t kind;
	uint32_t name_bytes;
	int64_t java_tid; /* Thread.getId, 0 if unknown */
	char name[];
};

/* A distinct stack. Ids count up from 1; the agent may evict a stack and send it again under a new id. */
struct wire_trace {
	struct wire_record rec;
	uint32_t id;
	uint32_t thread;
	uint16_t event;
	uint16_t flags; /* WIRE_TRACE_* */
	uint32_t frame_count;
	uint64_t frames[]; /* leaf first */
};
#define WIRE_TRACE_TRUNCATED 1u /* deeper than the limit: the root end is missing */
/* The thread state, in bits 4..7. */
#define WIRE_TRACE_STATE(flags)    ((unsigned)(flags) >> 4 & 15)
#define WIRE_TRACE_IN_STATE(state) ((unsigned)(state) << 4)

/* Thread states. The same stack in different states is different traces. */
enum wire_thread_state {
	WIRE_STATE_NONE = 0,     /* unknown, or an event other than wall */
	WIRE_STATE_ON_CPU = 1,   /* running */
	WIRE_STATE_RUNNABLE = 2, /* runnable, waiting for a core */
	WIRE_STATE_SLEEPING = 3, /* Thread.sleep, or sleeping for an unknown reason */
	WIRE_STATE_MONITOR = 4,  /* waiting to enter a synchronized block */
	WIRE_STATE_WAITING = 5,  /* Object.wait */
	WIRE_STATE_PARKED = 6,   /* LockSupport.park */
	WIRE_STATE_IO = 7,       /* in a system call that reads, writes, accepts or polls */
	/* event lock: the owner of a lock that others wait for, not a wait; since 1.6 */
	WIRE_STATE_HOLDS = 8,
	/* a runnable virtual thread that waits for a carrier; since 1.10 */
	WIRE_STATE_CARRIER = 9,
	WIRE_STATES = 10,
};

struct wire_delta {
	uint32_t trace;
	/* Samples; of lock: waits, 0 for the continuation of a wait that was counted before. */
	uint32_t count;
	uint64_t weight; /* in the event's unit */
};

/* Counts and weights since the last DELTAS of this event. Several may precede one TICK. */
struct wire_deltas {
	struct wire_record rec;
	uint64_t time_ns;
	uint64_t interval; /* in force, in the event's unit */
	uint16_t event;
	uint16_t reserved;
	uint32_t delta_count;
	struct wire_delta deltas[];
};

/* Ends one publication, which covers since_ns to time_ns. */
struct wire_tick {
	struct wire_record rec;
	uint64_t time_ns;
	/* normally the previous TICK's time_ns; a full ring makes the period long */
	uint64_t since_ns;
	/* CPU time of the process in this period, less the agent's, if all of it was sampled. Recordings may lack it. */
	uint64_t cpu_ns;
	/*
	 * An instant near the middle of the period, 0 = none, and each event's weight up to then, without WIRE_STATE_HOLDS. A
	 * sample taken at that very moment may be missing. Since 1.7.
	 */
	uint64_t half_ns;
	uint64_t half_weight[WIRE_EVENTS];
};

enum wire_note_kind {
	WIRE_NOTE_TEXT = 0, /* arg_ns: 0, or 1 + the event whose line shows it too */
	WIRE_NOTE_GAP = 1,  /* nothing was sampled from arg_ns to time_ns (paused) */
};

struct wire_note {
	struct wire_record rec;
	uint64_t time_ns;
	uint64_t arg_ns;
	uint32_t kind;
	uint32_t text_bytes;
	char text[];
};

/* A lock wait in progress while the lock event is on: sent once it is long enough, and when it ends. */
struct wire_wait {
	struct wire_record rec;
	uint64_t time_ns;
	uint64_t since_ns; /* start of the wait */
	uint64_t lock;     /* address of the monitor or synchronizer, only an identity */
	uint32_t thread;   /* the waiter */
	uint32_t owner;    /* the thread that owns the lock, 0 = unknown */
	uint32_t method;   /* id of the name of the lock's class, 0 = unknown */
	uint32_t ended;    /* 1: the wait is over */
	/* 1: the wait was found in progress, so since_ns is only the latest possible start. */
	uint32_t at_least;
	uint32_t reserved;
};

/*
 * A poll that found a thread inside a method whose calls are measured (WIRE_OP_LATENCY), and the first one that finds it outside
 * again. Two polls of a thread with equal `frame` are in the same call if no entry was recorded between them (COUNTED and RECORDED);
 * where entries are not recorded, if `outside` is equal: the callers' frames are then unchanged. A collection may relocate objects;
 * between polls with different counts of collections, `values` is compared instead of `outside`. Since 1.13.
 */
struct wire_poll {
	struct wire_record rec;
	uint64_t time_ns;  /* when the thread took the sample */
	uint64_t since_ns; /* it has not run since then, up to time_ns; else time_ns */
	/* The thread's previous poll, which found it where its previous sample had. */
	uint64_t before_ns;
	/* Words from the end of the call's frame to the end of the stack; 0: not inside. */
	uint64_t frame;
	uint64_t outside;  /* hash of the stack words of its callers' frames */
	uint64_t values;   /* the same without words that look like references */
	uint64_t cpu_ns;   /* the thread's CPU time */
	uint64_t delay_ns; /* its run-queue delay; 0: not known */
	uint32_t thread;   /* that was polled; of a mounted virtual thread, its id */
	uint32_t trace;    /* 0: evicted */
	/* Garbage collections before the sample, and up to some time after it. */
	uint32_t collections[2];
	uint32_t flags; /* WIRE_POLL_* */
	/*
	 * Entries into the methods' code since the thread's previous sample; those of them, with the end of the present call's
	 * frame; the times of the first entry, and of the last of those.
	 */
	uint32_t entries, entries_here;
	/* Of a virtual thread: the number of threads that it represents, because only a random subset is polled; else 0. */
	uint32_t weight;
	uint64_t first_ns, last_ns;
};
/* Inlined into its caller: consecutive calls from one frame look like one. */
#define WIRE_POLL_INLINED   1u
#define WIRE_POLL_COUNTED   2u /* `entries` is known */
#define WIRE_POLL_RECORDED  4u /* the call is in code whose entries are recorded */
#define WIRE_POLL_RECURSIVE 8u /* another call of the methods is further in */
/*
 * No poll: an estimate of the entries into the methods' code between before_ns and time_ns, in `entries`, from counting them for a part
 * of that time. entries_here: how far it may be off, besides its standard error, because counting slows the threads down.
 */
#define WIRE_POLL_ESTIMATE 16u
/* No poll: the number of threads that the JVM has started since the previous such record, and in entries_here, of those polled. */
#define WIRE_POLL_STARTS 32u

/* How much of what DELTAS report of a trace belongs to one span. */
struct wire_link {
	uint32_t trace;
	uint32_t count;
	uint64_t weight;
	uint8_t trace_id[16], span_id[8];
};

/* The spans of samples that DELTAS of the same publication report, too. Since 1.14. */
struct wire_links {
	struct wire_record rec;
	uint64_t time_ns;
	uint16_t event;
	uint16_t reserved;
	uint32_t link_count;
	struct wire_link links[];
};

_Static_assert(sizeof(struct wire_cursors) == 192, "wire_cursors");
_Static_assert(sizeof(struct wire_record) == 8, "wire_record");
_Static_assert(offsetof(struct wire_module, path) == 56, "wire_module");
_Static_assert(offsetof(struct wire_method, text) == 24, "wire_method");
_Static_assert(offsetof(struct wire_thread, name) == 32, "wire_thread");
_Static_assert(offsetof(struct wire_trace, frames) == 24, "wire_trace");
_Static_assert(sizeof(struct wire_delta) == 16, "wire_delta");
_Static_assert(offsetof(struct wire_deltas, deltas) == 32, "wire_deltas");
_Static_assert(sizeof(struct wire_tick) == 104, "wire_tick");
_Static_assert(offsetof(struct wire_tick, half_ns) == 32, "wire_tick.half_ns");
_Static_assert(offsetof(struct wire_note, text) == 32, "wire_note");
_Static_assert(sizeof(struct wire_wait) == 56, "wire_wait");
_Static_assert(sizeof(struct wire_poll) == 120, "wire_poll");
_Static_assert(sizeof(struct wire_link) == 40, "wire_link");
_Static_assert(offsetof(struct wire_links, links) == 24, "wire_links");

#endif
