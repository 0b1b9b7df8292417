/* SPDX-License-Identifier: Apache-2.0 */
/* A session's inside, shared by the files that make it up. */
#ifndef JHOT_SESSION_STATE_H
#define JHOT_SESSION_STATE_H

#include "base/buf.h"
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
	bool over;          /* nothing more will come; over_err says why */
	struct err over_err;

	/* live */
	struct patience patience; /* of whoever waits for the session now */
	struct mapping mapping;
	struct ring_reader ring;
	struct lease *lease;
	struct unwind_feed *unwind;
	struct late late;   /* records that wait for names */
	bool names_patient; /* as long as it takes */
	uint64_t
		left_ns; /* when it was seen first that the agent or the JVM has gone; 0: not yet */
	struct buf note;
	bool feeding; /* rows are sent and not answered yet */
	bool started; /* an event was, once */
	struct tids *tids;
	struct lend *lend;          /* NULL: nothing is lent */
	int pidfd;                  /* -1: too old a kernel, /proc is asked */
	bool leaving;               /* we asked the agent to go */
	struct cgroup_mount memory; /* whose limits it lives under, */
	uint64_t room_ns;           /* and when they were looked at last */
	uint32_t publish_seen;
	uint64_t publish_moved_ns; /* when publish_seq last moved */
	uint64_t clock_ahead_ns;   /* the agent's clock, in another time namespace */

	struct session_thread_cpu *thread_cpu;
	struct thread_past *thread_past; /* by the profile's thread */
	uint32_t thread_past_cap;
	uint64_t thread_past_ns;

	_Alignas(8) unsigned char record[WIRE_RECORD_MAX];
};

/*
 * session_feed_unwind: takes the answer to the rows that were sent last and sends the next; waits so long for rows that
 * are being compiled. session_feed_settle: waits for the agent's answer, before another command takes its place.
 */
#define SESSION_COMMAND_MS 1000
#define SESSION_START_MS   3000 /* alloc may have to wait until nobody is attaching himself */
void session_feed_unwind(struct session *s, uint64_t wait_ns);
void session_feed_settle(struct session *s, control_idle_fn *idle);
/* session_end: no more will come; the first reason stays. Returns -1 with it in err. */
int session_end(struct session *s, const struct err *why, struct err *err);
/* session_now_ns: now, on the agent's clock, in which its records are. */
uint64_t session_now_ns(const struct session *s);
/* session_pull: what is in the ring now. Samples, or -1. */
int session_pull(struct session *s, struct err *err);
/* Is the JVM still there? */
bool session_jvm_alive(const struct session *s);
struct session *session_new(const struct hotspot *jvm, struct profile *profile);
/* threads.c: the threads that live stay in the model. */
void session_keep(void *ctx, enum profile_kind kind, bool leaving);
/* session_begin: with the mapping open and the lease started, all that reading needs. */
void session_begin(struct session *s);

#endif
