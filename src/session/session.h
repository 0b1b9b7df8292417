/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session: loads the agent into a JVM, controls it, and reads its samples into a profile.
 *
 * The caller must call session_drain at least every 30 s (LEASE_STALL_MS), or the agent ends the session. All functions
 * are for one thread. Errors end a call, not the session, unless session_drain reports its end.
 *
 * Records are queued until the names of their frames are known (`late`), and at most one command is in flight. Names
 * are read from files by a thread of symbols/, unwind rows are compiled by a thread of unwind_feed.c; neither blocks a
 * drain:
 *
 *   session_drain / session_wait                      unwind rows (session_feed_unwind)
 *
 *   ring --> record                                   unwind_feed_step: pieces in the staging area
 *     | `late` empty and names ready?                   |
 *     |    yes --> reader --> profile                   v
 *     |    no  --> append to `late`                   control_post(UNWIND), s->feeding = true
 *     v                                                 |          \
 *   `late` not empty: its first record goes to the      |           a command of the caller comes first:
 *   reader once its names are ready, or once the        |           session_feed_settle waits for the answer
 *   total wait exceeds 10 s (then with addresses;       v
 *   never while names_patient), or 64 MB are full     control_is_idle --> control_answer -->
 *                                                     unwind_feed_answer, s->feeding = false, next step
 *
 * Records stay in ring order: everything after a late record is late, too. Rows are never posted while a command is
 * unanswered, and a command is never sent while rows are.
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
	struct agent_file agent;
	bool take_over; /* end another front end's session first */
	/* The JVM loads the agent itself, with this token (session_token). NULL: jhot attaches to it. */
	const char *token;
	struct patience patience; /* see session_patience; applies to opening, too */
};

/* A new token, by which the session's memory is found. */
#define SESSION_TOKEN 24
void session_token(char out[SESSION_TOKEN]);
/*
 * jvm: from hotspot_find or hotspot_check; with a token only its ids need be known. The profile must outlive the session. Blocks for
 * the attach; with a token until the JVM is initialized or has ended (ERR_GONE).
 */
struct session *session_open(const struct hotspot *jvm, const struct session_options *options,
	struct profile *profile, struct err *err);

/* The JVM, with all facts learned since the session was opened. */
const struct hotspot *session_jvm(const struct session *s);

/* True after the session was ended by `jhot stop`. */
bool session_was_stopped(const struct session *s);

/*
 * session_finish: stops the engines, drains the rest into the profile and releases the agent. session_close does the same
 * if necessary, and frees the session. Both accept a JVM that has ended.
 */
void session_finish(struct session *s);
void session_close(struct session *s);

/* How to sample an event. */
struct session_event {
	int event;
	uint64_t interval; /* in the event's unit; 0: the default */
	bool is_default;   /* interval is a default, so the budget may lengthen it */
	bool live;         /* alloc: only objects that survived a collection */
	bool user_only, kernel_only;
	const char *engine; /* of session_engines; NULL: the best that works */
	/* Of user events: display name, unit of its weights, arguments of perf_event_open. */
	const char *name, *unit;
	struct {
		uint32_t type, bp_type;
		uint64_t config, config1, config2;
	} perf;
};

/* The engines of the event cpu, best first, then NULL. Other events have no choice. */
extern const char *const session_engines[];

/*
 * Events run concurrently; starting one that is on restarts it with the new settings. Each call waits for the agent's
 * answer (at most 1 s, or 3 s to start one); a refusal becomes the error. Degradations are notes in the vitals.
 */
int session_event_begin(struct session *s, const struct session_event *event, struct err *err);
int session_event_start(struct session *s, int event, uint64_t interval, struct err *err);
int session_event_stop(struct session *s, int event, struct err *err);
/* Sample only threads whose names match, '*' and '?' as in file names; "": all. */
int session_only_threads(struct session *s, const char *pattern, struct err *err);
/*
 * Cuts stacks with more than `limit` frames (1..SESSION_DEPTH_MAX, the default) to `top` frames from the leaf and `root`
 * outermost frames; requires top + root < limit, or root 0 and top <= limit.
 */
