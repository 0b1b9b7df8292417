/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refuses to attach to a JVM that is too close to one of its resource limits.
 *
 * HotSpot starts its attach listener on the first request, and ends the JVM ("Error occurred during initialization of VM",
 * JDK 8 to 28) if it gets no thread, stack or mapping for it. The agent counts against the same limits, and the program
 * needs the rest. So a JVM below the reserves in limits.c gets neither a signal nor an agent.
 *
 * Runs in the attach helper with the target's ids. Reads /proc and cgroups; starts and ends up to five processes. Returns 0,
 * also if a limit cannot be read, or -1 with an error.
 */
#ifndef JHOT_ATTACH_LIMITS_H
#define JHOT_ATTACH_LIMITS_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"

/* Call before waking the listener: checks threads, descriptors, and memory for the listener. */
int limits_check_listener(const struct hotspot *jvm, struct err *err);
/* Call before loading an agent: checks memory and mappings for a session, and the memory limits of its cgroups. */
int limits_check_agent(const struct hotspot *jvm, struct err *err);

#endif
