/* SPDX-License-Identifier: Apache-2.0 */
/* Entries by their bytes, one behind the other. */
#include "export/table.h"

#include <stdlib.h>
#include <string.h>

struct table_key {
	const struct table *t;
	const void *bytes;
	size_t len;
};

const char *table_get(const struct table *t, uint32_t number, size_t *len)
{
	size_t begin = number ? t->ends[number - 1] : 0;

	*len = t->ends[number] - begin;
	return buf_str(&t->bytes) + begin;
}

static bool table_same(const void *ctx, uint32_t value)
{
	const struct table_key *key = ctx;
	size_t len;
	const char *bytes = table_get(key->t, value, &len);

	return len == key->len && !memcmp(bytes, key->bytes, len);
}

uint32_t table_put(struct table *t, const void *bytes, size_t len)
{
	struct table_key key = {t, bytes, len};
	uint64_t hash = hash_bytes(bytes, len, 0);
	uint32_t number = hash_index_find(&t->index, hash, table_same, &key);

	if (number != HASH_NONE)
		return number;
	t->ends = xgrow(t->ends, t->count, &t->cap, sizeof(*t->ends));
	buf_add(&t->bytes, bytes, len);
	t->ends[t->count] = t->bytes.len;
	hash_index_add(&t->index, hash, t->count);
	return t->count++;
}

void table_done(struct table *t)
{
	hash_index_done(&t->index);
	buf_done(&t->bytes);
	free(t->ends);
}
