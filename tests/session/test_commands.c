/* SPDX-License-Identifier: Apache-2.0 */
/* session: several events at once, threads, budget; thread states, waits and user events in the model. */
#include "session/state.h"
#include "tests/session/fake_agent.h"
#include "tests/tap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define SECOND(n) (agent.header.start_mono_ns + (uint64_t)(n)*NS_PER_S + 1)

static struct fake_agent agent;
static struct profile *profile;
static struct session *session;

/* --- an agent that executes commands -------------------------------------------------------------- */

static struct wire_command received[32];
static _Atomic int received_count;
static _Atomic bool stop_answering;
static const char *refusal; /* of an event that the agent does not support */

static void answer(uint32_t seq)
{
	struct wire_command *c = &received[atomic_load(&received_count) % 32];
	bool refused;

	memcpy(c, &agent.control->command, sizeof(*c));
	refused = c->op == WIRE_OP_EVENT_START && c->event == WIRE_ALLOC;
	snprintf(agent.status->done_text, sizeof(agent.status->done_text), "%s",
		refused ? refusal : "");
	atomic_store(&agent.status->done_result, refused ? -ENOSYS : 0);
	if (c->op == WIRE_OP_DETACH)
		atomic_store(&agent.status->agent_state, WIRE_AGENT_LEFT);
	atomic_fetch_add(&received_count, 1);
	atomic_store(&agent.status->done_seq, seq);
}

static void *answer_main(void *arg)
{
	struct timespec step = {0, NS_PER_MS / 4};
	uint32_t done = 0;

	while (!atomic_load(&stop_answering)) {
		uint32_t seq = atomic_load(&agent.control->command_seq);

		if (seq != done)
			answer(done = seq);
		nanosleep(&step, NULL);
	}
	return NULL;
}

static const struct wire_command *last_received(void)
{
	return &received[(atomic_load(&received_count) + 31) % 32];
}

static void begin(pthread_t *answerer)
{
	struct hotspot jvm = {.pid = getpid(), .nspid = getpid(), .name = "Test"};
	struct err err = {0};

	fake_agent_open(&agent, "commands");
	((struct wire_header *)agent.base)->start_mono_ns -= 100 * NS_PER_S;
	((struct wire_header *)agent.base)->start_wall_ns -= 100 * NS_PER_S; /* the same instant */
	agent.header.start_mono_ns -= 100 * NS_PER_S;
	profile = profile_new();
	session = session_new(&jvm, profile);
	if (mapping_find(&session->mapping, getpid(), "commands", &err) != 1)
		ok(false, "the fake agent is found: %s", err.what);
	session->lease = lease_start(&session->mapping, LEASE_BEAT_MS, LEASE_STALL_MS, &err);
	pthread_create(answerer, NULL, answer_main, NULL);
	session_begin(session);
}

/* --- commands ---------------------------------------------------------------------------------------- */

static void test_commands(void)
{
	struct session_event misses = {.event = EVENT_USER_FIRST,
		.name = "cache-misses",
		.unit = "events",
		.interval = 1000,
		.user_only = true,
		.perf = {.type = 0, .config = 3, .config1 = 4, .config2 = 5, .bp_type = 6}};
	struct session_event lock = {.event = EVENT_LOCK, .interval = 5000};
	struct session_event live = {.event = EVENT_ALLOC, .live = true};
	char longer[300];
	struct err err = {0};

	is_int(session_event_start(session, EVENT_CPU, 0, &err), 0, "the cpu event starts");
	is_int(session_event_begin(session, &lock, &err), 0, "the lock event starts beside cpu");
	ok(last_received()->event == WIRE_LOCK && last_received()->interval == 5000 &&
			!last_received()->flags,
		"the start command has event and interval, and no flags");
	is_int(session_event_start(session, EVENT_WALL, 0, &err), 0,
		"the wall event starts beside cpu and lock");
	is_int(session_event_begin(session, &misses, &err), 0,
		"a perf event starts beside cpu, lock and wall");
	ok(last_received()->event == WIRE_USER_FIRST &&
			last_received()->flags == WIRE_START_USER_ONLY &&
			last_received()->perf.config == 3 && last_received()->perf.config1 == 4 &&
			last_received()->perf.config2 == 5 && last_received()->perf.bp_type == 6,
		"the start command of a perf event has the attributes for perf_event_open");
	is_str(last_received()->text, "cache-misses",
		"the start command of a perf event has its name");
	is_str(profile_get_event(profile, EVENT_USER_FIRST)->name, "cache-misses",
		"the model has the event's name");
	is_int(session_event_begin(session, &live, &err), -1,
		"starting an unsupported event fails");
	ok(last_received()->flags == WIRE_START_LIVE, "the command for live objects has the flag");
	ok(strstr(err.what, "\"alloc\" could not be started: this agent cannot") != NULL,
		"the error gives the agent's reason: %s", err.what);
	is_int(session_only_threads(session, "http-*", &err), 0, "selecting threads succeeds");
	ok(last_received()->op == WIRE_OP_THREADS && !strcmp(last_received()->text, "http-*"),
		"the command that selects threads has the pattern");
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	is_int(session_only_threads(session, longer, &err), -1,
		"a pattern that is too long is rejected");
	is_int(session_budget(session, 15, true, &err), 0, "setting a budget succeeds");
	ok(last_received()->op == WIRE_OP_BUDGET && last_received()->arg == 15,
		"the command that sets a budget has it in thousandths of a core");
}

/* --- records ----------------------------------------------------------------------------------------- */

