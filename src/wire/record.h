/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring, written by the agent: records, from which the front end makes the profile.
 *
 *   tail (front end)            head (agent)          both count bytes since the start and never wrap;
 *     v                            v                  position = cursor & (ring_bytes - 1);
 *  ...[rec][rec][rec][rec][pad.....]|                 a record never crosses the end: a PAD fills up
 *
 * A publication is MODULE, METHOD, THREAD as traces need them, each before who names it by id; TRACE for stacks that are
 * new; DELTAS, how often each was seen; a TICK. Readers skip types that they do not know, by their size.
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
	uint32_t size; /* of the whole record, a multiple of 8, this header included */
	uint16_t type;
	uint16_t flags;
};

#define WIRE_RECORD_MAX 65536u

/* --- records ----------------------------------------------------------------------------------------- */

/* WIRE_RECORDS(X): X(NAME, number, struct) for every type; a new record is a row, a struct, an assert. */
#define WIRE_RECORDS(X)           \
	X(PAD, 0, wire_record)    \
	X(MODULE, 1, wire_module) \
	X(METHOD, 2, wire_method) \
	X(THREAD, 3, wire_thread) \
	X(TRACE, 4, wire_trace)   \
	X(DELTAS, 5, wire_deltas) \
	X(TICK, 6, wire_tick)     \
	X(NOTE, 7, wire_note)     \
	X(WAIT, 8, wire_wait)

#define WIRE_RECORD_ENUM(name, number, type) WIRE_REC_##name = number,
enum wire_record_type { WIRE_RECORDS(WIRE_RECORD_ENUM) };

/* An executable mapping of a file. Native frames name it by id; ids count up from 1, never reused. */
struct wire_module {
	struct wire_record rec;
	uint32_t id;
	uint32_t path_bytes;  /* without NUL */
	uint64_t start, end;  /* where it is mapped */
	uint64_t file_offset; /* of start */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	char path[]; /* as in /proc/PID/maps; "[vdso]" */
};

/* A name that frames use: a Java method, or with only name set a stub, a class, a reason. */
struct wire_method {
	struct wire_record rec;
	uint32_t id; /* counts up from 1 */
	uint16_t class_bytes, name_bytes, signature_bytes;
	uint16_t flags;      /* WIRE_METHOD_... */
	uint32_t line_bytes; /* of the line table behind the texts, 0 = none is known */
	/* Class (java/util/HashMap), name, signature, one after the other, modified UTF-8; then HotSpot's
	 * compressed line table as the JVM has it, its ending 0 included. */
	char text[];
};
#define WIRE_METHOD_LINES_20 1u /* the table is written as since JDK 20: no byte of a number is 0 */

enum wire_thread_kind {
	WIRE_THREAD_NATIVE = 0, /* not the JVM's */
	WIRE_THREAD_JAVA = 1,
	WIRE_THREAD_COMPILER = 2,
	WIRE_THREAD_GC = 3,
	WIRE_THREAD_VM = 4,    /* VM Thread, watcher, signal dispatcher */
	WIRE_THREAD_AGENT = 5, /* jhot's own */
	WIRE_THREAD_VIRTUAL = 6,
};

/*
 * A thread, sent before its first trace and again when its name becomes known; one that is renamed has another id
 * from then on. A virtual thread's id is made of its number; it is sent before each of its traces, with the tid of the
 * carrier that it was seen on last, and without a name if it has none or that was not to be read.
 */
#define WIRE_VIRTUAL_ID(java_tid) (0x80000000u | (uint32_t)(java_tid))
#define WIRE_IS_VIRTUAL(id)       ((id) >> 31)
struct wire_thread {
	struct wire_record rec;
	uint32_t id;    /* counts up from 1; a reused tid gets a new one, so does a new name */
	int32_t os_tid; /* in the target's PID namespace */
	uint32_t kind;
	uint32_t name_bytes;
	int64_t java_tid; /* Thread.getId, 0 if not known */
	char name[];
};

