/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all reports of calls have in common: the slowest calls, the phases of one call, and the texts of durations, percentiles
 * and notes. Times are ns since second 0. Single-threaded, like the profile.
 */
#ifndef JHOT_PROFILE_CALLS_REPORT_H
#define JHOT_PROFILE_CALLS_REPORT_H

#include "profile/calls/calls.h"

/*
 * The method may be compiled, and its calls be counted exactly, only some time after the query begins: if that is most of its time,
 * begins the query then.
 */
void calls_query_counted(const struct profile *p, struct calls_query *q);

/* --- single calls ---------------------------------------------------------------------------- */

/* Stores the slowest calls of the query, the slowest first. Returns their number, at most `most`. */
uint32_t calls_slowest(
	const struct profile *p, const struct calls_query *q, struct call *out, uint32_t most);

/* The shares of states in the time of the query's calls. Returns their number. */
uint32_t calls_states(
	const struct profile *p, const struct calls_query *q, double out[CALL_STATES]);

/* The share of each state in the time that the call was certainly inside; all 0 if that is unknown. */
void call_shares(const struct call *call, double out[CALL_STATES]);

/* Consecutive parts of a call with the same state and place. */
struct call_phase {
	uint64_t from_ns, to_ns;
	enum call_state state;
	uint32_t
		method; /* its name describes the place in the program, and the object of a wait: calls_place */
	/* Of CALL_LOCK: the method named as the lock's class, the thread that held it; PROFILE_NONE: not known. */
	uint32_t lock, owner;
	uint32_t
		owner_place; /* the method named after what the owner did during the wait; PROFILE_NONE: not known */
};
/*
 * The phases of a call, in order; the caller frees them. The earliest are missing if their polls have been overwritten. NULL and
 * *count 0: none is left.
 */
struct call_phase *call_phases(const struct profile *p, const struct call *call, uint32_t *count);

/* Causes whose shares differ by less are not reported. */
#define CALLS_DIFFERS 0.02

/* --- texts ----------------------------------------------------------------------------------- */

/* Each fills a buffer of CALLS_TEXT bytes and returns it. */
#define CALLS_TEXT 24
const char *calls_duration_text(
	uint64_t ns, char out[CALLS_TEXT]); /* "850 us", "3.1 ms", "1.92 s" */
/* A percentile of a summary; CALLS_UNKNOWN as a bound: "<10 ms", ">2.31 s". */
const char *calls_percentile_text(
	const struct calls_summary *sum, uint64_t ns, char out[CALLS_TEXT]);
/* "Cache, held by flusher in Repo.save: file write /var/x" for a phase that waits for a lock, as far as that is known. */
#define CALLS_LOCK 300
const char *calls_lock_text(
	const struct profile *p, const struct call_phase *phase, char out[CALLS_LOCK]);
/* The same for what a call has waited for longest, if that was a lock. "": none, or the event lock was off. */
const char *call_lock_text(const struct profile *p, const struct call *call, char out[CALLS_LOCK]);
/* The local time of day: "14:03:22.410". */
const char *calls_clock_text(const struct profile *p, uint64_t ns, char out[CALLS_TEXT]);

/* Calls fn for each reservation about the figures: a few words for a narrow screen, and a sentence. */
typedef void calls_note_fn(void *ctx, const char *brief, const char *sentence);
void calls_notes(const struct calls_summary *sum, calls_note_fn *fn, void *ctx);

#endif
