/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to attach: checks of a process on the caller's own thread. They block as long as the target's files do. */
#ifndef JHOT_ATTACH_JVM_CHECK_H
#define JHOT_ATTACH_JVM_CHECK_H

#include "attach/jvm/hotspot.h"

/* 0, or -1 when the process has ended, or when only_java is set and it is not Java. */
int hotspot_examine(pid_t pid, struct hotspot *out, bool only_java);
/* Fills in the fields that the kernel reports for out->pid, without touching its memory or files; -1 when it has ended. */
int hotspot_status(struct hotspot *out);
/* True, with an error, when the number is a thread id. */
bool hotspot_is_thread(pid_t pid, struct err *err);

/*
 * Forks a child that can be abandoned if it hangs; *fd is one end of a socket pair in each process. All signals are blocked
 * in the child, so that those to the terminal's process group do not reach it; end it with SIGKILL. Returns the child's pid, 0 in
 * the child, or -1 with an error.
 */
pid_t child_fork(int *fd, struct err *err);

#endif
