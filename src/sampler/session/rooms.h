/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References to a session's memory: handlers and callbacks inside its session epoch (struct sig_room, signal/signal.h),
 * its publisher, and its VM-call thread. Nothing here waits without bound: memory that may still be in use is retained,
 * and freed when a later session finds the sig_room empty.
 *
 * Publisher only, except for rooms_let_go.
 */
#ifndef JHOT_SAMPLER_SESSION_ROOMS_H
#define JHOT_SAMPLER_SESSION_ROOMS_H

#include "sampler/sampler.h"

/* Assigns an unused sig_room to the session. False: every one of them has lost a thread inside. */
bool rooms_take(struct sampler *s);
/* Makes the session current: handlers and callbacks find it. */
void rooms_open(struct sampler *s);
/* Handlers and callbacks no longer find the session. */
void rooms_close(struct sampler *s);
/* Waits up to ns until all threads inside have left; false on a timeout. */
bool rooms_drain(struct sampler *s, uint64_t ns);

/* Releases a reference to the session's memory; the last one frees or retains it. Any thread. */
void rooms_let_go(struct sampler *s);
/* Bytes of retained sessions. */
uint64_t rooms_kept(void);

#endif
