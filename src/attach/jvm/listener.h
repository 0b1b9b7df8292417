/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's attach listener, as it can be seen from outside.
 *
 * HotSpot starts the listener on SIGQUIT: its handler wakes the Signal Dispatcher thread, which looks for a trigger
 * file, .attach_pidN, in the JVM's working folder and then in its temporary folder. Without a trigger file the same
 * signal makes HotSpot print all stacks to stdout; where the handler is not HotSpot's (-Xrs, a program that embeds the
 * JVM) it does whatever the program has it do.
 *
 * Reads /proc only. Plain functions.
 */
#ifndef JHOT_ATTACH_JVM_LISTENER_H
#define JHOT_ATTACH_JVM_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * listener_wakes: the VM thread, to which SIGQUIT is to be sent, if HotSpot handles SIGQUIT; else 0.
 *
 * HotSpot's handler is installed together with the Signal Dispatcher, and makes HotSpot block SIGQUIT in all of its
 * threads but the VM thread (-Xrs: no dispatcher, no mask is changed). Both are asked, so neither a thread of the
 * program with one of these names nor a handler of the program alone is taken for HotSpot's.
 *
 * Early JDK 8 does not name its threads. There the counters must tell that it runs without -Xrs (full_signals), and the masks
 * must differ; the oldest thread that does not block SIGQUIT, the first one aside, is then the VM thread.
 *
 * The kernel does not tell whose the handler is: a handler that the program installs over HotSpot's is not noticed.
 */
pid_t listener_wakes(pid_t pid, bool full_signals);

/* listener_runs: true when the JVM has started its listener, so that its socket is not a leftover of another process. */
bool listener_runs(pid_t pid);

#endif
