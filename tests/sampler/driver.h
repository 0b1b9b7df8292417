/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A front end for tests of the agent: loads and maps it, renews the lease, sends commands, reads and sums up records.
 * A thread of its own renews the lease. Unlike session/, it trusts the agent: a corrupt ring fails the test.
 */
#ifndef JHOT_TESTS_SAMPLER_DRIVER_H
#define JHOT_TESTS_SAMPLER_DRIVER_H

#include "wire/layout.h"
#include "wire/ring.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#define DRIVER_NAMES 262144u

struct driver_method {
	char *name; /* "java/lang/String.length" or a bare name; NULL: never published */
	uint64_t self, total;
	uint32_t seen; /* the last trace that counted the method in total */
};

struct driver_trace {
	struct wire_trace *record; /* a copy */
	uint64_t count, weight;
};

struct driver {
	pid_t pid;
	int fd;
	unsigned char *base;
	struct wire_header header;
	struct wire_control *control;
	struct wire_status *status;
	struct ring_reader ring;

	pthread_t beater;
	bool beats;
	_Atomic bool stop_beating;

	struct driver_method methods[DRIVER_NAMES];
	struct driver_trace traces[DRIVER_NAMES];
	char *threads[DRIVER_NAMES];
	uint32_t thread_kinds[DRIVER_NAMES];
	struct wire_module *modules[65536];
	uint64_t cpu_ns; /* CPU time of the process, measured by the agent */
	uint64_t records, samples, weight, frames, broken, kernel, java, ticks, halves, notes, gaps;
	uint64_t unknown_ids; /* references to frames, traces and threads that were not published */
	char unknown[96];     /* the first of them */
	uint64_t by_kind[256]; /* frames by kind */
	uint64_t leaf_native, leaf_raw;
	uint64_t waits, waits_ended, waits_owned; /* WAIT records; those with an owner */
	void (*on_wait)(struct driver *d, const struct wire_wait *wait); /* or NULL */
	struct {
		uint64_t samples, weight, broken, interval; /* interval: of the last deltas */
		uint64_t changes;                           /* of that interval */
	} events[WIRE_EVENTS];
	char note[256]; /* the last note */
};

/*
 * Loads the agent with this token and more options (",take=1" or ""); returns the agent's result, -1 if the attach
 * itself failed.
 */
int driver_load(pid_t pid, const char *agent, const char *token, const char *more);
/* Finds and maps the memfd with this token; NULL if there is none or its header is invalid. */
struct driver *driver_open(pid_t pid, const char *token);
void driver_beat(struct driver *d); /* starts renewing the lease */
void driver_silence(struct driver *d);
/* Waits until the agent is ready; false after 10 s. */
bool driver_ready(struct driver *d);
/* Sends a command and waits for its answer: status.done_result, or -ETIMEDOUT after 10 s. Drains meanwhile. */
int driver_command(struct driver *d, uint32_t op, uint32_t event, uint64_t interval);
int driver_command_arg(struct driver *d, uint32_t op, uint64_t arg);
int driver_run(struct driver *d, const struct wire_command *command);
/* Reads all pending records; false if the ring is corrupt. */
bool driver_drain(struct driver *d);
/* Waits for a publication or the timeout. */
void driver_wait(struct driver *d, int timeout_ms);
bool driver_left(const struct driver *d);
/* The value of a counter by name, 0 if it does not exist. */
uint64_t driver_counter(const struct driver *d, const char *name);
/* Whether the frame is named by a method id. */
bool driver_frame_named(uint64_t frame);
void driver_close(struct driver *d);

#endif
