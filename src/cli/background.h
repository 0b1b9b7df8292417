/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `jhot start`: a process that releases the terminal once it samples.
 *
 *   jhot start ----fork----> child: samples like `jhot record`
 *     waits                  background_ready: releases the terminal; stdout and stderr are files in memory from then on
 *     exits
 *
 * `jhot status` and `jhot stop` read these memfds through /proc/PID/fd, so no file is left behind.
 * Single-threaded.
 */
#ifndef JHOT_CLI_BACKGROUND_H
#define JHOT_CLI_BACKGROUND_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"

#include <stdbool.h>

/*
 * Forks. Returns 0 in the child. In the parent, waits until the child is ready or has ended, and
 * returns 1 with the exit status in *status: 0 if it is ready. -1: no process could be created.
 */
int background_fork(int *status, struct err *err);
/* In the child: prints the commands for this recording, and releases the terminal. No effect in other processes. */
void background_ready(const struct hotspot *jvm);
/*
 * The same for a process that the agent has started (`record --loaded`), at once and without
 * printing. Closes all inherited descriptors, and forks: the process that calls it exits, its child
 * returns.
 */
void background_leave(void);
/* True in a process that has done so. */
bool background_is(void);
/* In the background, reports the error that ends the process to the system's log, too. */
void background_log_error(const struct err *err);
/* Empties a log that has become long. To be called now and then. */
void background_limit_log(void);

/* True if this is the pid of a background process of jhot whose output we may read. */
bool background_is_process(pid_t pid);
/* Prints the last lines of its stderr. */
void background_print_log(pid_t pid);
/*
 * Sends it SIGINT and waits for its end. Then copies its output after the signal to stderr and, if
 * `result` is true, its whole stdout to this process's.
 */
int background_stop(pid_t pid, bool result, struct err *err);

#endif
