/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control page (1), written by the front end: its lease, and one command at a time.
 *
 *   front end: fills command; command_seq += 1; futex-wake    agent: executes it; status.done_seq = command_seq
 *   front end: beat += 1 every 250 ms                         agent: ends the session when beat stops
 *
 * The agent trusts nothing here: it copies a command before it checks it. Intervals are in the event's unit.
 */
#ifndef JHOT_WIRE_CONTROL_H
#define JHOT_WIRE_CONTROL_H

#include "wire/event.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum wire_op {
	WIRE_OP_NONE = 0,
	WIRE_OP_EVENT_START = 1, /* event, interval (0 = default), flags, arg = engine or 0 */
	WIRE_OP_EVENT_STOP = 2,  /* event */
	WIRE_OP_DETACH = 3,  /* stop all events, publish the remaining samples, end the session */
	WIRE_OP_UNWIND = 4,  /* arg = bytes used in the staging area: struct wire_unwind_chunk... */
	WIRE_OP_FLUSH = 5,   /* publish now */
	WIRE_OP_THREADS = 6, /* text: sample only threads whose names match, "" = all */
	/* arg: CPU that sampling may use, in thousandths of a core, 0 = unlimited; flags */
	WIRE_OP_BUDGET = 7,
	WIRE_OP_DEPTH = 8, /* arg = WIRE_DEPTH(): what to keep of deep stacks; since 1.1 */
	/* the result is a socket for sending perf_events: wire/lend.h; since 1.9 */
	WIRE_OP_LEND = 9,
	/*
	 * Measure the latency of calls: send a POLL record for each poll of wall that finds a thread inside one of arg methods.
	 * text: as many struct wire_timed_method; interval: of polling such threads, in ns. arg 0: none.
	 * arg and interval 0: stop; text: empty, or the name of a method that will be measured: compiled methods of this name get
	 * METHOD records (since 1.15). Requires wall. Since 1.13.
	 */
	WIRE_OP_LATENCY = 10,
	/* text: a struct wire_contexts, where threads publish which request they work for; since 1.14 */
	WIRE_OP_CONTEXTS = 11,
};

/*
 * A thread-local pointer to a record of the OpenTelemetry thread context (OTEP 4947): 16 bytes trace id, 8 bytes span id, u8
 * valid (1), u8 flags, u16 size of the attributes, then for each attribute u8 key, u8 length and its value.
 */
struct wire_context_place {
	/* 0: at the thread pointer + offset. Else the module's index in the thread's vector (dtv) of TLS blocks. */
	uint64_t module;
	int64_t offset;
	/* Relative to the thread pointer: the vector's address; relative to that: its number of entries. */
	int32_t vector_at, count_at;
	uint32_t entry_bytes; /* of the vector */
	uint32_t used;        /* 0: no such place */
};
#define WIRE_CONTEXT_PLACES 4
#define WIRE_CONTEXT_KEYS   256

struct wire_contexts {
	struct wire_context_place places[WIRE_CONTEXT_PLACES];
	/* A bit per attribute key: samples are kept apart by the values of these attributes. */
	uint8_t keys[WIRE_CONTEXT_KEYS / 8];
};

/* A method whose calls are measured. */
struct wire_timed_method {
	uint32_t id;         /* of its METHOD record */
	uint32_t parameters; /* stack words of its parameters, at least */
};
#define WIRE_TIMED_METHODS 32u

/*
 * Of a stack with more than `limit` frames, keep `top` from the leaf and `root` from the root, with a CUT frame between them;
 * top + root < limit <= WIRE_DEPTH_MAX. root 0: top <= limit, and the trace is TRUNCATED.
 */
#define WIRE_DEPTH_MAX 2048u
#define WIRE_DEPTH(limit, top, root) \
	((uint64_t)(limit) | (uint64_t)(top) << 16 | (uint64_t)(root) << 32)
