/* SPDX-License-Identifier: Apache-2.0 */
/* The store of calls, shared by the files of this folder. */
#ifndef JHOT_PROFILE_CALLS_OWN_H
#define JHOT_PROFILE_CALLS_OWN_H

#include "base/clock.h"
#include "profile/calls/calls.h"
#include "profile/model/model.h"

/* A poll inside a call. before: number + 1 of the call's previous poll, 0: none. */
struct model_poll {
	uint64_t time_ns, still_ns, cpu_ns, delay_ns, before;
	uint32_t stack;
	uint8_t state; /* enum call_state */
};

struct model_call {
	struct call pub;
	uint64_t frame, outside, values;
	uint64_t last; /* number + 1 of its last poll */
	uint32_t collections;
	uint32_t virtual_id; /* 0: of a platform thread */
	bool recorded;       /* the entries into the code that its last poll found are recorded */
};

#define CALLS_CELLS          8192u
#define CALLS_VIRTUAL        8192u
#define CALLS_VIRTUAL_WINDOW 16u

struct model_calls {
	char *name;
	uint64_t interval;
	struct model_poll *polls; /* rings: number % size */
	struct model_call *calls;
	uint64_t poll_count, call_count; /* ever recorded */
	bool restored;  /* the calls are from a recording: those without an end lasted to its end */
	bool recursive; /* the method calls itself: entries are not calls */
	uint64_t counted_ns; /* when the first entry was recorded; 0: not yet */
	/* Recorded entries, by time / CALLS_CELL_NS % CALLS_CELLS. */
	struct {
		uint64_t cell;
		uint32_t entries;
		bool estimated; /* from counting for a part of the time */
	} cells[CALLS_CELLS];
	/* Sums of these estimates, and of their systematic errors; the standard error is not included. */
	double estimated, doubt;
	double started, polled; /* threads that have started, and those of them that were polled */
	uint64_t *open;         /* per thread: number + 1 of its call in progress, 0: none */
	uint32_t open_cap;
	/* The same of virtual threads, near id % CALLS_VIRTUAL. */
	struct model_open {
		uint32_t id;
		uint64_t call;
	} virtual_open[CALLS_VIRTUAL];
};

/*
 * The place of a virtual thread: its own, or else a free one. If there is none, that of another thread, whose call is then without an
 * end.
 */
static inline const struct model_open *virtual_place(const struct model_calls *c, uint32_t id)
{
	const struct model_open *out = NULL;

	for (uint32_t i = 0; i < CALLS_VIRTUAL_WINDOW; i++) {
		const struct model_open *at = &c->virtual_open[(id + i) % CALLS_VIRTUAL];

		if (at->id == id)
			return at;
		out = out || at->call ? out : at;
	}
	return out ? out : &c->virtual_open[id % CALLS_VIRTUAL];
}

/* number + 1 of the call in progress in this thread; 0: none. */
static inline uint64_t open_of(const struct model_calls *c, uint32_t thread, uint32_t virtual_id)
{
	if (!virtual_id)
		return thread < c->open_cap ? c->open[thread] : 0;
	return virtual_place(c, virtual_id)->id == virtual_id ? virtual_place(c, virtual_id)->call
							      : 0;
}

static inline const struct model_poll *poll_of(const struct model_calls *c, uint64_t number)
{
	return number && number + CALLS_POLLS > c->poll_count
		       ? &c->polls[(number - 1) % CALLS_POLLS]
		       : NULL;
}

/* The call with this number, which is retained. One whose end was not observed ends with its last poll. */
static inline struct call call_now(const struct model_calls *c, uint64_t number)
{
	const struct model_call *known = &c->calls[number % CALLS_MAX];
	struct call call = known->pub;

	if (call.end_to == UINT64_MAX && !c->restored &&
		open_of(c, call.thread, known->virtual_id) != number + 1)
		call.end_to = call.end_from;
	return call;
}

/* The method whose name describes a stack: its place in the program, and the object of its wait. */
uint32_t calls_place(const struct profile *p, uint32_t stack);

#endif
