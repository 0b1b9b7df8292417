/* SPDX-License-Identifier: Apache-2.0 */
/* All keys in one buffer, and a hash index of them. */
#include "export/ids.h"

#include <stdlib.h>
#include <string.h>

struct ids_wanted {
	const struct ids *t;
	const void *key;
	size_t len;
};

const char *ids_key(const struct ids *t, uint32_t id, size_t *len)
{
	size_t begin = id ? t->ends[id - 1] : 0;

	*len = t->ends[id] - begin;
	return buf_str(&t->bytes) + begin;
}

static bool ids_same(const void *ctx, uint32_t id)
{
	const struct ids_wanted *wanted = ctx;
	size_t len;
	const char *key = ids_key(wanted->t, id, &len);

	return len == wanted->len && !memcmp(key, wanted->key, len);
}

static uint32_t ids_add(struct ids *t, uint64_t hash, const void *key, size_t len)
{
	t->ends = xgrow(t->ends, t->count, &t->cap, sizeof(*t->ends));
	buf_add(&t->bytes, key, len);
	t->ends[t->count] = t->bytes.len;
	hash_index_add(&t->index, hash, t->count);
	return t->count++;
}

uint32_t ids_of(struct ids *t, const void *key, size_t len)
{
	struct ids_wanted wanted = {t, key, len};
	uint64_t hash = hash_bytes(key, len, 0);
	uint32_t id = hash_index_find(&t->index, hash, ids_same, &wanted);

	return id == HASH_NONE ? ids_add(t, hash, key, len) : id;
}

uint32_t ids_find_u64(const struct ids *t, uint64_t key)
{
	return hash_index_find(&t->index, hash_u64(key), NULL, NULL);
}

uint32_t ids_of_u64(struct ids *t, uint64_t key, bool *is_new)
{
	uint32_t id = ids_find_u64(t, key);

	*is_new = id == IDS_NONE;
	return *is_new ? ids_add(t, hash_u64(key), &key, sizeof(key)) : id;
}

void ids_done(struct ids *t)
{
	hash_index_done(&t->index);
	buf_done(&t->bytes);
	free(t->ends);
	*t = (struct ids){0};
}
