/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources that are limited for the program. The agent uses at most an eighth of the free amount, recounted while it
 * samples: when the program needs more, threads lose their engines in time.
 *
 *   queued signals    RLIMIT_SIGPENDING, shared by all processes of the user      one per CPU timer
 *   maps              vm.max_map_count                                             one per perf buffer
 *   address space     RLIMIT_AS                                                    two pages per perf buffer
 *   locked memory     RLIMIT_MEMLOCK, beyond perf_event_mlock_kb                   two pages per perf buffer
 *
 * A thread that loses its perf buffer gets a CPU timer; one that loses its timer is sampled by the process's clock,
 * from Linux 6.4 on. The event's line reports it. Not counted: descriptors, since the agent has its own table, and the
 * agent's threads, a constant number of at most five.
 *
 * Publisher only.
 */
#ifndef JHOT_SAMPLER_SESSION_HEADROOM_H
#define JHOT_SAMPLER_SESSION_HEADROOM_H

#include "sampler/sampler.h"

/* Recounts if it is due, at most five times a second, and releases resources beyond the share. */
void headroom_poll(struct sampler *s, uint64_t now);
/* Recounts now. Call it before switching an event on. */
void headroom_count(struct sampler *s);

/* Moves threads that switch so often that perf_events would slow them down to a CPU timer. `now` is in ns. */
void switches_poll(struct sampler *s, uint64_t now);

#endif
