/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a session: makes a token, loads the agent with it, finds its memfd by the token, starts the lease. */
#include "attach/attach.h"
#include "attach/place.h"
#include "attach/proc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/maps.h"
#include "session/state.h"
#include "wire/calls.h"
#include "wire/layout.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_MEMFD_MS 2000 /* the agent creates it before the load returns */
#define OPEN_SINCE_NS \
	(60 * NS_PER_S) /* maximum age of the agent's start time: attaching takes seconds */
#define OPEN_READY_MS 10000
#define OPEN_LEASE_MS 4000 /* an orphaned session ends sooner */
#define OPEN_STEP_NS  (1 * NS_PER_MS)
#define OPEN_LOADS    3 /* retries if another version's session begins in between */

/* --- loading ----------------------------------------------------------------------------------------- */

_Static_assert(SESSION_TOKEN <= WIRE_TOKEN_MAX, "a token fits");

void session_token(char out[SESSION_TOKEN])
{
	static const char letters[] = "0123456789abcdefghijklmnopqrstuv";
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
		uint64_t seed[2] = {clock_mono_ns(), (uint64_t)getpid()};

		memcpy(bytes, seed, sizeof(bytes));
	}
	for (size_t i = 0; i < sizeof(bytes); i++)
		out[i] = letters[bytes[i] & 31];
	out[sizeof(bytes)] = '\0';
}

/* Sets the error for a JVM with a session of another front end, m, which may be closed. Returns -1. */
static int open_busy(const struct hotspot *jvm, struct mapping *m, struct err *err)
{
	char front_end[64] = "";
	uint64_t since_ns = 0;
	int pid = 0;

	if (m->base)
		control_front_end(m, front_end, sizeof(front_end), &pid, &since_ns);
	uint64_t age_s = since_ns && clock_wall_ns() > since_ns
				 ? (clock_wall_ns() - since_ns) / NS_PER_S
				 : 0;
	if (front_end[0])
		err_set(err, ERR_BUSY,
			"JVM %d is already being profiled by %s (jhot process %d), for %llu s.",
			(int)jvm->pid, front_end, pid, (unsigned long long)age_s);
	else
		err_set(err, ERR_BUSY, "JVM %d is already being profiled by another jhot.",
			(int)jvm->pid);
	err_hint(err, "jhot top %d     watches that session", (int)jvm->pid);
	err_hint(err, "jhot save -o FILE %d     writes its samples so far", (int)jvm->pid);
	err_hint(err, "add --take-over to end that session first");
	return -1;
}

static const struct {
	int result;
	const char *what, *hint;
} open_results[] = {
	{AGENT_BAD_OPTIONS, "does not support the parameters of this jhot",
		"use the agent that came with this jhot"},
	{AGENT_NO_MEMFD,
		"could not get shared memory (memfd_create needs Linux 3.17, free memory, and a "
		"descriptor)",
		NULL},
	{AGENT_NO_MEMORY,
		"could not map its 44 MB, or doing so would leave too little for the program",
		"check the JVM's limits: /proc/PID/limits, its container, vm.overcommit_memory"},
	{AGENT_NO_THREAD, "could not start its thread",
		"check the limit of processes (ulimit -u, pids.max)"},
	{AGENT_OTHER, "found a session of another version each time it was loaded",
		"try again when that session has ended"},
	{AGENT_NO_JVMTI, "got no tool interface (JVMTI) from the JVM", NULL},
	{AGENT_UNTRIED,
		"cannot test which system calls the JVM's seccomp filter allows: it cannot create "
		"a child process",
		"check the limit of processes (ulimit -u, pids.max) and the filter"},
};

