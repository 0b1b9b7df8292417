/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease: a session goes on as long as its front end beats, or the kernel says that it lives. One whose front end is
 * gone ends, whatever the JVM does. Publisher only, but for what says otherwise.
 */
#ifndef JHOT_SAMPLER_SESSION_LEASE_H
#define JHOT_SAMPLER_SESSION_LEASE_H

#include "sampler/sampler.h"

/* Asks a session to end; the first reason counts. Any thread. */
void lease_end(struct sampler *s, enum sampler_stop why);
/* Nobody has asked it to. Any thread. */
bool lease_runs(struct sampler *s);

/* Looks whether the front end has beaten since the last look; a session that has lost it is asked to end. */
void lease_check(struct sampler *s, uint64_t now);
/* The front end is gone. Any thread. */
bool lease_lost(struct sampler *s, uint64_t now);
/* It has been heard, but not just now: it lives, and does not get to run. */
bool lease_quiet(struct sampler *s, uint64_t now);

/*
 * Waits until what another thread counts in a futex has come to `number`; false: it has not in time, or the session
 * ends. Meanwhile the lease is looked at and samples are published.
 */
bool lease_await(struct sampler *s, _Atomic uint32_t *word, uint32_t number, uint64_t timeout_ns);

#endif
