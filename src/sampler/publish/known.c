/* SPDX-License-Identifier: Apache-2.0 */
/* An open-addressing hash table that a new epoch empties in O(1). */
#include "sampler/publish/state.h"

#include <stddef.h>

#define KNOWN_PROBES 16u

/* The slot of the hash, or the one it can be inserted into; NULL when all probes are occupied. */
static const struct known *known_find(const struct known_traces *known, uint64_t hash)
{
	for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
		const struct known *k =
			&known->slots[((uint32_t)(hash >> 20) + i) & (KNOWN_SLOTS - 1)];

		if (k->epoch != known->epoch || k->hash == hash)
			return k;
	}
	return NULL;
}

uint32_t known_id(const struct known_traces *known, uint64_t hash)
{
	const struct known *k = known_find(known, hash);

	return k && k->epoch == known->epoch ? k->id : 0;
}

bool known_add(struct known_traces *known, uint64_t hash, uint32_t id)
{
	const struct known *k = known_find(known, hash);
	bool fits = k && known->used < KNOWN_SLOTS / 4 * 3;

	if (!fits)
		known_forget(known);
	k = known_find(known, hash);
	known->slots[k - known->slots] =
		(struct known){.hash = hash, .id = id, .epoch = known->epoch};
	known->used++;
	return fits;
}

void known_forget(struct known_traces *known)
{
	known->epoch++;
	known->used = 0;
}
