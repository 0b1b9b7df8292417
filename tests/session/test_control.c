/* SPDX-License-Identifier: Apache-2.0 */
/* session: commands to an agent that answers, is slow, never answers, or exits; the lease. */
#include "session/mapping.h"
#include "tests/session/fake_agent.h"
#include "tests/tap.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct fake_agent agent;
static struct mapping mapping;

/* The agent's side of a command, in its own thread: waits for a new sequence number and answers. */
struct answerer {
	int result;
	const char *text;
	bool wake, leave;
	_Atomic bool stop;
	_Atomic uint32_t seen;
	uint64_t delay_ns;
};

static void *answer_main(void *arg)
{
	struct answerer *a = arg;
	uint32_t done = atomic_load(&agent.status->done_seq);

	while (!atomic_load(&a->stop)) {
		struct timespec step = {0, NS_PER_MS}, delay = {0, (long)a->delay_ns};
		uint32_t seq = atomic_load(&agent.control->command_seq);

		if (seq == done) {
			nanosleep(&step, NULL);
			continue;
		}
		nanosleep(&delay, NULL);
		atomic_store(&a->seen, agent.control->command.op);
		if (a->leave) {
			atomic_store(&agent.status->agent_state, WIRE_AGENT_LEFT);
			done = seq;
			continue;
		}
		snprintf(agent.status->done_text, sizeof(agent.status->done_text), "%s", a->text);
		atomic_store(&agent.status->done_result, a->result);
		atomic_store(&agent.status->done_seq, seq);
		done = seq;
		if (a->wake)
			syscall(SYS_futex, &agent.status->done_seq, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static int send_one(
	struct answerer *a, unsigned timeout_ms, struct control_answer *answer, struct err *err)
{
	struct wire_command command = {.op = WIRE_OP_FLUSH};
	pthread_t thread;
	int rc;

	pthread_create(&thread, NULL, answer_main, a);
	rc = control_command(&mapping, &command, timeout_ms, NULL, NULL, answer, err);
	atomic_store(&a->stop, true);
	pthread_join(thread, NULL);
	return rc;
}

static void test_commands(void)
{
	struct control_answer answer;
	struct err err = {0};

	is_int(send_one(&(struct answerer){.wake = true, .text = ""}, 5000, &answer, &err), 0,
		"an answered command succeeds");
	is_int(answer.result, 0, "the answer has the agent's result");
	is_int(send_one(&(struct answerer){.text = "not\nallowed", .result = -EPERM}, 5000, &answer,
		       &err),
		0, "an answer without a wake-up is received");
	is_int(answer.result, -EPERM, "a refusal has its error code");
	is_str(answer.text, "not?allowed", "the text of a refusal is cleaned");
	is_int(send_one(&(struct answerer){.delay_ns = 60 * NS_PER_MS, .text = ""}, 5000, &answer,
		       &err),
		0, "an answer after 60 ms is received");
}

/* An agent that computes for this number of ns before it answers; the kernel reports its thread as running. */
static void *compute_main(void *arg)
{
	uint64_t end_ns = clock_mono_ns() + *(const uint64_t *)arg;

	prctl(PR_SET_NAME, "jhot test");
	while (clock_mono_ns() < end_ns)
		;
	atomic_store(&agent.status->done_result, 0);
	atomic_store(&agent.status->done_seq, atomic_load(&agent.control->command_seq));
	return NULL;
}

/* The limit does not count time in which the agent runs or waits for a core, but there is an upper bound. */
static void test_busy(void)
{
	struct wire_command command = {.op = WIRE_OP_FLUSH};
	uint64_t compute_ns = 1500 * NS_PER_MS;
	struct control_answer answer;
	struct err err = {0};
	pthread_t thread;

	mapping.pid = getpid();
	pthread_create(&thread, NULL, compute_main, &compute_ns);
	is_int(control_command(&mapping, &command, 200, NULL, NULL, &answer, &err), 0,
		"a command waits longer than its limit while the agent is running");
	pthread_join(thread, NULL);
	compute_ns = 2500 * NS_PER_MS;
	pthread_create(&thread, NULL, compute_main, &compute_ns);
	is_int(control_command(&mapping, &command, 50, NULL, NULL, &answer, &err), -1,
		"a command to a busy agent times out in the end");
	pthread_join(thread, NULL);
	mapping.pid = 0;
}

static bool count_idle(void *ctx)
{
	return ++*(int *)ctx < 5;
}

static void test_silence(void)
{
	struct wire_command command = {.op = WIRE_OP_FLUSH};
	struct control_answer answer;
	struct err err = {0};
	uint32_t before = atomic_load(&agent.control->command_seq);
	int idles = 0;

	is_int(control_command(&mapping, &command, 50, NULL, NULL, &answer, &err), -1,
		"a command without an answer fails");
	ok(strstr(err.what, "did not answer") != NULL,
		"the error says that the agent did not answer: %s", err.what);
	command.op = WIRE_OP_DETACH;
	is_int(control_command(&mapping, &command, 50, NULL, NULL, &answer, &err), -1,
		"a second command fails while the first is unanswered");
	is_int(atomic_load(&agent.control->command_seq), before + 1,
		"the second command does not use a sequence number");
	is_int(agent.control->command.op, WIRE_OP_FLUSH,
		"the second command does not overwrite the first");
	is_int(control_command(&mapping, &command, 60000, count_idle, &idles, &answer, &err), -1,
		"a command ends when its caller cancels it");
	is_int(idles, 5, "the caller's callback was called five times");
	ok(strstr(err.what, "Cancelled") != NULL,
		"the error says that the command was cancelled: %s", err.what);
	atomic_store(&agent.status->done_seq, before + 1);
}

static void test_leaving(void)
{
	struct control_answer answer;
	struct err err = {0};

	is_int(send_one(&(struct answerer){.leave = true, .text = ""}, 60000, &answer, &err), -1,
		"a command fails at once when the agent leaves");
	is_int(err.kind, ERR_GONE, "the error kind is ERR_GONE");
	is_int(control_wait_state(&mapping, WIRE_AGENT_READY, 60000, NULL, NULL), WIRE_AGENT_LEFT,
		"waiting for READY ends at once when the agent has left");
	atomic_store(&agent.status->agent_state, WIRE_AGENT_STARTING);
	is_int(control_wait_state(&mapping, WIRE_AGENT_READY, 30, NULL, NULL), -1,
		"waiting for a state times out");
	atomic_store(&agent.status->agent_state, WIRE_AGENT_READY);
}

/* Waits for `more` beats after `from`, and renews the lease `renewed` (NULL: none) meanwhile, as a live main loop does. */
static bool wait_beats(struct lease *renewed, uint32_t from, uint32_t more)
{
	uint64_t end_ns = clock_mono_ns() + 20 * NS_PER_S;
	struct timespec step = {0, NS_PER_MS};

	while (atomic_load(&agent.control->beat) - from < more) {
		if (clock_mono_ns() > end_ns)
			return false;
		if (renewed)
			lease_renew(renewed);
		nanosleep(&step, NULL);
	}
	return true;
}

/* Waits until the beat counter has not changed for 20 beat intervals. */
static bool wait_no_beats(unsigned beat_ms)
{
	uint64_t end_ns = clock_mono_ns() + 20 * NS_PER_S;
	struct timespec pause = {0, (long)(beat_ms * 20 * NS_PER_MS)};
	uint32_t before;

	do {
		before = atomic_load(&agent.control->beat);
		nanosleep(&pause, NULL);
		if (atomic_load(&agent.control->beat) == before)
			return true;
	} while (clock_mono_ns() < end_ns);
	return false;
}

static void test_lease(void)
{
	struct err err = {0};
	struct lease *l = lease_start(&mapping, 2, 100000, &err);
	uint32_t beat;

	ok(l && wait_beats(l, atomic_load(&agent.control->beat), 10), "a lease beats");
	ok(control_beats(&mapping), "control_beats is true while the lease beats");
	ok(atomic_load(&agent.control->front_end),
		"the front end's slot is set while the lease beats");
	lease_stop(l);
	is_int(atomic_load(&agent.control->front_end), 0,
		"the front end's slot is cleared when the lease stops");
	beat = atomic_load(&agent.control->beat);
	ok(wait_no_beats(2) && atomic_load(&agent.control->beat) == beat,
		"a stopped lease does not beat");
	ok(!control_beats(&mapping), "control_beats is false after the lease stopped");

	l = lease_start(&mapping, 2, 30, &err);
	ok(wait_beats(l, beat, 3), "a new lease beats");
	ok(wait_no_beats(2), "the beat stops when the main loop is not renewed");
	lease_busy(l, true);
	ok(wait_beats(NULL, atomic_load(&agent.control->beat), 50),
		"a lease in busy mode beats without renewals");
	lease_busy(l, false);
	ok(wait_no_beats(2), "after busy mode the beat stops without renewals");
	beat = atomic_load(&agent.control->beat);
	ok(wait_beats(l, beat, 1), "a renewal restarts the beat");
	lease_stop(l);
	lease_stop(NULL);
}

/* The process that owns the lease is killed, in one case while it is stopped. */
static void test_lease_died(bool stopped)
{
	uint64_t end_ns = clock_mono_ns() + 20 * NS_PER_S;
	struct timespec step = {0, NS_PER_MS};
	struct err err = {0};
	pid_t child;

	atomic_store(&agent.control->front_end, 0);
	child = fork();
	if (child == 0) {
		lease_start(&mapping, 2, 100000, &err);
		for (;;)
			pause();
	}
	while (!atomic_load(&agent.control->front_end) && clock_mono_ns() < end_ns)
		nanosleep(&step, NULL);
	if (stopped)
		kill(child, SIGSTOP);
	ok(atomic_load(&agent.control->front_end) &&
			!(atomic_load(&agent.control->front_end) & WIRE_FRONT_END_DIED),
		"the front end's slot shows a living process");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(atomic_load(&agent.control->front_end) & WIRE_FRONT_END_DIED,
		"the slot shows the death of a process that was killed%s",
		stopped ? " while stopped" : "");
}

static void test_front_end(void)
{
	char name[64];
	uint64_t since_ns;
	int pid;

	control_identify(&mapping);
	control_front_end(&mapping, name, sizeof(name), &pid, &since_ns);
	ok(name[0] != '\0', "control_front_end returns a name: %s", name);
	is_int(pid, getpid(), "control_front_end returns the pid");
	ok(clock_wall_ns() - since_ns < 3600 * NS_PER_S, "control_front_end returns when it began");
}

int main(void)
{
	struct err err = {0};

	fake_agent_open(&agent, "control");
	if (mapping_find(&mapping, getpid(), "control", &err) != 1) {
		ok(false, "the fake agent is found: %s", err.what);
		return tap_done();
	}
	test_commands();
	test_silence();
	test_busy();
	test_leaving();
	test_lease();
	test_lease_died(false);
	test_lease_died(true);
	test_front_end();
	mapping_close(&mapping);
	fake_agent_close(&agent);
	return tap_done();
}
