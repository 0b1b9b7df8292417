/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has the JVM left what a first attach needs of it, a thread, descriptors, address space? And what each session needs, memory?
 *
 * HotSpot starts its attach listener when it is first asked, and where it gets no thread for that the JVM ends ("Error occurred
 * during initialization of VM", JDK 8 to 28). So it is not asked when its limits are reached. Where its container has a limit of
 * memory the kernel kills it as soon as the agent's memory goes beyond that. In the attach helper, with the target's ids.
 */
#ifndef JHOT_ATTACH_LIMITS_H
#define JHOT_ATTACH_LIMITS_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"

/* 0, also when nothing is known; -1 with the sentence. */
int limits_check(const struct hotspot *jvm, struct err *err);
/* The same, before an agent is loaded, whether or not the listener runs. */
int limits_check_memory(const struct hotspot *jvm, struct err *err);

#endif
