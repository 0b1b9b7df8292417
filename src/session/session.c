/* SPDX-License-Identifier: Apache-2.0 */
/* The running session: draining, vitals, and its end. */
#include "session/state.h"

#include "base/buf.h"
#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SESSION_LEAVE_MS 1500
/* The agent also leaves when the JVM is about to end: how long to wait for that before reporting another reason. */
#define SESSION_FOLLOW_NS (500 * NS_PER_MS)
#define SESSION_STALL_NS  (2 * NS_PER_S)
#define SESSION_VITALS_NS NS_PER_S
#define SESSION_MEMORY_NS NS_PER_S
/* Minimum of free memory in the cgroups. A session uses at most 12 of the 24 MB required for an attach; this is half of the rest. */
#define SESSION_MEMORY_BYTES (6 << 20)
#define SESSION_WAIT_MS      100 /* maximum delay of noticing the JVM's end */
#define SESSION_ANSWER_MS    5   /* maximum delay of noticing the agent's answer to rows */
#define SESSION_NAMES_NS     (10 * NS_PER_S)
#define SESSION_LATE_NS      NS_PER_S /* waits for names that are longer than this are reported */
#define SESSION_PULL_MAX     200000   /* records per call; a valid ring holds fewer */

bool session_jvm_alive(const struct session *s)
{
	struct pollfd p = {.fd = s->pidfd, .events = POLLIN};

	if (s->pidfd >= 0)
		return poll(&p, 1, 0) <= 0;
	return !kill(s->jvm.pid, 0) || errno == EPERM;
}

int session_end(struct session *s, const struct err *why, struct err *err)
{
	if (!s->over) {
		s->over = true;
		s->over_err = *why;
	}
	if (err)
		*err = s->over_err;
	return -1;
}

/* --- draining ---------------------------------------------------------------------------------------- */

uint64_t session_now_ns(const struct session *s)
{
	return clock_mono_ns() + s->clock_ahead_ns;
}

uint64_t session_start_ns(const struct session *s)
{
	return s->mapping.header.start_mono_ns;
}

/* The current second on the agent's clock: an upper bound of times in records. */
static uint64_t session_limit_s(const struct session *s)
{
	uint64_t now_ns = session_now_ns(s), start_ns = session_start_ns(s);

	return now_ns > start_ns ? (now_ns - start_ns) / NS_PER_S : 0;
}

static int session_corrupt(struct session *s, const char *what, struct err *err)
{
	struct err why;

	err_set(&why, ERR_FAILED, "The agent in JVM %d wrote invalid data, so the session ends: %s",
		(int)s->jvm.pid, what);
	err_hint(&why, "earlier samples are kept");
	return session_end(s, &why, err);
}

/* True when the record has frames whose names are still being read. */
static bool session_lacks_names(const struct session *s, const struct wire_record *record)
{
	const struct wire_trace *rec = (const struct wire_trace *)record;

	return record->type == WIRE_REC_TRACE && reader_trace_fits(rec, record->size) &&
	       !frames_ready(s->frames, rec);
}

/* True while the first late record should continue to wait for its names. */
static bool session_names_wait(struct session *s)
{
	const struct wire_record *first = late_first(&s->late);
	bool patient = s->names_patient || late_ns(&s->late, clock_mono_ns()) < SESSION_NAMES_NS;

	if (!session_lacks_names(s, first))
		return false;
	if (patient && s->late.end - s->late.begin < LATE_BYTES_MAX)
		return true;
	s->late.unnamed++;
	return false;
}

/* Copies the next record whose names are available to s->record. Its size, 0: none, -1: the ring is corrupt. */
static int session_next(struct session *s)
{
	for (int i = 0; i < SESSION_PULL_MAX; i++) {
		int size;

		if (late_any(&s->late) && !session_names_wait(s)) {
			const struct wire_record *first = late_first(&s->late);

			size = (int)first->size;
			memcpy(s->record, first, (size_t)size);
			late_remove_first(&s->late, clock_mono_ns());
			return size;
		}
		size = ring_read(&s->ring, s->record);
		if (size <= 0 || (!late_any(&s->late) &&
					 !session_lacks_names(s, (struct wire_record *)s->record)))
			return size;
		late_append(&s->late, s->record, (size_t)size, clock_mono_ns());
	}
	return 0;
}

