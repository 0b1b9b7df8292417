/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers 1, 2, 3 ... for whatever a file has tables of, in the order in which it is first used.
 *
 * Keys are any 64 bits. Embedded: zero-initialise, numbers_done. One thread.
 */
#ifndef JHOT_EXPORT_NUMBERS_H
#define JHOT_EXPORT_NUMBERS_H

#include "base/hash.h"

struct numbers {
	struct hash_index index;
	uint64_t *keys; /* of number n: keys[n - 1] */
	uint32_t count, cap;
};

/* The key's number; *fresh: it had none before. */
uint32_t numbers_of(struct numbers *n, uint64_t key, bool *fresh);
void numbers_done(struct numbers *n);

#endif
