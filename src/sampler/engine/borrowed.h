/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Borrowed perf_events: opened by the front end for a JVM that is not allowed to open them itself (wire/lend.h).
 *
 * Threads start on a CPU timer and switch to perf_events when their descriptor arrives, after about 0.1 s. The agent
 * keeps a borrowed descriptor until its thread has ended, since cpu may be stopped and restarted. Publisher only.
 */
#ifndef JHOT_SAMPLER_ENGINE_BORROWED_H
#define JHOT_SAMPLER_ENGINE_BORROWED_H

#include "sampler/sampler.h"

/*
 * Opens a socket pair for the descriptors. Returns the descriptor that the front end is to copy, or -errno. It stays in
 * the program's descriptor table, where pidfd_getfd finds it, until the first datagram has arrived or the session ends.
 * Blocks for a connect on the "jhot files" thread.
 */
int borrowed_open(struct sampler *s);
/*
 * Receives pending datagrams as long as descriptors are within the budget, and arms their threads. Does not block on
 * the socket.
 */
void borrowed_receive_all(struct sampler *s);
/* Closes the socket and all borrowed descriptors. Call when the session has ended and no engine is set any more. */
void borrowed_close(struct sampler *s);

#endif