int session_pull(struct session *s, struct err *err)
{
	uint64_t before = reader_stats(s->reader)->samples;
	struct err why = {0};

	for (int i = 0; i < SESSION_PULL_MAX; i++) {
		int size = session_next(s);

		if (!size)
			break;
		if (size < 0)
			return session_corrupt(
				s, "the ring's cursors or sizes are impossible.", err);
		if (reader_consume(s->reader, (const struct wire_record *)s->record, (uint32_t)size,
			    session_limit_s(s), &why))
			return session_corrupt(s, why.what, err);
	}
	return (int)(reader_stats(s->reader)->samples - before);
}

bool session_was_stopped(const struct session *s)
{
	return s->stopped;
}

/* Ends the session with the reason why the agent left: a takeover by another session, a stop, ... Returns -1. */
static int session_agent_left(struct session *s, struct err *err)
{
	static const char *const reasons[] = {
		[WIRE_LEFT_ASKED] = "it was ended by jhot stop or by another jhot",
		[WIRE_LEFT_SILENT] = "the agent got no heartbeat from this jhot for 10 s",
		[WIRE_LEFT_EXIT] = "the JVM is ending",
		[WIRE_LEFT_FORBIDDEN] = "the JVM has a new seccomp filter, which forbids a system "
					"call that the agent requires",
	};
	struct mapping m;
	struct err why;
	char front_end[64];
	uint64_t since_ns;
	int pid;

	if (mapping_find(&m, s->jvm.pid, NULL, NULL) == 1 &&
		memcmp(m.header.token, s->mapping.header.token, sizeof(m.header.token)) != 0) {
		control_front_end(&m, front_end, sizeof(front_end), &pid, &since_ns);
		err_set(&why, ERR_BUSY, "JVM %d was taken over by %s (jhot process %d).",
			(int)s->jvm.pid, front_end[0] ? front_end : "another jhot", pid);
	} else {
		unsigned left = atomic_load(&s->mapping.status->left);

		s->stopped = left == WIRE_LEFT_ASKED;
		err_set(&why, ERR_FAILED, "Session with JVM %d ended: %s.", (int)s->jvm.pid,
			left < sizeof(reasons) / sizeof(reasons[0]) && reasons[left]
				? reasons[left]
				: "the agent ended without giving a reason");
	}
	mapping_close(&m);
	return session_end(s, &why, err);
}

/*
 * Ends the session if the JVM or the agent is gone, after draining what they wrote, with its names. Does not block: returns 0
 * as long as names are missing, and for a short time after the agent has left, since the JVM may be about to end.
 */
static int session_check_end(struct session *s, struct err *err)
{
	bool alive = session_jvm_alive(s);
	uint64_t now_ns = clock_mono_ns();
	struct err why;

	if (alive && atomic_load(&s->mapping.status->agent_state) != WIRE_AGENT_LEFT)
		return 0;
	if (session_pull(s, err) < 0)
		return -1;
	s->left_ns = s->left_ns ? s->left_ns : now_ns;
	if (late_any(&s->late) || (alive && now_ns - s->left_ns < SESSION_FOLLOW_NS))
		return 0;
	if (alive)
		return session_agent_left(s, err);
	err_set(&why, ERR_GONE, "JVM %d has ended.", (int)s->jvm.pid);
	return session_end(s, &why, err);
}

bool session_idle(void *ctx)
{
	struct session *s = ctx;

	lease_renew(s->lease);
	if (s->reader)
		session_pull(s, NULL);
	return session_jvm_alive(s) && (s->leaving || (!s->over && patience_left(&s->patience)));
}

/*
 * Ends the agent's session, and drains the records that it still publishes. Waits for outstanding names unless the caller
 * cancels. If the agent does not answer, it ends the session itself when the lease expires.
 */
static void session_leave(struct session *s)
{
	struct wire_command command = {.op = WIRE_OP_DETACH};
	struct control_answer answer;

	if (s->leaving || !s->reader)
		return;
	s->leaving = true;
	s->feeding = false; /* its answer is not needed any more */
	if (!s->over && session_jvm_alive(s) &&
		!control_command(
			&s->mapping, &command, SESSION_COMMAND_MS, session_idle, s, &answer, NULL))
		control_wait_state(&s->mapping, WIRE_AGENT_LEFT, SESSION_LEAVE_MS, session_idle, s);
	if (s->over)
		return;
	session_pull(s, NULL);
	while (late_any(&s->late) && !s->over) {
		if (!patience_left(&s->patience)) {
			s->names_patient = false;
			s->late.waited_ns = SESSION_NAMES_NS; /* no more waiting */
		}
		symbols_wait(s->symbols, SESSION_WAIT_MS);
		session_pull(s, NULL);
	}
}

