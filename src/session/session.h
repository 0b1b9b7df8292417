/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One conversation with one agent: from loading it to the samples that fill the model.
 *
 * The session lives while session_drain is called at least every 30 s. One
 * thread calls.
 */
#ifndef JHOT_SESSION_SESSION_H
#define JHOT_SESSION_SESSION_H

#include "attach/jvm/hotspot.h"
#include "attach/place.h"
#include "base/err.h"
#include "base/patience.h"
#include "profile/profile.h"
#include "profile/vitals.h"

struct session;

struct session_options {
	struct agent_file agent;  /* what is loaded */
	bool take_over;           /* end another front end's session */
	struct patience patience; /* as session_patience, from the beginning */
};

/* jvm: checked before. The profile is the caller's and outlives the session. */
struct session *session_open(const struct hotspot *jvm, const struct session_options *options,
	struct profile *profile, struct err *err);

/*
 * session_finish: stops the engines, takes what is left into the profile, lets the agent go. session_close frees, and does
 * all this first if it was not done. Both are safe on a dead JVM.
 */
void session_finish(struct session *s);
void session_close(struct session *s);

/* How an event is to be sampled. */
struct session_event {
	int event;
	uint64_t interval; /* 0 = the default */
	bool chosen;       /* it is a default as well: nobody has asked for it */
	bool live;         /* alloc: only objects that survived a collection */
	bool user_only, kernel_only;
	const char *engine; /* of session_engines; NULL: the best that works */
	/* Of user events: what people call it, the unit of its weights, what perf_event_open takes. */
	const char *name, *unit;
	struct {
		uint32_t type, bp_type;
		uint64_t config, config1, config2;
	} perf;
};

/* What cpu can be sampled by, the best first; NULL ends them. The other events have no choice. */
extern const char *const session_engines[];

/*
 * Events run side by side; one that runs already is started anew, with another interval or other flags. These
 * wait for the agent's answer (<= 1 s), whose refusal becomes the error. What is degraded is in the vitals.
 */
int session_event_begin(struct session *s, const struct session_event *event, struct err *err);
int session_event_start(struct session *s, int event, uint64_t interval, struct err *err);
int session_event_stop(struct session *s, int event, struct err *err);
/* Sample only threads whose names match, '*' and '?' as in file names; "": all. */
int session_only_threads(struct session *s, const char *pattern, struct err *err);
/*
 * What is kept of stacks with more than `limit` frames (1..SESSION_DEPTH_MAX, the default): `top` from the leaf on,
 * and `root` of the outermost; top + root < limit, or root 0 and top <= limit.
 */
#define SESSION_DEPTH_MAX 2048u
int session_depth(struct session *s, unsigned limit, unsigned top, unsigned root, struct err *err);
/* What sampling may cost, in thousandths of a core; 0: any. chosen: of events whose interval nobody asked for. */
int session_budget(struct session *s, unsigned per_mille, bool chosen, struct err *err);

/*
 * Who is asked, every 10 to 100 ms, whether to go on waiting: for the session to open, for the agent's answer to a command,
 * at the end for names of frames. Giving up makes a command an error and leaves frames without names; session_finish
 * waits for the agent to leave in any case, for a few seconds at most. Zero bytes: nobody is asked.
 */
void session_patience(struct session *s, const struct patience *patience);

/*
 * A session waits for names of native frames for 10 s in all, and takes stacks with addresses then, which is said in session_note.
 * Patient, it waits as long as it takes, but for memory (64 MB): for who writes a file.
 */
void session_names_patient(struct session *s);

/* While busy, the caller may go without session_drain for longer than half a minute: it writes a file. */
void session_busy(struct session *s, bool busy);

/* ^Z and SIGCONT: parked, the agent keeps the session but samples nothing; the gap is recorded as one. */
void session_park(struct session *s, bool parked);

/*
 * session_drain: take what the agent has published into the profile, as far as its names are there. Returns the number of samples,
 * or -1 when the session cannot go on (JVM gone: ERR_GONE; ring corrupt: ERR_FAILED); what was taken stays.
 */
int session_drain(struct session *s, struct err *err);
/* Wait up to so long for a publication or the JVM's end; 1 = something came, 0 = timeout. */
int session_wait(struct session *s, int timeout_ms);

/* Fresh values, at most once a second from the JVM; valid until the next call. */
const struct vitals *session_vitals(struct session *s);

/* How long was sampled so far: from the first event's start to the last publication. */
uint64_t session_duration_ns(const struct session *s);
/* Of that, for how long the agent could look: it gets no core where the whole JVM gets none. */
uint64_t session_seen_ns(const struct session *s);

/*
 * What is degraded in naming and unwinding frames, a sentence or "". session_names_note: of that, only names that are
 * waited for or were given up. Both are valid until the next call of either.
 */
const char *session_note(struct session *s);
const char *session_names_note(struct session *s);

/* A thread's CPU time, from /proc; indices are the profile's threads. */
struct session_thread_cpu {
	uint32_t thread;
	char state;                 /* R S D ... */
	float user_pct, system_pct; /* over the time since the last call */
};
int session_threads(
	struct session *s, struct session_thread_cpu **out); /* count; valid until next call */

/* What is loaded in a JVM, without loading anything: for `jhot status`. */
struct session_status {
	bool loaded; /* the agent's file is mapped */
	bool active; /* a session holds it */
	char front_end[64];
	int front_end_pid;
	uint64_t held_since_wall_ns;
	bool lease_live;
	struct vitals vitals;            /* active: the session's part of them */
	char events[PROFILE_EVENTS][64]; /* what the front end calls them */
	char text[8192]; /* lines: events, counters, walks, what stays in the target */
};
int session_status(const struct hotspot *jvm, struct session_status *out, struct err *err);
/* End whatever session there is; 0 also when there was none. */
int session_stop(const struct hotspot *jvm, struct err *err);

#endif
