/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptor tables: the agent's and the program's.
 *
 * The publisher and the threads that it starts (wall clock, locks) have a descriptor table of their own. The program
 * cannot close, reuse, inherit or count what is in it, and RLIMIT_NOFILE applies to each table separately. The kernel
 * closes it with the last of these threads.
 *
 *   program's table: threads of the program (handlers and callbacks of the agent included), "jhot names", "jhot files"
 *   agent's table:   "jhot publisher", "jhot wall", "jhot lock"
 *
 * Consequences: only the agent's threads above can use its descriptors. A number of a descriptor of the program is valid
 * only on a thread that shares the program's table: such calls are made by "jhot files", with files_run(). Paths below
 * /proc/self/fd name the program's descriptors on every thread.
 *
 * Where the kernel refuses a table of one's own (files_private() is false), there are no perf_events, and the two
 * descriptors that remain are compared with what was opened before each use that could do harm.
 */
#ifndef JHOT_SAMPLER_SESSION_FILES_H
#define JHOT_SAMPLER_SESSION_FILES_H

#include "sampler/sampler.h"

#define FILES_NAME "jhot files"

/*
 * Starts "jhot files", then moves the calling thread, the publisher, to an empty table. Numbers 0 to 2 are taken there,
 * so that nothing which libc or the JVM may write on this thread reaches a file of the agent. 0 or -errno: no thread.
 */
int files_begin(struct sampler *s);
/* Ends "jhot files". Does not wait. */
void files_end(struct sampler *s);

/*
 * Runs function(ctx) on "jhot files" and waits until it has returned, one second at most. false: it has not, and no later
 * call will be made: ctx must be memory of the session.
 */
bool files_run(struct sampler *s, void (*function)(void *), void *ctx);

/* Remembers which file a number stands for; is it still that file? */
void files_identify(struct sampler_file *file, int32_t fd);
bool files_same(const struct sampler_file *file);
/* Closes it, unless it is another file by now. The check and the close are two calls: in a shared table a race remains. */
void files_close(struct sampler_file *file);

#endif