/*
 * The agent's memory counts against the limit of the JVM's cgroups. This ends the session before a growing program reaches that
 * limit, where the kernel would kill it. limits.h has the check before loading.
 */
static int session_check_memory(struct session *s, struct err *err)
{
	uint64_t now_ns = clock_mono_ns();
	struct err why;

	if (now_ns - s->memory_ns < SESSION_MEMORY_NS)
		return 0;
	s->memory_ns = now_ns;
	int64_t left = cgroup_memory_left(&s->memory, s->jvm.pid);
	if (left >= SESSION_MEMORY_BYTES)
		return 0;
	session_leave(s);
	err_set(&why, ERR_FAILED,
		"JVM %d has nearly reached its container's memory limit: jhot detached, so that "
		"the agent's memory does not cause an out-of-memory kill. Earlier samples are "
		"kept.",
		(int)s->jvm.pid);
	err_hint(&why, "raise the limit (docker update --memory, resources.limits.memory)");
	err_detail(&why, "its cgroups allowed %" PRId64 " kB more, without pages of files",
		left < 0 ? 0 : left / 1024);
	return session_end(s, &why, err);
}

/* Reads the agent's answer to the rows in flight, if it has arrived. */
static void session_feed_answer(struct session *s)
{
	struct control_answer answer;

	if (!s->feeding || !control_is_idle(&s->mapping))
		return;
	control_answer(&s->mapping, &answer);
	unwind_feed_answer(s->unwind, answer.result);
	s->feeding = false;
}

void session_feed_settle(struct session *s)
{
	if (s->feeding)
		control_wait_idle(&s->mapping, SESSION_START_MS, session_idle, s);
	session_feed_answer(s);
}

void session_feed_unwind(struct session *s, uint64_t wait_ns)
{
	struct wire_command command = {.op = WIRE_OP_UNWIND};

	session_feed_answer(s);
	if (!unwind_feed_busy(s->unwind) || !control_is_idle(&s->mapping))
		return; /* a stopped JVM answers when it continues */
	command.arg = unwind_feed_step(
		s->unwind, s->mapping.staging, s->mapping.header.staging_bytes, wait_ns);
	if (!command.arg)
		return;
	control_post(&s->mapping, &command);
	s->feeding = true;
}

int session_drain(struct session *s, struct err *err)
{
	if (s->over)
		return session_end(s, &s->over_err, err);
	lease_renew(s->lease);
	uint32_t seq = atomic_load(&s->mapping.status->publish_seq);
	if (seq != s->publish_seen)
		s->publish_moved_ns = clock_mono_ns();
	s->publish_seen = seq;
	int samples = session_pull(s, err);
	if (samples < 0 || session_check_end(s, err) || session_check_memory(s, err))
		return -1;
	if (s->lend)
		lend_step(s->lend);
	session_feed_unwind(s, 0);
	if (session_contexts_send(s, 0, err))
		return -1;
	if (s->latency_ns && session_latency_send(s, err))
		return -1;
	session_vitals(s); /* keeps the history of shares up to date */
	return samples;
}

/*
 * The length of one wait for a publication: short while rows, their answers or names are pending, which do not end it.
 */
static unsigned session_slice(const struct session *s, unsigned ms)
{
	unsigned most = late_any(&s->late) || unwind_feed_busy(s->unwind) ? SESSION_ANSWER_MS
									  : SESSION_WAIT_MS;

	return ms < most ? ms : most;
}