/* A distinct stack. Ids count up from 1; the agent may forget one and send the same stack as a new id. */
struct wire_trace {
	struct wire_record rec;
	uint32_t id;
	uint32_t thread;
	uint16_t event;
	uint16_t flags; /* WIRE_TRACE_* */
	uint32_t frame_count;
	uint64_t frames[]; /* leaf first */
};
#define WIRE_TRACE_TRUNCATED 1u /* deeper than the limit: the root is missing */
/* what the thread was doing, in bits 4..7 */
#define WIRE_TRACE_STATE(flags)    ((unsigned)(flags) >> 4 & 15)
#define WIRE_TRACE_IN_STATE(state) ((unsigned)(state) << 4)

/* Equal stacks in different states are different traces. */
enum wire_thread_state {
	WIRE_STATE_NONE = 0,     /* not known, or of another event than wall */
	WIRE_STATE_ON_CPU = 1,   /* it runs */
	WIRE_STATE_RUNNABLE = 2, /* it waits for a core */
	WIRE_STATE_SLEEPING = 3, /* Thread.sleep, or asleep for a reason that is not known */
	WIRE_STATE_MONITOR = 4,  /* it waits to enter a synchronized block */
	WIRE_STATE_WAITING = 5,  /* Object.wait */
	WIRE_STATE_PARKED = 6,   /* LockSupport.park */
	WIRE_STATE_IO = 7,       /* in a system call that reads, writes, accepts, polls */
	WIRE_STATE_HOLDS =
		8, /* of lock: not a wait, but who holds what others wait for; since 1.6 */
	WIRE_STATE_CARRIER =
		9, /* a virtual thread that is ready to run and has no carrier; since 1.10 */
	WIRE_STATES = 10,
};

struct wire_delta {
	uint32_t trace;
	uint32_t count;  /* samples; of lock: waits, 0 of one that was counted before and goes on */
	uint64_t weight; /* in the event's unit */
};

/* What happened since the last DELTAS of this event. Several may precede one TICK. */
struct wire_deltas {
	struct wire_record rec;
	uint64_t time_ns;
	uint64_t interval; /* in force */
	uint16_t event;
	uint16_t reserved;
	uint32_t delta_count;
	struct wire_delta deltas[];
};

/* Ends one publication: everything before it happened up to time_ns. */
struct wire_tick {
	struct wire_record rec;
	uint64_t time_ns;
	uint64_t since_ns; /* start of what this publication covers; a full ring makes it long */
	/* CPU time that the process used in it, less the agent's, while all of it was sampled. Recordings may lack it. */
	uint64_t cpu_ns;
	/*
	 * An instant about half way, 0 = none, and what each event's samples (without WIRE_STATE_HOLDS) had weighed by
	 * then. A sample that comes just then may be missing in it. Since 1.7.
	 */
	uint64_t half_ns;
	uint64_t half_weight[WIRE_EVENTS];
};

enum wire_note_kind {
	WIRE_NOTE_TEXT = 0, /* arg_ns: 0, or 1 + the event on whose line it stands as well */
	WIRE_NOTE_GAP = 1,  /* nothing was sampled between arg_ns and time_ns (paused) */
};

struct wire_note {
	struct wire_record rec;
	uint64_t time_ns;
	uint64_t arg_ns;
	uint32_t kind;
	uint32_t text_bytes;
	char text[];
};

/* Who waits for whom now, while the lock event is on: sent when a wait is long enough, and when it ends. */
struct wire_wait {
	struct wire_record rec;
	uint64_t time_ns;
	uint64_t since_ns; /* when the wait began */
	uint64_t lock;     /* address of the monitor or synchronizer, to tell one from another */
	uint32_t thread;   /* who waits */
	uint32_t owner;    /* the thread that holds it, 0 = not known */
	uint32_t method;   /* id of the name of the lock's class, 0 = not known */
	uint32_t ended;    /* 1: it waits no longer */
	/* 1: it was there at the first look, and began at since_ns or before. */
	uint32_t at_least;
	uint32_t reserved;
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

#endif
