/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease: a session continues as long as its front end sends heartbeats, or the kernel reports that it is alive. An
 * orphaned session ends in every state of the JVM. Publisher only, unless stated otherwise. Times are in ns.
 */
#ifndef JHOT_SAMPLER_SESSION_LEASE_H
#define JHOT_SAMPLER_SESSION_LEASE_H

#include "sampler/sampler.h"

/* Asks a session to end; the first reason wins. Any thread. */
void lease_end(struct sampler *s, enum sampler_stop why);
/* True until the session is asked to end. Any thread. */
bool lease_runs(struct sampler *s);

/* Polls the heartbeat; ends the session if the lease has expired. */
void lease_check(struct sampler *s, uint64_t now);
/* True when the lease has expired. Any thread. */
bool lease_lost(struct sampler *s, uint64_t now);
/*
 * True when the heartbeat is overdue although it was received before: the front end is alive but gets no core. Any
 * thread.
 */
bool lease_quiet(struct sampler *s, uint64_t now);

/*
 * Waits until a futex counter of another thread reaches `number`. False on a timeout, or when the session ends.
 * While it waits, the lease is polled and samples are published.
 */
bool lease_await(struct sampler *s, _Atomic uint32_t *word, uint32_t number, uint64_t timeout_ns);

#endif
