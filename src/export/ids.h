/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids 0, 1, 2, ... for the entries of a table in a file, in the order of their first use: equal
 * keys have the same id.
 *
 * Keys are arbitrary bytes, such as a finished protobuf message, or 64-bit integers; one table has
 * keys of one kind. Lookups are O(1). Embedded: zero-initialize, ids_done. One thread.
 */
#ifndef JHOT_EXPORT_IDS_H
#define JHOT_EXPORT_IDS_H

#include "base/buf.h"
#include "base/hash.h"

#define IDS_NONE HASH_NONE

struct ids {
	struct hash_index index;
	struct buf bytes; /* all keys */
	size_t *ends;     /* by id: where in bytes the key ends */
	uint32_t count, cap;
};

/* The key's id, a new one if it has none yet. */
uint32_t ids_of(struct ids *t, const void *key, size_t len);
/* The same for an integer. *is_new: it had no id. */
uint32_t ids_of_u64(struct ids *t, uint64_t key, bool *is_new);
/* The integer's id, or IDS_NONE. */
uint32_t ids_find_u64(const struct ids *t, uint64_t key);
/* The key, valid until the table changes. */
const char *ids_key(const struct ids *t, uint32_t id, size_t *len);
/* Frees everything; the table is empty and may be used again. */
void ids_done(struct ids *t);

#endif
