/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of publishing, shared by its files (publish.c: traces and methods; threads.c; native.c; traces.c) and by
 * the owner of its memory, session/memory.c. Publisher only. Functions that return bool return false when the
 * ring is full.
 */
#ifndef JHOT_SAMPLER_PUBLISH_STATE_H
#define JHOT_SAMPLER_PUBLISH_STATE_H

#include "sampler/publish/modules.h"
#include "sampler/publish/publish.h"
#include "walk/hotspot/names.h"
#include "walk/trace_table.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stdint.h>

/* --- traces.c: ids ----------------------------------------------------------------------------- */

/* The traces known to the front end: ids by hash. Bounded: inserting into a full table evicts all traces. */

#define KNOWN_SLOTS 32768u /* a power of two; 512 kB */

struct known {
	uint64_t hash; /* 0: empty */
	uint32_t id;
	uint32_t epoch; /* entries of earlier epochs are stale, hence empty */
};

struct known_traces {
	uint32_t epoch, used;
	struct known slots[KNOWN_SLOTS];
};

/* The id of the trace; 0 if it is not known. */
uint32_t known_id(const struct known_traces *known, uint64_t hash);
/* Inserts a trace; false when the table was full, so that all others were evicted. */
bool known_add(struct known_traces *known, uint64_t hash, uint32_t id);
void known_forget(struct known_traces *known);

/* --- traces.c: states ---------------------------------------------------------------------------- */

/*
 * Classifies waits in futex(2) by the innermost Java method. The ids of the relevant methods are recorded when they are
 * published, since a trace contains ids only. Publisher only.
 */

#define STATES_IDS 32u /* a method gets another id when its class is loaded again */

struct states {
	uint32_t used;
	struct {
		uint32_t method;
		enum wire_thread_state state;
	} ids[STATES_IDS];
};

void states_method(struct states *states, const struct names_entry *method);

/* The flags of a trace in wire format. */
uint16_t states_flags(const struct states *states, const struct trace_key *key);

/* --- publish.c, threads.c, native.c -------------------------------------------------------------- */

#define PUBLISH_DELTAS 256u
#define PUBLISH_LINKS  128u

/* A snapshot of a half (struct wire_tick). */
struct publish_half {
	uint64_t ns, weight[WIRE_EVENTS];
};

struct publish {
	struct sampler *s;
	uint32_t next_trace;
	uint32_t names_done;  /* id of the last METHOD published */
	uint32_t names_waits; /* consecutive publications that waited for a name */
	uint64_t now_ns, names_since_ns;
	bool wants_names;
	uint64_t modules_read_ns, modules_cost_ns;

	/* the half being published */
	bool draining;
	uint32_t cursor;
	uint64_t drained_ns, last_tick_ns; /* time of the flip; time of the previous tick */
	struct publish_half drained_half;
	struct publish_half half; /* snapshot of the half being filled */
	uint64_t flips;
	uint64_t cpu_ns; /* CPU time used during the drained half */
	/* CPU time used after the drained half, up to cpu_at_ns of the process's clock. */
	uint64_t cpu_owed_ns;
	uint64_t cpu_at_ns;
	bool cpu_counts; /* true while cpu samples account for all CPU time */
	uint32_t delta_count[WIRE_EVENTS];
	struct wire_delta deltas[WIRE_EVENTS][PUBLISH_DELTAS];
	/* Of one event, published before its deltas. */
	uint32_t link_count, link_event;
	struct wire_link links[PUBLISH_LINKS];
	struct states states;
	struct known_traces known;
};

/* threads.c: publishes the thread if it is new or renamed. */
bool publish_thread(struct publish *p, uint32_t id);

/* native.c: publishes the modules of the trace's native frames. */
bool publish_modules(struct publish *p, const struct trace_key *key);
/* Reads the maps again if it is due. */
void publish_modules_refresh(struct publish *p, uint64_t now_ns);
/* Converts a frame to wire format. */
uint64_t publish_frame(struct publish *p, uint64_t frame);

#endif
