/* SPDX-License-Identifier: Apache-2.0 */
/* Which traces the front end knows, by hash: their ids. Bounded: when it is full all are forgotten. */
#ifndef JHOT_SAMPLER_PUBLISH_KNOWN_H
#define JHOT_SAMPLER_PUBLISH_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#define KNOWN_SLOTS 32768u /* a power of two; 512 kB */

struct known {
	uint64_t hash; /* 0: empty */
	uint32_t id;
	uint32_t epoch; /* entries of earlier epochs are empty */
};

struct known_traces {
	uint32_t epoch, used;
	struct known slots[KNOWN_SLOTS];
};

/* The id of the trace, 0 if it is not known. */
uint32_t known_id(const struct known_traces *known, uint64_t hash);
/* Remembers it; false when all others had to be forgotten for that. */
bool known_add(struct known_traces *known, uint64_t hash, uint32_t id);
void known_forget(struct known_traces *known);

#endif
