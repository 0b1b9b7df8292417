/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of HotSpot's attach listener, observed from outside.
 *
 * HotSpot starts the listener on SIGQUIT: its handler wakes the Signal Dispatcher thread, which looks for a trigger file,
 * .attach_pidN, in the JVM's working folder and then in its temporary folder. Without a trigger file the same signal makes
 * HotSpot print all stacks to stdout; if the handler is not HotSpot's (-Xrs, a program that embeds the JVM), the effect is up
 * to the program.
 *
 * Reads /proc only. Any thread.
 */
#ifndef JHOT_ATTACH_JVM_LISTENER_H
#define JHOT_ATTACH_JVM_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The tid of the VM thread, the only safe recipient of SIGQUIT, if HotSpot handles SIGQUIT; else 0.
 *
 * HotSpot installs its handler together with the Signal Dispatcher, and blocks SIGQUIT in all of its threads but the VM thread
 * (-Xrs: no dispatcher, no mask is changed). Both the names and the masks of these threads must match, so that neither a
 * program's thread of the same name nor a program's own handler is mistaken for HotSpot's.
 *
 * Early JDK 8 does not name its threads. There, the counters must prove that it runs without -Xrs (full_signals) and some
 * thread must block SIGQUIT; the oldest thread that does not, other than the first, is then the VM thread.
 *
 * The kernel does not show the owner of a handler: one that the program installs over HotSpot's is not detected.
 */
pid_t listener_wakes(pid_t pid, bool full_signals);

/* True when the JVM has started its listener, i.e. its socket is not a stale one of another process. */
bool listener_runs(pid_t pid);

#endif
