/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time to start an event inside a JVM: bench_enable PID AGENT TURNS EVENT...
 *
 * In one session, each event is started and stopped TURNS times. Measured from the start command to the agent's
 * reply, which is sent when the engine is set up on all threads. Prints a line per event: its name, the first start
 * (cold), the median and the maximum in ms; or its name, "-" and the agent's refusal.
 */
#include "tests/sampler/driver.h"

#include "base/clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TURNS_MAX 1000
#define REST_US   20000 /* between a stop and the next start: samples come and the publisher rests */

static const struct {
	const char *name;
	struct wire_command command;
} events[] = {
	{"cpu", {.event = WIRE_CPU}},
	{"alloc", {.event = WIRE_ALLOC}},
	{"lock", {.event = WIRE_LOCK}},
	{"wall", {.event = WIRE_WALL}},
	/* PERF_TYPE_SOFTWARE and its numbers */
	{"page-faults", {.event = WIRE_USER_FIRST, .interval = 100, .perf = {1, 0, 2, 0, 0}}},
	{"context-switches", {.event = WIRE_USER_FIRST, .interval = 1, .perf = {1, 0, 3, 0, 0}}},
};

/* As driver_run, but waiting for nothing else than the answer. */
static int run(struct driver *d, const struct wire_command *command, uint64_t *ns)
{
	uint32_t seq = atomic_load(&d->control->command_seq) + 1, done;
	struct timespec slice = {0, 10000000};
	uint64_t from = clock_mono_ns();

	d->control->command = *command;
	atomic_store(&d->control->command_seq, seq);
	syscall(SYS_futex, &d->control->command_seq, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	while ((done = atomic_load(&d->status->done_seq)) != seq && !driver_left(d))
		syscall(SYS_futex, &d->status->done_seq, FUTEX_WAIT, done, &slice, NULL, 0);
	*ns = clock_mono_ns() - from;
	return driver_left(d) ? -1 : atomic_load(&d->status->done_result);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct driver *d, const char *name, struct wire_command command, int turns)
{
	double ms[TURNS_MAX], first;
	uint64_t ns;

	for (int i = 0; i < turns; i++) {
		command.op = WIRE_OP_EVENT_START;
		if (run(d, &command, &ns)) {
			printf("%s - %s\n", name, d->status->done_text);
			return;
		}
		ms[i] = (double)ns / 1e6;
		usleep(REST_US);
		driver_drain(d);
		command.op = WIRE_OP_EVENT_STOP;
		run(d, &command, &ns);
		usleep(REST_US);
	}
	first = ms[0];
	qsort(ms, (size_t)turns, sizeof(ms[0]), by_size);
	printf("%s %.2f %.2f %.2f\n", name, first, ms[turns / 2], ms[turns - 1]);
}

static int session(struct driver *d, int turns, int count, char **names)
{
	driver_beat(d);
	if (!driver_ready(d))
		return 1;
	for (int i = 0; i < count; i++)
		for (size_t k = 0; k < sizeof(events) / sizeof(events[0]); k++)
			if (!strcmp(names[i], events[k].name))
				measure(d, names[i], events[k].command, turns);
	return driver_command(d, WIRE_OP_DETACH, 0, 0) != 0;
}

int main(int argc, char **argv)
{
	int turns = argc > 3 ? atoi(argv[3]) : 0, result;
	struct driver *d;
	char token[32];

	if (turns < 1 || turns > TURNS_MAX) {
		fprintf(stderr, "usage: bench_enable PID AGENT TURNS EVENT...\n");
		return 2;
	}
	snprintf(token, sizeof(token), "e%d", (int)getpid());
	result = driver_load(atoi(argv[1]), argv[2], token, "");
	d = result ? NULL : driver_open(atoi(argv[1]), token);
	if (!d) {
		fprintf(stderr, "bench_enable: the agent could not be loaded: %d\n", result);
		return 1;
	}
	result = session(d, turns, argc - 4, argv + 4);
	driver_close(d);
	return result;
}