int session_wait(struct session *s, int timeout_ms)
{
	uint64_t end_ns = clock_mono_ns() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * NS_PER_MS;

	for (;;) {
		uint64_t now_ns = clock_mono_ns();
		unsigned ms = now_ns < end_ns
				      ? (unsigned)((end_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS)
				      : 0;

		if (late_any(&s->late))
			symbols_wait(s->symbols, session_slice(s, ms));
		if (s->over ||
			/* an answer to rows has arrived, or none is pending and rows are ready */
			(unwind_feed_ready(s->unwind) && control_is_idle(&s->mapping)) ||
			(late_any(&s->late) && !session_names_wait(s)) ||
			control_wait_publication(
				&s->mapping, s->publish_seen, session_slice(s, ms)) ||
			!session_jvm_alive(s) ||
			(s->left_ns && clock_mono_ns() - s->left_ns >= SESSION_FOLLOW_NS))
			return 1;
		if (!ms)
			return 0;
	}
}

void session_patience(struct session *s, const struct patience *patience)
{
	s->patience = *patience;
}

void session_names_patient(struct session *s)
{
	s->names_patient = true;
}

void session_park(struct session *s, bool parked)
{
	if (!s->mapping.base)
		return;
	atomic_store(&s->mapping.control->parked, parked);
	lease_renew(s->lease);
}

void session_busy(struct session *s, bool busy)
{
	if (s->lease)
		lease_busy(s->lease, busy);
}

/* --- vitals ------------------------------------------------------------------------------------------ */

const struct vitals *session_vitals(struct session *s)
{
	uint64_t now_ns = clock_mono_ns();
	bool due = !s->vitals_ns || now_ns - s->vitals_ns >= SESSION_VITALS_NS;
	uint32_t second = profile_info(s->profile).now;

	if (due) {
		s->vitals_ns = now_ns;
		gauges_read(s->gauges, session_jvm_alive(s), &s->vitals);
	} else {
		gauges_peek(s->gauges);
	}
	gauges_status(s->mapping.status, &s->vitals);
	snprintf(s->vitals.agent_note, sizeof(s->vitals.agent_note), "%s", reader_note(s->reader));
	/* Records in the model which events are running, since its rates divide by that time. */
	for (int i = 0; i < VITALS_EVENTS && i < PROFILE_EVENTS; i++)
		profile_event_runs(s->profile, i, second, s->vitals.events[i].state == VITALS_ON);
	s->vitals.stalled = !s->over && now_ns - s->publish_moved_ns > SESSION_STALL_NS;
	if (due)
		gauges_shares(s->gauges, &s->vitals);
	if (s->vitals.alive)
		profile_vitals_set(s->profile, &s->vitals);
	return &s->vitals;
}

uint64_t session_duration_ns(const struct session *s)
{
	const struct reader_stats *stats = reader_stats(s->reader);

	return stats->first_ns && stats->tick_ns > stats->first_ns
		       ? stats->tick_ns - stats->first_ns
		       : 0;
}

uint64_t session_seen_ns(const struct session *s)
{
	return reader_stats(s->reader)->seen_ns;
}

const char *session_names_note(struct session *s)
{
	const char *pending = late_any(&s->late) ? symbols_pending(s->symbols) : "";

	buf_clear(&s->note);
	if (*pending && clock_mono_ns() - s->late.since_ns > SESSION_LATE_NS)
		buf_printf(&s->note, "waiting for names: %s", pending);
	else if (s->late.unnamed)
		buf_printf(&s->note,
			"%llu stack%s addresses instead of names: the files were not read in time",
			(unsigned long long)s->late.unnamed,
			s->late.unnamed == 1 ? " has" : "s have");
	return buf_str(&s->note);
}

const char *session_note(struct session *s)
{
	const char *note = s->symbols ? symbols_note(s->symbols) : "";
	struct unwind_feed_status rows = {.note = ""};

	if (!*note && s->unwind)
		unwind_feed_status(s->unwind, &rows);
	if (!*note && s->reader)
		note = reader_note(s->reader);
	if (rows.without_rows || rows.without_space)
		note = rows.note;
	if (!*session_names_note(s))
		return note;
	if (*note)
		buf_printf(&s->note, "; %s", note);
	return buf_str(&s->note);
}

/* --- the end ----------------------------------------------------------------------------------------- */

void session_finish(struct session *s)
{
	struct err why = {0};

	if (!s->mapping.base)
		return;
	session_leave(s);
	s->vitals_ns = 0; /* force a final reading of losses */
	session_vitals(s);
	if (!s->over) {
		err_set(&why, ERR_GONE, "The session with JVM %d is over.", (int)s->jvm.pid);
		session_end(s, &why, NULL);
	}
}

void session_close(struct session *s)
{
	if (!s)
		return;
	if (s->reader)
		session_finish(s);
	profile_pin_unregister(s->profile, s);
	lease_stop(s->lease);
	mapping_close(&s->mapping);
	unwind_feed_free(s->unwind);
	reader_free(s->reader);
	frames_free(s->frames);
	symbols_free(s->symbols);
	late_done(&s->late);
	buf_done(&s->note);
	gauges_free(s->gauges);
	tids_free(s->tids);
	contexts_free(s->contexts);
	lend_free(s->lend);
	session_readings_done(&s->threads);
	if (s->pidfd >= 0)
		close(s->pidfd);
	free(s);
}
