/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status page (2), written by the agent: its state, its cost, and every loss under its own name.
 *
 * Read while it is being written: each number is consistent only by itself; a text is valid only once the field that announces
 * it has been read.
 */
#ifndef JHOT_WIRE_STATUS_H
#define JHOT_WIRE_STATUS_H

#include "wire/event.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum wire_agent_state {
	WIRE_AGENT_STARTING = 0,
	WIRE_AGENT_READY = 1,
	WIRE_AGENT_LEFT = 2, /* the session has ended: detach, lease expired, or JVM exit */
};

struct wire_event_status {
	_Atomic uint32_t state;  /* enum wire_event_state */
	_Atomic uint32_t engine; /* enum wire_engine */
	_Atomic uint64_t interval;
	_Atomic uint64_t samples; /* taken by handlers, including lost ones */
	_Atomic uint64_t lost;    /* sum of this event's drops; the counters name them */
	/* Limitations of the event and their reasons, "": none. Written before state. */
	char note[96];
};

struct wire_counter {
	char name[24]; /* written before counters_used increases */
	_Atomic uint64_t value;
};

#define WIRE_COUNTERS 48

/*
 * Cost of walking stacks of one depth class, from registers to named frames. A class has stacks of at most depth_max user
 * frames and more than the previous class. `walks` are those that were measured, the first and then one in eight. The copying of names that are new is not included, but reported in name_cost.
 */
struct wire_walk_cost {
	_Atomic uint32_t depth_max; /* UINT32_MAX: unlimited */
	_Atomic uint32_t mean_ns, median_ns, p99_ns;
	_Atomic uint64_t walks;
};

#define WIRE_WALK_CLASSES 9 /* all walks; up to 8 frames, 16, 32, 64, 128, 256, 512; deeper */

/* Whether code compiled now has inlining info between safepoints (DebugNonSafepoints). */
enum wire_debug_info {
	WIRE_DEBUG_INFO_UNKNOWN = 0,
	WIRE_DEBUG_INFO_OWN = 1,  /* yes: the JVM was started with it */
	WIRE_DEBUG_INFO_SET = 2,  /* yes: set for this session */
	WIRE_DEBUG_INFO_NONE = 3, /* no: started without it, or the flag is not exported */
};

/* Why the agent ended the session. */
enum wire_left {
	WIRE_LEFT_NOT = 0,
	WIRE_LEFT_ASKED = 1, /* by a command (jhot stop), or for another session */
	/* the lease expired: no beat from the front end, or its lease thread has ended */
	WIRE_LEFT_SILENT = 2,
	WIRE_LEFT_EXIT = 3,      /* JVM exit */
	WIRE_LEFT_FORBIDDEN = 4, /* a seccomp filter forbids a call that the agent needs */
};

struct wire_status {
	_Atomic uint32_t agent_state;
	_Atomic uint32_t publish_seq; /* futex word: changes after each publication */
	_Atomic uint32_t done_seq;    /* the last completed command */
	_Atomic int32_t done_result;  /* 0 or -errno */
	char done_text[240];          /* the error as a sentence */

	char walker[24];               /* "vmstructs" or "agct" */
	char walker_note[136];         /* why not vmstructs; "" if it is */
	_Atomic uint64_t cost_ns;      /* CPU time of handlers, callbacks and agent threads */
	_Atomic uint64_t memory_bytes; /* mapped for this session, including the shared memory */
	struct wire_event_status events[WIRE_EVENTS];
	_Atomic uint32_t counters_used;
	_Atomic uint32_t debug_info;                 /* enum wire_debug_info */
	struct wire_counter counters[WIRE_COUNTERS]; /* every kind of loss or error */
	struct wire_walk_cost walk_cost[WIRE_WALK_CLASSES];
	struct wire_walk_cost name_cost; /* naming stacks with new names in them, of any depth */
	/* Fill level of the code cache; 0: unknown, or an older recording. */
	_Atomic uint64_t code_used, code_bytes;
	_Atomic uint32_t left; /* enum wire_left, set before agent_state becomes WIRE_AGENT_LEFT */
	uint32_t reserved;
};

_Static_assert(sizeof(struct wire_event_status) == 128, "wire_event_status");
_Static_assert(offsetof(struct wire_status, events) == 432, "wire_status.events");
_Static_assert(offsetof(struct wire_status, walk_cost) == 3000, "wire_status.walk_cost");
_Static_assert(offsetof(struct wire_status, name_cost) == 3216, "wire_status.name_cost");
_Static_assert(sizeof(struct wire_walk_cost) == 24, "wire_walk_cost");
_Static_assert(offsetof(struct wire_status, code_used) == 3240, "wire_status.code_used");
_Static_assert(offsetof(struct wire_status, left) == 3256, "wire_status.left");

#endif