static void add_wait(
	uint32_t thread, uint32_t owner, uint64_t since_ns, uint64_t time_ns, bool ended)
{
	struct wire_wait *rec = ring_reserve(&agent.ring, WIRE_REC_WAIT, sizeof(*rec));

	rec->time_ns = time_ns;
	rec->since_ns = since_ns;
	rec->lock = 0x7f0012345678;
	rec->thread = thread;
	rec->owner = owner;
	rec->method = 2;
	rec->ended = ended;
}

/* A wait that had begun before the session; agents before minor 3 send no at_least. */
static void add_initial_wait(uint32_t size, uint64_t before_ns, uint64_t time_ns)
{
	struct wire_wait *rec = ring_reserve(&agent.ring, WIRE_REC_WAIT, size);
	struct wire_wait wait = {.rec = rec->rec,
		.time_ns = time_ns,
		.since_ns = agent.header.start_mono_ns - before_ns,
		.lock = 0x7f0012345678,
		.thread = 2,
		.at_least = 1};

	memcpy(rec, &wait, size);
}

static void add_records(void)
{
	const uint64_t frame = WIRE_METHOD_FRAME(WIRE_FRAME_C2, 1, 0);

	fake_method(&agent, 1, "a/B", "c", "()V");
	fake_method(&agent, 2, "", "a/Lock", "");
	fake_thread(&agent, 1, 4001, WIRE_THREAD_JAVA, "waiter");
	fake_thread(&agent, 2, 4002, WIRE_THREAD_JAVA, "holder");
	fake_trace(&agent, 1, 1, WIRE_TRACE_IN_STATE(WIRE_STATE_PARKED), &frame, 1);
	fake_trace(&agent, 2, 1, WIRE_TRACE_IN_STATE(15), &frame, 1);
	fake_delta(&agent, WIRE_WALL, SECOND(3), 1, 7, 70);
	fake_delta(&agent, WIRE_WALL, SECOND(3), 2, 5, 50);
	fake_delta(&agent, WIRE_USER_FIRST, SECOND(3), 1, 3, 3000);
	add_wait(1, 2, SECOND(3), SECOND(4), false);
	fake_tick(&agent, SECOND(5));
	add_wait(1, 0, SECOND(3), SECOND(6), true);
	fake_tick(&agent, SECOND(9));
}

static uint64_t count_of(const struct profile *p, int event, unsigned states)
{
	struct profile_query q = {
		.event = event, .to = UINT32_MAX, .thread = PROFILE_ANY_THREAD, .states = states};

	return profile_sum(p, &q).count;
}

static void check_model(const struct profile *p, const char *where)
{
	struct profile_wait w = {0};

	is_int(count_of(p, EVENT_WALL, 1u << THREAD_PARKED), 7, "samples have their thread state");
	is_int(count_of(p, EVENT_WALL, 1u << THREAD_STATE_NONE), 5,
		"samples with an invalid state have none");
	is_int(count_of(p, EVENT_USER_FIRST, 0), 3, "a user event has its samples");
	is_str(profile_get_event(p, EVENT_USER_FIRST)->name, "cache-misses",
		"the user event has its name");
	ok(profile_wait_at(p, 0, 5, &w), "the wait is known (%s)", where);
	ok(!strcmp(profile_get_method(p, w.method)->full, "a.Lock"),
		"the wait has the class of its lock");
	ok(w.since_ns == 3 * NS_PER_S + 1 && w.until_ns == 6 * NS_PER_S + 1,
		"the wait has its start and end");
	ok(!profile_wait_at(p, 0, 8, &w), "there is no wait after its end");
}

static void test_records(void)
{
	struct profile_wait w = {0};
	struct err err = {0};

	add_records();
	is_int(session_drain(session, &err), 15, "all samples are read");
	ok(profile_wait_at(profile, 0, 5, &w) && w.owner == PROFILE_NONE,
		"the last record of a wait replaces earlier ones");
	check_model(profile, "live");
	add_wait(1, 2, SECOND(10), SECOND(10), false);
	fake_tick(&agent, SECOND(11));
	session_drain(session, &err);
	ok(profile_wait_at(profile, 0, 30, &w) && w.owner == 1 && w.until_ns == PROFILE_STILL,
		"an ongoing wait has its owner and no end");
	ok(!w.before_ns && !w.at_least, "a wait that began during the session is exact");
	add_initial_wait(sizeof(struct wire_wait), 2 * NS_PER_S, SECOND(12));
	fake_tick(&agent, SECOND(12));
	session_drain(session, &err);
	ok(profile_wait_at(profile, 1, 31, &w) && w.since_ns == 0 && w.at_least,
		"a wait from before the session begins with it and is a lower bound");
	is_int(w.before_ns, 2 * NS_PER_S,
		"a wait from before the session has the time waited until then");
	add_initial_wait(48, NS_PER_S, SECOND(13));
	fake_tick(&agent, SECOND(13));
	session_drain(session, &err);
	ok(profile_wait_at(profile, 1, 31, &w) && w.before_ns == NS_PER_S && !w.at_least,
		"a record of an older agent has no lower bound");
	is_int(session_event_stop(session, EVENT_LOCK, &err), 0, "the lock event stops");
	ok(!profile_wait_at(profile, 0, 1000, &w), "stopping the lock event ends all waits");
}

int main(void)
{
	pthread_t answerer;

	refusal = "this agent cannot sample alloc";
	begin(&answerer);
	test_commands();
	test_records();
	session_close(session);
	atomic_store(&stop_answering, true);
	pthread_join(answerer, NULL);
	ok(last_received()->op == WIRE_OP_DETACH, "closing the session sends a detach command");
	profile_free(profile);
	fake_agent_close(&agent);
	return tap_done();
}
