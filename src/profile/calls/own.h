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
	bool recorded; /* the entries into the code that its last poll found are recorded */
};

#define CALLS_CELLS 8192u

struct model_calls {
	char *name;
	uint64_t interval;
	struct model_poll *polls; /* rings: number % size */
	struct model_call *calls;
	uint64_t poll_count, call_count; /* ever recorded */
	uint64_t virtual_polls;          /* inside, of virtual threads: left out */
	bool restored;  /* the calls are from a recording: those without an end lasted to its end */
	bool recursive; /* the method calls itself: entries are not calls */
	uint64_t counted_ns; /* when the first entry was recorded; 0: not yet */
	/* Recorded entries, by time / CALLS_CELL_NS % CALLS_CELLS. */
	struct {
		uint64_t cell;
		uint32_t entries;
	} cells[CALLS_CELLS];
	uint64_t *open; /* per thread: number + 1 of its call in progress, 0: none */
	uint32_t open_cap;
};

static inline const struct model_poll *poll_of(const struct model_calls *c, uint64_t number)
{
	return number && number + CALLS_POLLS > c->poll_count
		       ? &c->polls[(number - 1) % CALLS_POLLS]
		       : NULL;
}

/* The call with this number, which is retained. One whose end was not observed ends with its last poll. */
static inline struct call call_now(const struct model_calls *c, uint64_t number)
{
	struct call call = c->calls[number % CALLS_MAX].pub;

	if (call.end_to == UINT64_MAX && !c->restored && c->open[call.thread] != number + 1)
		call.end_to = call.end_from;
	return call;
}

/* The method after which a stack's place in the program, and what it waits for there, is named. */
uint32_t calls_place(const struct profile *p, uint32_t stack);

#endif
