/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks files that are still to be pushed, so that a recorder that is started again pushes what an earlier one could not.
 *
 * The mark is an extended attribute of the file, "user.jhot.push": the pusher's pid, the start time of that process, and the URL. It
 * is set when the file has been written, and removed when the file has been pushed or refused. A file system without extended
 * attributes keeps no marks. Blocks on the file system; single-threaded.
 */
#ifndef JHOT_CLI_RECORDER_UNPUSHED_H
#define JHOT_CLI_RECORDER_UNPUSHED_H

#include <stdbool.h>
#include <sys/types.h>

/* pusher: the process that pushes it. False: the file system has no extended attributes. */
bool unpushed_mark(const char *path, const char *url, pid_t pusher);
void unpushed_clear(const char *path);
/*
 * Marks a file for this pusher if its mark has the same URL and names a pusher that does not run any more. Returns true then: it
 * is to be pushed.
 */
bool unpushed_claim(const char *path, const char *url, pid_t pusher);

#endif
