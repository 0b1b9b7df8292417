/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: unwind rows for a stopped agent. Its ring is drained while it does not answer, nothing is discarded meanwhile,
 * and a late answer still counts; so does one that delays another command.
 */
#include "session/state.h"
#include "symbols/child/child.h"
#include "tests/session/fake_agent.h"
#include "tests/tap.h"

#include <pthread.h>

#define DRAINS 10000 /* more than any machine needs */

static struct fake_agent agent;
static struct profile *profile;
static struct session *session;
static _Atomic bool stop_answering;

static void begin(void)
{
	struct hotspot jvm = {.pid = getpid(), .nspid = getpid(), .name = "Test"};
	struct err err = {0};

	fake_agent_open(&agent, "feed");
	profile = profile_new();
	session = session_new(&jvm, profile);
	if (mapping_find(&session->mapping, getpid(), "feed", &err) != 1)
		ok(false, "the fake agent is found: %s", err.what);
	session->lease = lease_start(&session->mapping, LEASE_BEAT_MS, LEASE_STALL_MS, &err);
	session_begin(session);
}

/* The path of a mapped file of this process. */
static const char *mapped(const char *name)
{
	static char line[4096];
	FILE *f = fopen("/proc/self/maps", "re");
	char *path = NULL;

	while (f && !path && fgets(line, sizeof(line), f))
		if (strstr(line, name) && (path = strchr(line, '/')))
			path[strcspn(path, "\n")] = '\0';
	if (f)
		fclose(f);
	return path ? path : "/none";
}

static struct unwind_feed_status feed(void)
{
	struct unwind_feed_status st;

	unwind_feed_status(session->unwind, &st);
	return st;
}

/* --- the agent --------------------------------------------------------------------------------------- */

static bool command_pending(void)
{
	return atomic_load(&agent.control->command_seq) != atomic_load(&agent.status->done_seq);
}

/* Accepts all chunks in the staging area; returns how many. */
static int count_chunks(uint64_t bytes)
{
	const unsigned char *at = agent.base + agent.header.staging_off, *end = at + bytes;
	struct wire_unwind_chunk head;
	int chunks = 0;

	for (; at + sizeof(head) <= end; at += sizeof(head) + head.bytes, chunks++)
		memcpy(&head, at, sizeof(head));
	return chunks;
}

static void answer(void)
{
	const struct wire_command *c = &agent.control->command;

	atomic_store(
		&agent.status->done_result, c->op == WIRE_OP_UNWIND ? count_chunks(c->arg) : 0);
	atomic_store(&agent.status->done_seq, atomic_load(&agent.control->command_seq));
}

static void *answer_main(void *arg)
{
	struct timespec step = {0, NS_PER_MS / 4};

	while (!atomic_load(&stop_answering)) {
		if (command_pending())
			answer();
		nanosleep(&step, NULL);
	}
	return NULL;
}

static void drain_until_command(void)
{
	for (int i = 0; i < DRAINS && !command_pending(); i++) {
		session_wait(session, 10);
		session_drain(session, NULL);
	}
}

static void drain_until_sent(unsigned modules)
{
	for (int i = 0; i < DRAINS && feed().sent < modules; i++) {
		if (command_pending())
			answer();
		session_wait(session, 10);
		session_drain(session, NULL);
	}
}

int main(int argc, char **argv)
{
	pthread_t answerer;
	struct err err = {0};

	if (elf_child_main(argc, argv, NULL))
		return 0;
	begin();
	fake_module(&agent, 1, mapped("libc.so"));
	ring_commit(&agent.ring);
	drain_until_command();
	ok(command_pending(), "rows of the first module are sent");
	for (int i = 0; i < 3; i++)
		is_int(session_drain(session, NULL), 0,
			"the ring is drained while the agent does not answer");
	ok(command_pending() && feed().waiting == 1 && !feed().without_rows,
		"while the agent does not answer the module stays pending");
	drain_until_sent(1);
	is_int(feed().sent, 1, "a late answer counts");

	fake_module(&agent, 2, mapped("/test_feed"));
	ring_commit(&agent.ring);
	drain_until_command();
	ok(command_pending(), "rows of the second module are sent");
	pthread_create(&answerer, NULL, answer_main, NULL);
	is_int(session_event_start(session, EVENT_CPU, 0, &err), 0,
		"an event starts once the pending command was answered");
	atomic_store(&stop_answering, true);
	pthread_join(answerer, NULL);
	drain_until_sent(2);
	is_int(feed().sent, 2, "the answer to the rows counts although another command followed");
	is_int(feed().without_rows + feed().without_space, 0,
		"no module is without rows or without space");

	atomic_store(&agent.status->agent_state, WIRE_AGENT_LEFT);
	session_close(session);
	profile_free(profile);
	fake_agent_close(&agent);
	return tap_done();
}
