/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading the agent into a JVM through HotSpot's dynamic attach protocol.
 *
 * Never signals a process that hotspot_check has not found attachable; takes the target's ids in a forked
 * helper where they differ; removes every file it made on every path. Blocking, up to a few seconds for a
 * JVM that does not answer. One thread.
 */
#ifndef JHOT_ATTACH_ATTACH_H
#define JHOT_ATTACH_ATTACH_H

#include "attach/hotspot.h"
#include "base/err.h"

/*
 * attach_load: load the agent at `agent` (a path here) with these options, copied into the target's root
 * under a version-and-hash name where it is not visible there. Returns the agent's own result from
 * Agent_OnAttach (0 = ok, >0 = its code, see sampler/agent.h) or -1 with an error.
 */
int attach_load(const struct hotspot *jvm, const char *agent, const char *options, struct err *err);

/* attach_command: another operation ("jcmd", "GC.heap_info", ...); the reply is the caller's to free. */
int attach_command(const struct hotspot *jvm, const char *op, const char *arg1, const char *arg2,
	const char *arg3, char **reply, struct err *err);

#endif
