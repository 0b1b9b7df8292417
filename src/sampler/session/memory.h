/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's memory: the map that it shares with the front end, one private mapping, and parts that only some events
 * need. Publisher only, but for sampler_new.
 */
#ifndef JHOT_SAMPLER_SESSION_MEMORY_H
#define JHOT_SAMPLER_SESSION_MEMORY_H

#include "sampler/sampler.h"

/* Private memory. 0 or an AGENT_* result. vm: "name version" for the header. Any thread. */
int sampler_new(const char *token, const char *vm, struct sampler **out);
/* The memfd and its map. 0 or an AGENT_* result. */
int sampler_share(struct sampler *s);
/* Zeroed memory until the session's end; NULL: there is none. Any thread of the agent. */
void *sampler_part_new(struct sampler *s, size_t bytes);
/*
 * Bytes that the session has mapped, without those of events, and without what is touched only when it is needed: slots and tails
 * of threads that there are not, the trace table's third half.
 */
uint64_t sampler_memory(const struct sampler *s);
/* Unmaps what the front end sees and closes the memfd; the rest works on without it. */
void sampler_unshare(struct sampler *s);
/* Unmaps the private memory. Nobody may use it any more: see rooms.h. Any thread: it closes no descriptor. */
void sampler_free(struct sampler *s);

#endif
