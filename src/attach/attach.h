/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading the agent into a JVM through HotSpot's dynamic attach protocol.
 *
 * jhot signals only a process that hotspot_check has found attachable, and repeats the check right before. The work is done by a
 * forked helper with all signals blocked, which removes its files even if the caller is interrupted or killed.
 *
 *   step                                     ids       files touched               removed by
 *   1 caller: pidfd, fork the helper         caller's
 *   2 helper: check the process again        caller's
 *   3 open temp, cwd and folders for the     caller's
 *     agent; read the agent
 *   4 root only: agent into the JVM's /dev,  caller's  /dev/libjhot-*              a process that stays root, when the
 *     if no other folder will do                                                   helper closes its end or dies
 *   5 fchdir(temp), assume the JVM's ids     ->JVM's
 *   6 check its limits (limits.h)            JVM's
 *   7 no socket yet: trigger file, SIGQUIT   JVM's     cwd or temp/.attach_pidN    helper; if SIGQUIT is still pending, a
 *     to the VM thread, wait for the socket                                        process that waits at most 10 minutes
 *   8 connect, identify the peer             JVM's     temp/.java_pidN (the JVM's)
 *   9 agent into a safe folder, or a link    JVM's     temp, /dev/shm or cwd/      helper (place_done)
 *     to a memfd; send "load", read the reply          libjhot-*
 *  10 helper: reply through the socket pair, exit; caller: reap
 *
 * The helper stops when the caller ends or its patience does; if the kernel blocks it, it is left behind. Its reply is
 * treated as hostile, since it ran with the target's ids.
 *
 * Blocks for a few milliseconds; for a JVM that does not respond up to ATTACH_LISTEN_MS + ATTACH_REPLY_MS, plus
 * ATTACH_START_MS for one that is starting. Single-threaded.
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
#define ATTACH_START_MS  5000  /* for a starting JVM to accept agents */

/*
 * Loads the agent with these options, as libjhot-VERSION-HASH-PID.so, which is unlinked after the load. On musl, a file that
 * the agent has kept open is loaded again. Returns the result of Agent_OnAttach (0: ok, > 0: a code of wire/layout.h), or -1
 * with an error.
 */
int attach_load(const struct hotspot *jvm, const struct agent_file *agent, const char *options,
	const struct patience *patience, struct err *err);

/* An operation of the JVM's attach listener: "jcmd", "load"... */
struct attach_request {
	const struct agent_file *agent; /* placed first, its path becomes args[0]; NULL: none */
	const char *op;
	const char *args[3];
};

/* Executes an operation; appends the JVM's complete answer to reply (see attach/protocol.h). */
int attach_send(const struct hotspot *jvm, const struct attach_request *rq,
	const struct patience *patience, struct buf *reply, struct err *err);

#endif
