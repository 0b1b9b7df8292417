/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptor tables: the agent's and the program's.
 *
 * The publisher and the threads it starts (wall clock, lock) have their own descriptor table. The program cannot close,
 * reuse, inherit or count its descriptors, and RLIMIT_NOFILE applies to each table separately. The kernel closes it
 * with the last of these threads.
 *
 *   program's table: threads of the program (including the agent's handlers and callbacks), "jhot names", "jhot files"
 *   agent's table:   "jhot publisher", "jhot wall", "jhot lock"
 *
 * Consequences: only the agent's threads above can use its descriptors. A descriptor number of the program is valid
 * only on a thread that shares the program's table: such calls run on "jhot files", through files_run(). Paths below
 * /proc/self/fd name the program's descriptors on every thread.
 *
 * If the kernel refuses a separate table (files.own is false), there are no perf_events, and the two remaining
 * descriptors are compared with the files they were opened for (struct raw_file) before every use that could do harm.
 */
#ifndef JHOT_SAMPLER_SESSION_FILES_H
#define JHOT_SAMPLER_SESSION_FILES_H

#include "sampler/sampler.h"

#define FILES_NAME "jhot files"

/*
 * Starts "jhot files", then moves the calling thread, the publisher, to an empty table. Numbers 0 to 2 are occupied
 * there, so that nothing libc or the JVM may write on this thread reaches a file of the agent. 0, or -errno when the
 * thread cannot be started.
 */
int files_begin(struct sampler *s);
/* Ends "jhot files". Does not block. */
void files_end(struct sampler *s);

/*
 * Runs function(ctx) on "jhot files" and waits for it, up to one second. False: it has not returned, and all later
 * calls fail at once. ctx must therefore be memory of the session. Agent threads; calls are serialized.
 */
bool files_run(struct sampler *s, void (*function)(void *), void *ctx);

#endif
