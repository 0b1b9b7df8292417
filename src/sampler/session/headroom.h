/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources of which the program has a limited number. The agent uses at most an eighth of what is free, counted
 * again while it samples: when the program needs more, threads lose their engines in time.
 *
 *   queued signals    RLIMIT_SIGPENDING, shared by all processes of the user      one per CPU timer
 *   maps              vm.max_map_count                                             one per perf buffer
 *   address space     RLIMIT_AS                                                    two pages per perf buffer
 *   locked memory     RLIMIT_MEMLOCK, beyond perf_event_mlock_kb                   two pages per perf buffer
 *
 * A thread that loses its perf buffer gets a CPU timer; one that loses its timer is sampled by the process's clock, from
 * Linux 6.4 on. The event's line says so. Not counted: descriptors, which the agent has a table of its own for, and the
 * agent's own threads, five at most, whose number does not grow.
 *
 * Publisher only.
 */
#ifndef JHOT_SAMPLER_SESSION_HEADROOM_H
#define JHOT_SAMPLER_SESSION_HEADROOM_H

#include "sampler/sampler.h"

/* Counts if it is due, five times a second at most, and gives back. */
void headroom_look(struct sampler *s, uint64_t now);
/* Counts now: before an event is switched on. */
void headroom_count(struct sampler *s);

#endif
