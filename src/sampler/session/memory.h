/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's memory: the map it shares with the front end, one private mapping, and parts needed by some events only.
 * Publisher only, unless stated otherwise.
 */
#ifndef JHOT_SAMPLER_SESSION_MEMORY_H
#define JHOT_SAMPLER_SESSION_MEMORY_H

#include "sampler/sampler.h"

/* Maps the private memory. 0 or an AGENT_* result. vm: "name version" for the header. Any thread. */
int sampler_new(const char *token, const char *vm, struct sampler **out);
/* Creates and maps the memfd. 0 or an AGENT_* result. */
int sampler_share(struct sampler *s);
/* Allocates zeroed memory that lives until the session's end; NULL on failure. Any thread of the agent. */
void *sampler_part_new(struct sampler *s, size_t bytes);
/*
 * Bytes mapped by the session, without events' memory and without pages touched only on demand: slots and tails of
 * threads beyond the current number, the third part of the trace table.
 */
uint64_t sampler_memory(const struct sampler *s);
/* Unmaps the map shared with the front end and closes the memfd; everything else keeps working. */
void sampler_unshare(struct sampler *s);
/* Unmaps the private memory. Requires that no reference is left: see epochs.h. Any thread: it closes no descriptor. */
void sampler_free(struct sampler *s);

#endif