#define SESSION_DEPTH_MAX 2048u
int session_depth(struct session *s, unsigned limit, unsigned top, unsigned root, struct err *err);
/*
 * Discards all measured calls (calls.h) and measures those of a method: "handle", "Gateway.handle" or "com.shop.Gateway.handle"; "":
 * stops measuring. interval: between polls of a thread inside, ns; 0: the default. Requires the event wall.
 */
#define SESSION_LATENCY_NS 5000000u
int session_latency(struct session *s, const char *method, uint64_t interval, struct err *err);
/* Overhead limit in thousandths of a core; 0: none. only_defaults: limits only events with a default interval. */
int session_budget(struct session *s, unsigned per_mille, bool only_defaults, struct err *err);

/*
 * Polled every 10 to 100 ms during all waits: opening the session, an agent's answer, names of frames at the end.
 * Cancelling fails a command and leaves frames without names; session_finish still waits a few seconds for the agent to
 * leave. Zero-initialized: waits cannot be cancelled.
 */
void session_patience(struct session *s, const struct patience *patience);

/*
 * A session waits for names of native frames for 10 s in total; then stacks get addresses, and session_note says so.
 * After this call it waits without a time limit, bounded only by memory (64 MB). For writers of files.
 */
void session_names_patient(struct session *s);

/* While busy (writing a file), the caller need not call session_drain. */
void session_busy(struct session *s, bool busy);

/* For ^Z and SIGCONT. While parked, the agent keeps the session but takes no samples; the profile records a gap. */
void session_park(struct session *s, bool parked);

/*
 * Moves published records into the profile, as far as their names are available; does not block. Returns the number of
 * samples, or -1 when the session has ended (JVM gone: ERR_GONE; taken over: ERR_BUSY; ring corrupt: ERR_FAILED). The
 * profile stays valid.
 */
int session_drain(struct session *s, struct err *err);
/* Waits for a publication or the end of the JVM; 1: session_drain has work, 0: timeout. */
int session_wait(struct session *s, int timeout_ms);

/* Current vitals; the JVM's are re-read at most once a second. Valid until the next call. */
const struct vitals *session_vitals(struct session *s);

/* Second 0 of the profile, on the JVM's CLOCK_MONOTONIC, ns. */
uint64_t session_start_ns(const struct session *s);
/* The current time on that clock, which differs from ours if the JVM is in another time namespace. */
uint64_t session_now_ns(const struct session *s);
/* Sampled time: from the start of the first event to the last publication. */
uint64_t session_duration_ns(const struct session *s);
/* The part of session_duration_ns in which the agent ran; less than all of it if the process got no core. */
uint64_t session_seen_ns(const struct session *s);

/*
 * A sentence about frames that cannot be named or unwound, or "". session_names_note: only about names that are pending or
 * were given up. Both are valid until the next call of either function.
 */
const char *session_note(struct session *s);
const char *session_names_note(struct session *s);

/* CPU use of a thread, from /proc. */
struct session_thread_cpu {
	uint32_t thread;            /* of the profile */
	char state;                 /* R S D ... */
	float user_pct, system_pct; /* over the time since the last call */
};
/* Readings of all threads of a process. Zero-initialized. */
struct session_readings {
	struct session_thread_cpu *cpu;
	struct thread_past *past; /* by the profile's thread */
	uint32_t cap;
	uint64_t read_ns;
};
/* Reads the living threads of a process that the profile knows. Returns their number; *out is valid until the next call. */
int session_readings_update(struct session_readings *r, const struct profile *p, pid_t pid,
	struct session_thread_cpu **out);
void session_readings_done(struct session_readings *r);
/* The same of the session's JVM. */
int session_threads(struct session *s, struct session_thread_cpu **out);

/* The state of the agent in a JVM, without loading anything. */
struct session_status {
	bool loaded; /* the agent's file is mapped */
	bool active; /* it has a session */
	char front_end[64];
	int front_end_pid;
	uint64_t since_wall_ns; /* start of the session; 0: unknown */
	bool lease_live;
	struct vitals vitals;            /* if active: the session's part of them */
	char events[PROFILE_EVENTS][64]; /* the front end's names of events */
	char text[8192]; /* lines: events, counters, cost of walks, what remains in the target */
};
int session_status(const struct hotspot *jvm, struct session_status *out, struct err *err);
/* Ends the session of any front end. 0 if there was none. */
int session_stop(const struct hotspot *jvm, struct err *err);

#endif
