/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `jhot start`: a process that leaves the terminal once it samples.
 *
 *   jhot start ----fork----> child: samples like `jhot record`
 *     waits                  background_ready: releases the terminal; stdout and stderr are files in memory from then on
 *     exits
 *
 * `jhot status` and `jhot stop` read these memfds through /proc/PID/fd, so no file is left behind. Single-threaded.
 */
#ifndef JHOT_CLI_BACKGROUND_H
#define JHOT_CLI_BACKGROUND_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"

#include <stdbool.h>

/*
 * Forks. Returns 0 in the child. In the parent, waits until the child is ready or has ended, and returns 1 with the exit status in
 * *status: 0 if it is ready. -1: no process could be created.
 */
int background_fork(int *status, struct err *err);
/*
 * For a process that the agent has started (`record --loaded`): leaves its parent, which exits, the terminal and all descriptors, as
 * after background_ready.
 */
void background_leave(void);
/* In that child: prints what can be done with the recording, and leaves the terminal. Elsewhere without effect. */
void background_ready(const struct hotspot *jvm);
/* True in that child, once it is ready. */
bool background_is(void);
/* In the background, reports the error that ends the process to the system's log, too. */
void background_log_error(const struct err *err);
/* Empties a log that has become long. To be called now and then. */
void background_limit_log(void);

/* True if another process is one, and we may read what it prints. */
bool background_is_process(pid_t pid);
/* Prints the last lines of its stderr. */
void background_print_log(pid_t pid);
/* Ends it as Ctrl-C would, waits for it, and prints what it prints in the meantime: stdout only if `result`. */
int background_stop(pid_t pid, bool result, struct err *err);

#endif
