/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References to a session's memory: handlers and callbacks inside its session epoch (struct sig_epoch, signal/signal.h),
 * its publisher, and its VM-call thread. Nothing here waits without bound: memory that may still be in use is retained,
 * and freed when a later session finds the sig_epoch empty.
 *
 * Publisher only, unless stated otherwise.
 */
#ifndef JHOT_SAMPLER_SESSION_EPOCHS_H
#define JHOT_SAMPLER_SESSION_EPOCHS_H

#include "sampler/sampler.h"

/* Assigns an unused sig_epoch to the session. False: every one of them has lost a thread inside. */
bool epochs_acquire(struct sampler *s);
/* Makes the session current: handlers and callbacks find it. */
void epochs_open(struct sampler *s);
/* Handlers and callbacks no longer find the session. */
void epochs_close(struct sampler *s);
/* Waits up to ns until all threads inside have left; false on a timeout. */
bool epochs_drain(struct sampler *s, uint64_t ns);

/* Releases a reference to the session's memory; the last one frees or retains it. Any thread. */
void epochs_release(struct sampler *s);
/*
 * Starts a thread that owns a reference to the session's memory. 0 or an error number. As its last action the thread
 * calls epochs_thread_ends, which sets *left for spawn_end, wakes its waiters and releases the reference.
 */
int epochs_spawn(struct sampler *s, const struct spawn *how);
void epochs_thread_ends(struct sampler *s, _Atomic uint32_t *left);
/* Bytes of retained sessions. */
uint64_t epochs_retained(void);

#endif
