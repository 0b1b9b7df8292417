/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening perf_events on the threads of a JVM that may not open them itself, and sending them to its agent (wire/lend.h).
 *
 * For who may: root on the host, or who has CAP_PERFMON and CAP_SYS_PTRACE there. The JVM's memory is not believed: what
 * it names as its socket is one of its own descriptors in any case, and nothing but events of its own threads is sent there.
 * The caller's thread.
 */
#ifndef JHOT_SESSION_LEND_H
#define JHOT_SESSION_LEND_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"

struct lend;

/*
 * lend_begin: by the agent's socket, whose number in the JVM this is. What all threads that there are can be lent has been
 * sent when it returns. NULL: not possible here, err says what to do.
 */
struct lend *lend_begin(
	const struct hotspot *jvm, int pidfd, int socket_there, bool kernel_only, struct err *err);
/* lend_step: those of threads that have begun since; as often as is worth it. */
void lend_step(struct lend *l);
void lend_free(struct lend *l);

#endif
