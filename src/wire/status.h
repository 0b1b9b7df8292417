/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page 2, written by the agent: how it is, what it costs, and what got lost, each loss by its name.
 *
 * Read while it is written: every number by itself, a text only after what says that it is there.
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
	WIRE_AGENT_LEFT = 2, /* the session is over: detach, lease lost, or the JVM ends */
};

struct wire_event_status {
	_Atomic uint32_t state;  /* enum wire_event_state */
	_Atomic uint32_t engine; /* enum wire_engine */
	_Atomic uint64_t interval;
	_Atomic uint64_t samples; /* taken by handlers, lost ones included */
	_Atomic uint64_t lost;    /* sum of this event's drops; the counters name them */
	char note[96]; /* written before state; what is degraded and why, "" if nothing */
};

struct wire_counter {
	char name[24]; /* written before counters_used grows */
	_Atomic uint64_t value;
};

#define WIRE_COUNTERS 48

/*
 * What walking a stack costs, of those with at most so many frames (user frames, deeper than the row before): from
 * registers to frames with names. The copying of names that no stack had before is not in it, but told apart.
 */
struct wire_walk_cost {
	_Atomic uint32_t depth_max; /* UINT32_MAX: no limit */
	_Atomic uint32_t mean_ns, median_ns, p99_ns;
	_Atomic uint64_t walks;
};

#define WIRE_WALK_CLASSES 9 /* all walks; up to 8 frames, 16, 32, 64, 128, 256, 512; deeper ones */

/* Whether code that is compiled now tells its inlined methods apart between safepoints. */
enum wire_debug_info {
	WIRE_DEBUG_INFO_UNKNOWN = 0,
	WIRE_DEBUG_INFO_OWN = 1,  /* the JVM was started so */
	WIRE_DEBUG_INFO_SET = 2,  /* for this session */
	WIRE_DEBUG_INFO_NONE = 3, /* it was started without, or does not export the flag */
};

/* Why the agent has left. */
enum wire_left {
	WIRE_LEFT_NOT = 0,
	WIRE_LEFT_ASKED = 1, /* by a command (jhot stop), or for another session */
	WIRE_LEFT_SILENT =
		2,          /* the front end was not heard, or its thread of the lease has ended */
	WIRE_LEFT_EXIT = 3, /* the JVM ends */
	WIRE_LEFT_FORBIDDEN = 4, /* a seccomp filter forbids what the agent cannot do without */
};

struct wire_status {
	_Atomic uint32_t agent_state;
	_Atomic uint32_t publish_seq; /* futex word: moves after each publication */
	_Atomic uint32_t done_seq;    /* the last finished command */
	_Atomic int32_t done_result;  /* 0 or -errno */
	char done_text[240];          /* its failure in a sentence */

	char walker[24];               /* "vmstructs" or "agct" */
	char walker_note[136];         /* why not vmstructs; "" if it is */
	_Atomic uint64_t cost_ns;      /* CPU time spent in handlers, callbacks and agent threads */
	_Atomic uint64_t memory_bytes; /* mapped for this session, the shared map included */
	struct wire_event_status events[WIRE_EVENTS];
	_Atomic uint32_t counters_used;
	_Atomic uint32_t debug_info;                 /* enum wire_debug_info */
	struct wire_counter counters[WIRE_COUNTERS]; /* every kind of loss or fault */
	struct wire_walk_cost walk_cost[WIRE_WALK_CLASSES];
	struct wire_walk_cost name_cost; /* of naming stacks, new names in them; of any depth */
	_Atomic uint64_t code_used,
		code_bytes;    /* how full the code cache is; 0: not known, or an older recording */
	_Atomic uint32_t left; /* enum wire_left, from before agent_state is WIRE_AGENT_LEFT */
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
