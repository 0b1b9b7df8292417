/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of a file whose entries are told apart by their bytes: equal ones get one number, counting up from 0.
 *
 * Embedded: zero-initialise, table_done. One thread.
 */
#ifndef JHOT_EXPORT_TABLE_H
#define JHOT_EXPORT_TABLE_H

#include "base/buf.h"
#include "base/hash.h"

struct table {
	struct hash_index index;
	struct buf bytes; /* of all entries */
	size_t *ends;     /* where in bytes each entry ends */
	uint32_t count, cap;
};

/* The entry's number, which is new if there was none like it. */
uint32_t table_put(struct table *t, const void *bytes, size_t len);
const char *table_get(const struct table *t, uint32_t number, size_t *len);
void table_done(struct table *t);

#endif
