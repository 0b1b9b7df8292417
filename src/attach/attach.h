/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading the agent into a JVM through HotSpot's dynamic attach protocol.
 *
 * Signals only a process that hotspot_check has found attachable, checked again right before. The work is done in a
 * forked helper that takes the target's ids where they differ and blocks all signals, so it removes every file that it made
 * also when the caller is interrupted or killed. It gives up when the caller is gone or has no more patience. If the
 * JVM has not handled SIGQUIT by then, another process stays to remove the trigger file when it has, or has ended,
 * at most ten minutes later (protocol.c).
 *
 * Blocks for a few milliseconds; up to ATTACH_LISTEN_MS + ATTACH_REPLY_MS for a JVM that does not answer, ATTACH_START_MS
 * more for one that is starting; never much longer, whatever the target's files do. One thread.
 */
#ifndef JHOT_ATTACH_ATTACH_H
#define JHOT_ATTACH_ATTACH_H

#include "attach/jvm/hotspot.h"
#include "attach/place.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/patience.h"

#define ATTACH_LISTEN_MS 6000  /* for the JVM to open its socket */
#define ATTACH_REPLY_MS  10000 /* for its answer */
#define ATTACH_START_MS  5000  /* for a JVM that is still starting to take agents */

/*
 * attach_load: load this agent with these options. It is put into the target's /tmp, /dev/shm or working folder, or by root
 * into its /dev, as libjhot-VERSION-HASH-PID.so, which is unlinked after the load; on musl, the one that it has kept is loaded
 * again. Returns the agent's own result from Agent_OnAttach (0 = ok, >0 = its code, see wire/layout.h) or -1 with an error.
 */
int attach_load(const struct hotspot *jvm, const struct agent_file *agent, const char *options,
	const struct patience *patience, struct err *err);

/* One operation of the JVM's attach listener: "jcmd", "load"... */
struct attach_request {
	const struct agent_file *agent; /* to be placed, its path put into args[0]; or NULL */
	const char *op;
	const char *args[3];
};

/* attach_ask: the JVM's whole answer into reply (attach/protocol.h), which is empty. */
int attach_ask(const struct hotspot *jvm, const struct attach_request *rq,
	const struct patience *patience, struct buf *reply, struct err *err);

#endif
