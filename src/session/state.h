/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a session, shared by the files of session/. Owned by the caller of session_open; single-threaded. */
#ifndef JHOT_SESSION_STATE_H
#define JHOT_SESSION_STATE_H

#include "base/buf.h"
#include "session/context/context.h"
#include "session/gauges/gauges.h"
#include "session/late.h"
#include "session/lend.h"
#include "session/mapping.h"
#include "session/record/reader.h"
#include "session/session.h"
#include "session/unwind_feed.h"
#include "wire/ring.h"

struct session {
	struct hotspot jvm;
	struct profile *profile;
	struct symbols *symbols;
	struct frames *frames;
	struct reader *reader;
	struct gauges *gauges;
	struct vitals vitals;
	uint64_t vitals_ns; /* of the last reading */
	bool stopped;       /* by a request of another process, which has no session */
	bool over;          /* ended; over_err says why */
	struct err over_err;

	/* live */
	struct patience patience;
	struct mapping mapping;
	struct ring_reader ring;
	struct lease *lease;
	struct unwind_feed *unwind;
	struct late late;   /* records that wait for names */
	bool names_patient; /* wait for names without a time limit */
	uint64_t left_ns;   /* when the end of the agent or the JVM was detected; 0: not yet */
	struct buf note;
	uint64_t latency_ns; /* interval of measuring the latency of calls; 0: off */
	bool feeding;        /* unwind rows are in flight: posted, not answered */
	bool started;        /* an event was started once */
	struct tids *tids;
	struct contexts *contexts;  /* which requests threads publish */
	struct lend *lend;          /* NULL: the engine "lent" is not used */
	int pidfd;                  /* -1: not supported by the kernel, /proc is polled */
	bool leaving;               /* the agent was asked to leave */
	struct cgroup_mount memory; /* memory controller of the JVM */
	uint64_t memory_ns;         /* when its limits were last checked */
	uint32_t publish_seen;
	uint64_t publish_moved_ns; /* when publish_seq last moved */
	uint64_t clock_ahead_ns; /* offset of the agent's monotonic clock; 0: same time namespace */

	struct session_readings threads;

	_Alignas(8) unsigned char record[WIRE_RECORD_MAX];
};

/*
 * session_feed_unwind: reads the answer to the rows in flight and posts the next; waits up to wait_ns for rows that are
 * being compiled. session_feed_settle: waits for that answer, before another command can be sent. See session.h.
 */
#define SESSION_COMMAND_MS 1000
#define SESSION_START_MS   3000 /* alloc may have to wait for native threads that attach themselves */
void session_feed_unwind(struct session *s, uint64_t wait_ns);
void session_feed_settle(struct session *s);
/* commands.c: sends the methods whose calls are measured if there are new ones. */
int session_latency_send(struct session *s, struct err *err);
/* commands.c: sends where threads publish their requests if that has changed; waits that long for a search. */
int session_contexts_send(struct session *s, uint64_t wait_ns, struct err *err);
/* Ends the session; the first reason is kept. Returns -1 with it in err. */
int session_end(struct session *s, const struct err *why, struct err *err);
/* Moves the current content of the ring into the profile. Number of samples, or -1. */
int session_pull(struct session *s, struct err *err);
bool session_jvm_alive(const struct session *s);
/*
 * The idle callback of all waits for the agent; ctx: the session. Renews the lease and drains the ring, so that neither
 * expires nor overflows during a wait. Returns false when the JVM has ended, or the caller cancels; the latter is
 * ignored while leaving.
 */
bool session_idle(void *ctx);
struct session *session_new(const struct hotspot *jvm, struct profile *profile);
/* A pin callback of the profile (threads.c): retains the threads that are alive. */
void session_pin(void *ctx, enum profile_kind kind, bool leaving);
/* Sets up everything that reading needs. Requires the mapping and the lease. */
void session_begin(struct session *s);

#endif
