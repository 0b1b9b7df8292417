/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The publisher: the bare thread that runs a session from its beginning to its end.
 *
 * It never enters the VM, so that no safepoint stops it: commands, lease, scans, publications. One
 * session at a time; a new one waits in its own publisher until the one before has left.
 */
#ifndef JHOT_SAMPLER_SESSION_PUBLISHER_H
#define JHOT_SAMPLER_SESSION_PUBLISHER_H

#include "sampler/sampler.h"

/*
 * publisher_start: the session's thread. take: end the session that there is. 0, AGENT_BUSY when a
 * living one is there and take is not set, AGENT_NO_THREAD; the sampler is the caller's again
 * unless 0.
 */
int publisher_start(struct sampler *s, bool take);

/*
 * publisher_await: wait until what another thread counts in a futex has come to `number`; false: it has not in time, or
 * the session ends. Meanwhile the lease is looked at and samples are published. Publisher only.
 */
bool publisher_await(
	struct sampler *s, _Atomic uint32_t *word, uint32_t number, uint64_t timeout_ns);

/*
 * publisher_at_exit: see to it that a session that lives when the process exits publishes what it has:
 * a function for exit() to call, once.
 */
void publisher_at_exit(void);

#endif
