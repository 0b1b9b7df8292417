/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phase of a run of jhot, derived from its system calls and from the commands in the memory that it shares with the agent.
 * One run per process; for the tracer's thread only.
 */
#ifndef JHOT_TESTS_PLACES_FAULT_PHASE_H
#define JHOT_TESTS_PLACES_FAULT_PHASE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum phase {
	PHASE_NONE,    /* a command that is not in the table `ops` */
	PHASE_BEGIN,   /* the loader, the command line, checks that outputs can be written */
	PHASE_FIND,    /* inspection of the target; begins with the first file of another process */
	PHASE_CONNECT, /* the JVM's attach socket */
	PHASE_WAKE,    /* the trigger file and SIGQUIT, which make the JVM open its socket */
	PHASE_PUT,     /* writing the agent's file where the JVM can open it */
	PHASE_LOAD,    /* the request, its reply, the search for the agent's memory */
	PHASE_ENABLE,  /* that memory is mapped: the lease, the agent's setup, the first events */
	PHASE_SAMPLE,  /* the main loop */
	PHASE_SWITCH,  /* an event starts or stops during the main loop */
	PHASE_DETACH,
	PHASE_EXPORT, /* a temporary file is written */
	PHASE_END,    /* the file has its final name; nothing samples any more */
	PHASES,
};

struct phase_call {
	pid_t tid;
	uint64_t number, args[6];
};

extern const char *const phase_names[PHASES];

/* The phase of this call, which a thread of `command` or of a child is about to make. */
enum phase phase_of(pid_t command, const struct phase_call *call);

/* The thread's last call has returned this result. Must be called for each call that phase_of() has seen. */
void phase_result(pid_t tid, int64_t result);

/* True when the session has sampled anything. */
bool phase_has_samples(pid_t command);

/* True when this is the call in which jhot's main loop waits. */
bool phase_waits(const struct phase_call *call);

#endif
