/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The publisher: the bare thread that runs a session from its beginning to its end.
 *
 * It never enters the VM, so that no safepoint stops it: commands, lease, scans, publications. One
 * session at a time; a new one waits in its own publisher until the one before has left. What it does at the beginning,
 * by a command, once a second and in turns has a file each, below.
 */
#ifndef JHOT_SAMPLER_SESSION_PUBLISHER_H
#define JHOT_SAMPLER_SESSION_PUBLISHER_H

#include "sampler/sampler.h"

#define PUBLISHER_NAME "jhot publisher"

/*
 * publisher_start: starts the session's thread, which opens what the front end waits for. take: end the session that
 * there is. 0, AGENT_BUSY when a living one is there and take is not set, AGENT_OTHER when one of another agent is,
 * AGENT_NO_THREAD, AGENT_NO_MEMFD, AGENT_NO_MEMORY. Takes ownership of the sampler. Waits 5 s at most.
 */
int publisher_start(struct sampler *s, bool take);

/*
 * publisher_at_exit: see to it that a session that lives when the process exits publishes what it has:
 * a function for exit() to call, once.
 */
void publisher_at_exit(void);

/* --- others.c ---------------------------------------------------------------------------------- */

/* Does a session of another agent live in this process? */
bool others_live(const struct sampler *s);

/* --- setup.c ----------------------------------------------------------------------------------- */

/* The beginning of a session on its own thread: what takes a few milliseconds and needs no VM. */

/*
 * Afterwards handlers may run and the status page says READY. What is degraded is in the status
 * page.
 */
void setup_session(struct sampler *s);

/* --- commands.c -------------------------------------------------------------------------------- */

/*
 * Commands of the front end: one per sequence number, copied out of the shared map before it is
 * looked at. Publisher only.
 */

/* Runs the command of this sequence number unless it is done; true when it changed something. */
bool commands_run(struct sampler *s, uint32_t seq);

/* --- budget.c ---------------------------------------------------------------------------------- */

/*
 * What sampling may cost: when it is more, the event that costs most is sampled less often, and again as often
 * as it was asked for when there is space.
 *
 * Every sample says what it stands for, so that shares and totals stay right. Publisher only.
 */

/* In thousandths of a core; 0: any. chosen: only events whose interval was left to the agent count, and are lengthened. */
void budget_set(struct sampler *s, uint32_t per_mille, bool chosen);

/* Looks once a second. cost_ns: the CPU time of all that the agent has done. */
void budget_check(struct sampler *s, uint64_t now_ns, uint64_t cost_ns);

/* --- renames.c --------------------------------------------------------------------------------- */

/*
 * Names that change. Each Java thread's java.lang.Thread is looked at by loads ten times a second, more seldom where
 * there are thousands: a handful, as long as nothing has moved. The thread then goes on under a new id, so that what
 * was sampled before keeps its name. Publisher only.
 */

void renames_tick(struct sampler *s, uint64_t now);

#endif
