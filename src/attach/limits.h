/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a JVM is too near to one of its limits to be attached to.
 *
 * HotSpot starts its attach listener when it is first asked, and ends the JVM ("Error occurred during initialization of VM", JDK 8 to
 * 28) when it gets no thread, stack or mapping for that. An agent's memory takes more of the same limits, and the program needs
 * the rest. So a JVM with less than limits.c demands gets neither a signal nor an agent. Runs in the attach helper, with the target's
 * ids. Reads /proc and cgroups; up to four processes are started and ended.
 *
 * All return 0, also for what cannot be read, or -1 with a sentence.
 */
#ifndef JHOT_ATTACH_LIMITS_H
#define JHOT_ATTACH_LIMITS_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"

/* Before the listener is woken: threads, descriptors, and memory for the listener. */
int limits_check_listener(const struct hotspot *jvm, struct err *err);
/* Before an agent is loaded: memory and mappings for a session, and that of the containers. */
int limits_check_agent(const struct hotspot *jvm, struct err *err);

#endif