#define WIRE_DEPTH_LIMIT(arg) ((uint32_t)(arg)&0xffffu)
#define WIRE_DEPTH_TOP(arg)   ((uint32_t)((arg) >> 16) & 0xffffu)
#define WIRE_DEPTH_ROOT(arg)  ((uint32_t)((arg) >> 32) & 0xffffu)

/* Flags of WIRE_OP_EVENT_START. */
#define WIRE_START_LIVE        1u /* alloc: only objects that survived a garbage collection */
#define WIRE_START_USER_ONLY   2u /* neither kernel frames nor samples in the kernel */
#define WIRE_START_KERNEL_ONLY 4u
/* the interval is jhot's default, not the user's choice; implied by interval 0 */
#define WIRE_START_CHOSEN 8u

/* Flags of WIRE_OP_BUDGET. */
#define WIRE_BUDGET_CHOSEN 1u /* limit only events with a default interval (WIRE_START_CHOSEN) */

/*
 * What perf counts, for WIRE_OP_EVENT_START of WIRE_USER_FIRST and above; fields as in perf_event_open(2). For WIRE_ALLOC in
 * JDK 8: type is PERF_TYPE_BREAKPOINT, config and config1 are the addresses of libjvm's functions that report an object in a
 * new TLAB and one outside TLABs, and config2 is the index of their size argument (argument 0 is the class). All 0 otherwise.
 */
#define WIRE_PERF_BREAKPOINT 5u /* PERF_TYPE_BREAKPOINT */
struct wire_perf_event {
	uint32_t type;
	uint32_t bp_type;
	uint64_t config, config1, config2;
};

struct wire_command {
	uint32_t op;
	uint32_t event;
	uint64_t interval; /* in the event's unit: ns or bytes */
	uint64_t flags;    /* depends on op: WIRE_START_*, WIRE_BUDGET_* */
	uint64_t arg;
	struct wire_perf_event perf;
	char text[256]; /* depends on op: event name, thread pattern */
};

#define WIRE_FRONT_END_DIED 0x40000000u /* FUTEX_OWNER_DIED */

struct wire_control {
	/* The lease: beat advances every 250 ms while the front end lives. */
	_Atomic uint32_t beat;
	_Atomic uint32_t parked;     /* 1 = suspended (^Z): engines off, session kept */
	uint64_t front_end_start_ns; /* wall clock, for "held since" */
	int32_t front_end_pid;       /* in the front end's PID namespace; for display only */
	char front_end_name[60];     /* user@tty */

	/* One command at a time: fill it, store seq + 1 with release, futex-wake seq; done once status.done_seq equals it. */
	_Atomic uint32_t command_seq;
	/*
	 * A word on the kernel's robust futex list (set_robust_list): the tid of the thread that advances beat, in its own PID
	 * namespace. When that thread ends, however it does, the kernel sets WIRE_FRONT_END_DIED. 0: unknown.
	 */
	_Atomic uint32_t front_end;
	struct wire_command command;

	/* The front end's names of WIRE_USER_FIRST and the events after it, "" = unused; for display only. */
	char event_names[WIRE_EVENTS - WIRE_USER_FIRST][64];
};

_Static_assert(sizeof(struct wire_perf_event) == 32, "wire_perf_event");
_Static_assert(WIRE_TIMED_METHODS * sizeof(struct wire_timed_method) <=
		       sizeof(((struct wire_command *)0)->text),
	"wire_timed_method");
_Static_assert(sizeof(struct wire_contexts) == 160 &&
		       sizeof(struct wire_contexts) < sizeof(((struct wire_command *)0)->text),
	"wire_contexts");
_Static_assert(sizeof(struct wire_command) == 320, "wire_command");
_Static_assert(offsetof(struct wire_control, command) == 88, "wire_control.command");
_Static_assert(offsetof(struct wire_control, event_names) == 408, "wire_control.event_names");

#endif
