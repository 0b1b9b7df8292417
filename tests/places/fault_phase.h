/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of jhot is at, told by its system calls and by the command in the memory that it shares with the agent. */
#ifndef JHOT_TESTS_PLACES_FAULT_PHASE_H
#define JHOT_TESTS_PLACES_FAULT_PHASE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum phase {
	PHASE_NONE,    /* a command that the table of them does not know */
	PHASE_BEGIN,   /* the loader, the command line, whether the outputs can be written */
	PHASE_FIND,    /* what process it is: the first file of another process */
	PHASE_CONNECT, /* the JVM's attach socket */
	PHASE_WAKE,    /* the file that has the JVM make one, SIGQUIT */
	PHASE_PUT,     /* the agent's file where the JVM can open it */
	PHASE_LOAD,    /* the request, its answer, the agent's memory is looked for */
	PHASE_ENABLE,  /* it is mapped: the lease, the agent gets ready, the first events begin */
	PHASE_SAMPLE,  /* the main loop */
	PHASE_SWITCH,  /* an event begins or ends in the middle of it */
	PHASE_DETACH,
	PHASE_EXPORT, /* a file is made beside the one that it becomes */
	PHASE_END,    /* that is whole, nothing samples any more */
	PHASES,
};

struct phase_call {
	pid_t tid;
	uint64_t number, args[6];
};

extern const char *const phase_names[PHASES];

/* The phase that this call, which is about to be made by a thread of `command` or of a child, belongs to. */
enum phase phase_of(pid_t command, const struct phase_call *call);

/* The call before this by the same thread has come back with this. */
void phase_result(pid_t tid, int64_t result);

/* Has anything been sampled in the session? */
bool phase_has_samples(pid_t command);

/* Does jhot's main loop wait now for the next thing to do? */
bool phase_waits(const struct phase_call *call);

#endif
