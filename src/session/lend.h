/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens perf_events on the threads of a JVM that may not open them itself, and passes them to its agent over a socket
 * (wire/lend.h). Requires root on the host, or CAP_PERFMON and CAP_SYS_PTRACE there.
 *
 * The JVM is not trusted: it can only name a descriptor of its own, and only events on its own threads are sent. Runs on the
 * caller's thread; does not block.
 */
#ifndef JHOT_SESSION_LEND_H
#define JHOT_SESSION_LEND_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"

struct lend;

/*
 * socket_there: the descriptor of the agent's socket, as numbered in the JVM. On return, the events of all current threads
 * have been sent. NULL with an error and a hint.
 */
struct lend *lend_begin(
	const struct hotspot *jvm, int pidfd, int socket_there, bool kernel_only, struct err *err);
/* Sends events of threads that have started since the last call. Rate-limited: may be called on every drain. */
void lend_step(struct lend *l);
void lend_free(struct lend *l);

#endif
