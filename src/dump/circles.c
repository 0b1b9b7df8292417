/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of threads that wait for each other. */
#include "dump/dump.h"

/* Index of the owner of the lock that thread i waits for; count: unknown or none. */
static uint32_t owner_of(const struct dump *d, uint32_t i)
{
	const struct dump_lock *lock = &d->threads[i].lock;
	uint32_t k = 0;

	if (!lock->what || !lock->owner)
		return d->count;
	while (k < d->count && d->threads[k].tid != lock->owner_tid)
		k++;
	return k == i ? d->count : k;
}

uint32_t dump_circle(const struct dump *d, uint32_t first, uint32_t *list, uint32_t most)
{
	uint32_t at = first, n = 0;

	do {
		if (n == most || at < first)
			return 0; /* a cycle through a lower index is found from there */
		list[n++] = at;
		at = owner_of(d, at);
	} while (at < d->count && at != first);
	return at == first ? n : 0;
}
