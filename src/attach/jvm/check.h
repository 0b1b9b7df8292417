/* SPDX-License-Identifier: Apache-2.0 */
/* Inside attach: a look that is taken by the caller itself, and waits as long as what is looked at makes it wait. */
#ifndef JHOT_ATTACH_JVM_CHECK_H
#define JHOT_ATTACH_JVM_CHECK_H

#include "attach/jvm/hotspot.h"

/* hotspot_look_at: 0, or -1 when the process is gone, or only_java and it is none. */
int hotspot_look_at(pid_t pid, struct hotspot *out, bool only_java);
/* hotspot_status: what the kernel says of out->pid without touching its memory or files; -1 when it is gone. */
int hotspot_status(struct hotspot *out);
/* hotspot_is_thread: true with an error when the number is that of a thread. */
bool hotspot_is_thread(pid_t pid, struct err *err);

/*
 * child_fork: a child that may be left behind where it hangs, with one end of a socket pair each in *fd. All signals are
 * blocked in it: those to the terminal's group are not for it, and it is ended by SIGKILL. 0 in the child; -1 with an
 * error.
 */
pid_t child_fork(int *fd, struct err *err);

#endif