/* Sets the error for a result of Agent_OnAttach other than AGENT_OK and AGENT_BUSY. Returns -1. */
static int open_result(const struct hotspot *jvm, int result, struct err *err)
{
	if (result == AGENT_NO_FILE_SIZE) {
		err_set(err, ERR_ATTACH,
			"The agent in JVM %d cannot create shared memory: the JVM's file size "
			"limit "
			"(ulimit -f), which also applies to shared memory, is below %u kB.",
			(int)jvm->pid,
			(unsigned)((4 * WIRE_PAGE + WIRE_RING_BYTES + WIRE_STAGING_BYTES) / 1024));
		err_hint(err, "sudo prlimit --pid %d --fsize=unlimited", (int)jvm->pid);
		return -1;
	}
	for (size_t i = 0; i < sizeof(open_results) / sizeof(open_results[0]); i++) {
		if (open_results[i].result != result)
			continue;
		err_set(err, ERR_ATTACH, "The agent in JVM %d %s.", (int)jvm->pid,
			open_results[i].what);
		if (open_results[i].hint)
			err_hint(err, "%s", open_results[i].hint);
		return -1;
	}
	if (result >= AGENT_FORBIDDEN && result < AGENT_FORBIDDEN + CALL_COUNT) {
		int call = result - AGENT_FORBIDDEN;
		static const struct {
			const char *name, *use;
		} calls[CALL_COUNT] = {
#define CALL(name, need, use, ...) {#name, use},
			WIRE_CALLS(CALL)
#undef CALL
		};

		err_set(err, ERR_ATTACH,
			"The seccomp filter of JVM %d forbids %s, which the agent needs for %s. "
			"Nothing "
			"was started.",
			(int)jvm->pid, calls[call].name, calls[call].use);
		err_hint(err,
			"allow %s (systemd: SystemCallFilter=, containers: --security-opt "
			"seccomp=)",
			calls[call].name);
		err_hint(err, "jhot dump %d      shows what its threads do, without an agent",
			(int)jvm->pid);
		return -1;
	}
	return err_set(err, ERR_ATTACH,
		"The agent in JVM %d failed with code %d, which is unknown to this jhot.",
		(int)jvm->pid, result);
}

static int open_attach(const struct session *s, const struct agent_file *agent, const char *token,
	bool take, struct err *err)
{
	char text[96];

	snprintf(text, sizeof(text), "token=%s%s", token, take ? ",take=1" : "");
	return attach_load(&s->jvm, agent, text, &s->patience, err);
}

/*
 * Retries a load that was answered with AGENT_BUSY. Takes over an orphaned session, that is one whose front end does
 * not beat, even without --take-over; refuses otherwise.
 */
static int open_load_busy(
	const struct session *s, const struct agent_file *agent, const char *token, struct err *err)
{
	const struct hotspot *jvm = &s->jvm;
	struct mapping m;
	int result = AGENT_BUSY;

	mapping_find(&m, jvm->pid, NULL, NULL);
	if (!m.base || !control_beats(&m))
		result = open_attach(s, agent, token, m.base != NULL, err);
	if (result == AGENT_BUSY)
		open_busy(jvm, &m, err);
	mapping_close(&m);
	return result;
}

/* --- other versions ---------------------------------------------------------------------------------- */

struct open_seen {
	char own[PLACE_NAME]; /* file name of the agent to load; "": unknown */
	bool other;
};

static bool open_see_map(void *ctx, const struct proc_map *map)
{
	struct open_seen *seen = ctx;
	const char *name = path_name(map->path);

	seen->other = !strncmp(name, "libjhot", strlen("libjhot")) && strcmp(name, seen->own) != 0;
	return !seen->other;
}

/*
 * Agents of two versions would both sample, and conflict over signal handlers. As the agent does for sessions of its
 * own version, this refuses to attach while another version has a live session, or ends that session: with --take-over,
 * or if it is orphaned. 0 if there is none.
 */
