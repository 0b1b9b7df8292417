/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for tables in files. */
#include "export/numbers.h"

#include "base/buf.h"

#include <stdlib.h>

uint32_t numbers_of(struct numbers *n, uint64_t key, bool *fresh)
{
	uint32_t at = hash_index_find(&n->index, hash_u64(key), NULL, NULL);

	*fresh = at == HASH_NONE;
	if (!*fresh)
		return at + 1;
	n->keys = xgrow(n->keys, n->count, &n->cap, sizeof(*n->keys));
	n->keys[n->count] = key;
	hash_index_add(&n->index, hash_u64(key), n->count);
	return ++n->count;
}

void numbers_done(struct numbers *n)
{
	hash_index_done(&n->index);
	free(n->keys);
}
