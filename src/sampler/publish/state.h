/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of publishing, for its files: publish.c for traces and methods, threads.c, native.c, and what they remember;
 * and for the one that has its memory.
 * Publisher's thread only. What returns a bool returns false when the ring has no space.
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

/* --- known.c ----------------------------------------------------------------------------------- */

/* Which traces the front end knows, by hash: their ids. Bounded: when it is full all are forgotten. */

#define KNOWN_SLOTS 32768u /* a power of two; 512 kB */

struct known {
	uint64_t hash; /* 0: empty */
	uint32_t id;
	uint32_t epoch; /* entries of earlier epochs are empty */
};

struct known_traces {
	uint32_t epoch, used;
	struct known slots[KNOWN_SLOTS];
};

/* The id of the trace, 0 if it is not known. */
uint32_t known_id(const struct known_traces *known, uint64_t hash);
/* Remembers it; false when all others had to be forgotten for that. */
bool known_add(struct known_traces *known, uint64_t hash, uint32_t id);
void known_forget(struct known_traces *known);

/* --- states.c ---------------------------------------------------------------------------------- */

/*
 * Why a thread is in futex(2), by the Java method that it is in: the ids of these are noted when they are
 * published, since a trace only has ids. Publisher only.
 */

#define STATES_IDS 32u /* a method has a new id when its class was loaded again */

struct states {
	uint32_t used;
	struct {
		uint32_t method;
		enum wire_thread_state state;
	} ids[STATES_IDS];
};

void states_method(struct states *states, const struct names_entry *method);

/* The flags of a trace as the wire has them. */
uint16_t states_flags(const struct states *states, const struct trace_key *key);

/* --- publish.c, threads.c, native.c -------------------------------------------------------------- */

#define PUBLISH_DELTAS 256u

/* What a half had at an instant (struct wire_tick). */
struct publish_half {
	uint64_t ns, weight[WIRE_EVENTS];
};

struct publish {
	struct sampler *s;
	uint32_t next_trace;
	uint32_t names_done;  /* the last METHOD published */
	uint32_t names_waits; /* publications that did, in a row */
	uint64_t now_ns, names_since_ns;
	bool wants_names;
	uint64_t modules_read_ns, modules_cost_ns;

	/* the half that is being published */
	bool draining;
	uint32_t cursor;
	uint64_t drained_ns, last_tick_ns; /* when it was flipped away; the end of the one before */
	struct publish_half drained_half;
	struct publish_half half; /* of the one that is filled */
	uint64_t flips;
	uint64_t cpu_ns;      /* what the process used in what was flipped away */
	uint64_t cpu_owed_ns; /* and since then, up to cpu_at_ns of its clock */
	uint64_t cpu_at_ns;
	bool cpu_counts; /* cpu is sampled since then */
	uint32_t delta_count[WIRE_EVENTS];
	struct wire_delta deltas[WIRE_EVENTS][PUBLISH_DELTAS];
	struct states states;
	struct known_traces known;
};

/* threads.c: the thread's name, if it is not told yet or has changed. */
bool publish_thread(struct publish *p, uint32_t id);

/* native.c: the modules that the trace's native frames are in. */
bool publish_modules(struct publish *p, const struct trace_key *key);
/* Looks at the maps again when it is time. */
void publish_modules_refresh(struct publish *p, uint64_t now_ns);
/* A frame as the wire has it. */
uint64_t publish_frame(struct publish *p, uint64_t frame);

#endif