static int open_make_space(
	const struct session *s, const struct session_options *options, struct err *err)
{
	uint64_t end_ns = clock_mono_ns() + OPEN_LEASE_MS * NS_PER_MS;
	struct mapping m;
	bool lives = false;
	int rc = mapping_find(&m, s->jvm.pid, NULL, err);

	/* The other front end may just be starting, so its first beat is awaited. */
	while (rc > 0 && !options->take_over && !lives && clock_mono_ns() < end_ns &&
		atomic_load(&m.status->agent_state) != WIRE_AGENT_LEFT)
		lives = control_beats(&m);
	if (rc > 0)
		rc = lives ? open_busy(&s->jvm, &m, err) : session_stop(&s->jvm, err);
	mapping_close(&m);
	return rc;
}

/* Loads the agent, which begins a session with this token. 0, or -1 with an error. */
static int open_load(const struct session *s, const struct session_options *options,
	const char *token, struct err *err)
{
	const struct agent_file *agent = &options->agent;
	struct open_seen seen = {0};
	int result = AGENT_OK;

	if (!agent->path)
		place_name(agent->bytes, agent->len, s->jvm.nspid, seen.own);
	if (!proc_maps(s->jvm.pid, open_see_map, &seen) && seen.other)
		result = AGENT_OTHER;
	for (int loads = 0; loads == 0 || (result == AGENT_OTHER && loads < OPEN_LOADS); loads++) {
		if (result == AGENT_OTHER && open_make_space(s, options, err))
			return -1;
		result = open_attach(s, agent, token, options->take_over, err);
	}
	if (result == AGENT_BUSY)
		result = open_load_busy(s, agent, token, err);
	/* Another version's session, whose memory has not appeared yet. */
	if (result == AGENT_OTHER && !options->take_over)
		return open_busy(&s->jvm, &(struct mapping){.base = NULL}, err);
	if (result <= 0 || result == AGENT_BUSY)
		return result ? -1 : 0;
	return open_result(&s->jvm, result, err);
}

/* --- finding it -------------------------------------------------------------------------------------- */

/* 0 to continue waiting; -1 with an error: the JVM has ended, or the caller cancels. */
static int open_go_on(const struct session *s, struct err *err)
{
	if (!session_jvm_alive(s))
		return err_set(
			err, ERR_GONE, "JVM %d ended before it could be sampled.", (int)s->jvm.pid);
	if (!patience_left(&s->patience))
		return err_set(
			err, ERR_FAILED, "Attaching to JVM %d was cancelled.", (int)s->jvm.pid);
	return 0;
}

/* Waits for the agent's memory and maps it. awaited: the JVM loads the agent itself, once it is initialized. */
static int open_find(struct session *s, const char *token, bool awaited, struct err *err)
{
	uint64_t end_ns = clock_mono_ns() + OPEN_MEMFD_MS * NS_PER_MS;
	struct timespec step = {0, OPEN_STEP_NS};

	for (;;) {
		int found = mapping_find(&s->mapping, s->jvm.pid, token, err);

		if (found)
			return found > 0 ? 0 : -1;
		if (open_go_on(s, err))
			return -1;
		if (!awaited && clock_mono_ns() > end_ns)
			return err_set(err, ERR_ATTACH,
				"The agent was loaded into JVM %d, but its shared memory did not "
				"appear.",
				(int)s->jvm.pid);
		nanosleep(&step, NULL);
	}
}

/* Waits until the agent is ready. 0, or -1 with an error. */
static int open_ready(struct session *s, struct err *err)
{
	switch (control_wait_state(&s->mapping, WIRE_AGENT_READY, OPEN_READY_MS, session_idle, s)) {
	case WIRE_AGENT_READY: return 0;
	case WIRE_AGENT_LEFT:
		return err_set(err, ERR_ATTACH,
			"The agent in JVM %d ended the session before sampling started.",
			(int)s->jvm.pid);
	default:
		if (open_go_on(s, err))
			return -1;
		return err_set(err, ERR_ATTACH, "The agent in JVM %d was not ready within %d s.",
			(int)s->jvm.pid, OPEN_READY_MS / 1000);
	}
}

