/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings over a hash index. */
#include "base/intern.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

struct intern_key {
	const struct intern *in;
	const char *text;
	size_t len;
};

static bool intern_same(const void *ctx, uint32_t value)
{
	const struct intern_key *key = ctx;
	const char *text = key->in->texts[value];

	return !strncmp(text, key->text, key->len) && !text[key->len];
}

void intern_done(struct intern *in)
{
	for (uint32_t i = 0; i < in->count; i++)
		free(in->texts[i]);
	free(in->texts);
	hash_index_done(&in->index);
	vacant_done(&in->vacant);
	memset(in, 0, sizeof(*in));
}

uint32_t intern_add(struct intern *in, const char *text, size_t len)
{
	struct intern_key key = {in, text, strnlen(text, len)};
	uint64_t hash = hash_bytes(text, key.len, 0);
	uint32_t id = hash_index_find(&in->index, hash, intern_same, &key);

	if (id != HASH_NONE)
		return id;
	id = vacant_allocate(&in->vacant, 0);
	if (id == VACANT_NONE) {
		in->texts = xgrow(in->texts, in->count, &in->cap, sizeof(*in->texts));
		id = in->count++;
	}
	in->texts[id] = xstrndup(text, key.len);
	in->bytes += key.len + 1;
	hash_index_add(&in->index, hash, id);
	return id;
}

void intern_sweep(struct intern *in, const uint64_t *keep)
{
	vacant_set(&in->vacant, keep, in->count);
	hash_index_clear(&in->index);
	for (uint32_t i = 0; i < in->count; i++) {
		size_t len = in->texts[i] ? strlen(in->texts[i]) : 0;

		if (!vacant_has(&in->vacant, i)) {
			hash_index_add(&in->index, hash_bytes(in->texts[i], len, 0), i);
		} else if (in->texts[i]) {
			in->bytes -= len + 1;
			free(in->texts[i]);
			in->texts[i] = NULL;
		}
	}
}

const char *intern_text(const struct intern *in, uint32_t id)
{
	return id < in->count && in->texts[id] ? in->texts[id] : "";
}
