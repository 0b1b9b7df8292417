/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The publisher: the thread that runs a session from start to end.
 *
 * It never enters the VM, so no safepoint stops it: commands, lease, scans, publications. There is one session at a
 * time; the publisher of the next one waits until its predecessor has left. Set-up, commands, the CPU budget and
 * names have files of their own, below.
 */
#ifndef JHOT_SAMPLER_SESSION_PUBLISHER_H
#define JHOT_SAMPLER_SESSION_PUBLISHER_H

#include "sampler/sampler.h"

#define PUBLISHER_NAME "jhot publisher"

/*
 * Starts the session's thread, which creates the memory that the front end waits for. replace: end a live session
 * first. Returns AGENT_OK; AGENT_BUSY when a live session exists and replace is not set; AGENT_OTHER when another agent
 * has one; AGENT_NO_THREAD, AGENT_NO_MEMFD, AGENT_NO_MEMORY or AGENT_NO_FILE_SIZE. Takes ownership of the sampler, even
 * on failure. Blocks for up to 5 s.
 */
int publisher_start(struct sampler *s, bool replace);

/*
 * Registers an exit() handler that waits briefly while a live session publishes its remaining samples. Idempotent.
 */
void publisher_at_exit(void);

/* --- setup.c ----------------------------------------------------------------------------------- */

/* The start of a session on its own thread: work that takes a few milliseconds and does not need the VM. */

/* True when a session of another agent is alive in this process. */
bool others_live(const struct sampler *s);

/* Sets the session up. Afterwards handlers may run, the state is READY, and the status page reports limitations. */
void setup_session(struct sampler *s);

/* --- commands.c -------------------------------------------------------------------------------- */

/*
 * Commands of the front end: one per sequence number, copied out of the shared map before it is validated. Publisher
 * only.
 */

/* Runs the command of this sequence number unless it has been run. True when a command was run. */
bool commands_run(struct sampler *s, uint32_t seq);

/* --- budget.c ---------------------------------------------------------------------------------- */

/*
 * Limits the cost of sampling. While the limit is exceeded, the most expensive event is sampled less often; when
 * the cost has fallen, the requested interval is restored step by step. The default budget keeps cpu at 20 Hz and wall
 * at 2 Hz at least; if that exceeds the budget, a note reports it.
 *
 * Every sample carries its weight, so shares and totals stay correct. Publisher only.
 */

/*
 * per_mille: thousandths of a core; 0: unlimited. defaults_only: only events with a default interval are counted
 * and lengthened.
 */
void budget_set(struct sampler *s, uint32_t per_mille, bool defaults_only);

/* Checks the budget, at most once a second. cost_ns: the CPU time of everything the agent has done. */
void budget_check(struct sampler *s, uint64_t now_ns, uint64_t cost_ns);

/* --- names.c ----------------------------------------------------------------------------------- */

/*
 * Renamed threads. Each Java thread's java.lang.Thread is polled by direct loads ten times a second, less often when
 * there are thousands; a poll costs a handful of loads unless an object was relocated. A renamed thread continues
 * under a new id, so that earlier samples keep the old name. Publisher only.
 */

void renames_tick(struct sampler *s, uint64_t now);

#endif