static void open_module(void *ctx, uint32_t id, const struct proc_map *m)
{
	unwind_feed_module(((struct session *)ctx)->unwind, id, m);
}

/*
 * The offset of the agent's monotonic clock, which differs between time namespaces. The wall clock does not: the wall
 * time since the agent's start, added to its monotonic start time, gives its monotonic clock now. Differences below 1 s
 * count as none, and a start time older than OPEN_SINCE_NS is not trusted. In the same namespace the offset is 0,
 * even if the wall clock has been set since the agent started.
 */
static uint64_t open_clock_ahead(pid_t pid, const struct wire_header *h)
{
	uint64_t since_ns = clock_wall_ns() - h->start_wall_ns;
	int64_t ahead_ns = (int64_t)(h->start_mono_ns + since_ns - clock_mono_ns());

	if (proc_same_ns(pid, "time") || since_ns > OPEN_SINCE_NS ||
		(ahead_ns < (int64_t)NS_PER_S && ahead_ns > -(int64_t)NS_PER_S))
		return 0;
	return (uint64_t)ahead_ns;
}

void session_begin(struct session *s)
{
	s->symbols = symbols_new(s->jvm.pid, s->jvm.nspid);
	symbols_start_thread(s->symbols);
	s->frames = frames_new(s->profile, s->symbols);
	s->reader = reader_new(s->profile, s->frames, s->mapping.header.start_mono_ns);
	profile_pin_register(s->profile, session_pin, s);
	if (!s->unwind)
		s->unwind = unwind_feed_new(s->jvm.pid);
	reader_on_module(s->reader, open_module, s);
	if (s->jvm.other_pid_ns) {
		s->tids = tids_new(s->jvm.pid);
		reader_on_tid(s->reader, s->tids);
	}
	s->contexts = contexts_new(s->jvm.pid);
	frames_name_attributes(s->frames, contexts_process(s->contexts));
	s->gauges = gauges_new(&s->jvm);
	cgroup_mount_find(&s->memory, "memory");
	s->publish_moved_ns = clock_mono_ns();
	s->clock_ahead_ns = open_clock_ahead(s->jvm.pid, &s->mapping.header);
	ring_reader_init(
		&s->ring, s->mapping.cursors, s->mapping.ring, s->mapping.header.ring_bytes);
	profile_set_start(s->profile, s->mapping.header.start_wall_ns);
}

struct session *session_new(const struct hotspot *jvm, struct profile *profile)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->jvm = *jvm;
	s->profile = profile;
	s->pidfd = -1;
	return s;
}

const struct hotspot *session_jvm(const struct session *s)
{
	return &s->jvm;
}

struct session *session_open(const struct hotspot *jvm, const struct session_options *options,
	struct profile *profile, struct err *err)
{
	struct session *s = session_new(jvm, profile);
	struct hotspot known;
	char token[SESSION_TOKEN];
	bool awaited = options->token != NULL;

	s->patience = options->patience;
	s->pidfd = (int)syscall(SYS_pidfd_open, jvm->pid, 0);
	if (awaited) {
		snprintf(token, sizeof(token), "%s", options->token);
		s->started = true; /* begin to sample before unwind rows have been sent */
	} else {
		session_token(token);
		s->unwind = unwind_feed_new(jvm->pid);
		unwind_feed_ahead(s->unwind);
	}
	if ((!awaited && open_load(s, options, token, err)) || open_find(s, token, awaited, err))
		goto fail;
	if (awaited && !hotspot_check(jvm->pid, &known, NULL))
		s->jvm = known;
	control_identify(&s->mapping);
	s->lease = lease_start(&s->mapping, LEASE_BEAT_MS, LEASE_STALL_MS, err);
	if (!s->lease || open_ready(s, err))
		goto fail;
	session_begin(s);
	return s;
fail:
	session_close(s);
	return NULL;
}
