/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's memory: the map that it shares with the front end, one private mapping, and parts that only some events
 * need. Publisher only, but for sampler_new.
 */
#ifndef JHOT_SAMPLER_SESSION_MEMORY_H
#define JHOT_SAMPLER_SESSION_MEMORY_H

#include "sampler/sampler.h"

/* All memory and the memfd. 0 or an AGENT_* result. vm: "name version" for the header. */
int sampler_new(const char *token, const char *vm, struct sampler **out);
/* Zeroed memory for one who needs it from now on to the session's end; NULL: there is none. */
void *sampler_part_new(struct sampler *s, size_t bytes);
/* Bytes that the session holds, without those of events. */
uint64_t sampler_memory(const struct sampler *s);
/* What the front end sees of it; the rest works on without it. */
void sampler_unshare(struct sampler *s);
/* Unmaps everything. Nobody may use it any more: see rooms.h. */
void sampler_free(struct sampler *s);

#endif
