/* SPDX-License-Identifier: Apache-2.0 */
/* Counting samples per method and line. */
#include "tui/view/methods/inside.h"

#include "base/buf.h"
#include "base/hash.h"

#include <stdlib.h>

struct line_count {
	uint32_t method;
	int32_t line;
	uint64_t count;
};

struct lines {
	const struct profile *p;
	struct line_count *counts;
	struct hash_index index;
	uint32_t count, cap;
	uint32_t *hottest; /* per method: index of counts + 1 */
	uint32_t methods;
};

static void visit(void *ctx, const struct profile_part *part)
{
	struct lines *l = ctx;
	const struct profile_frame *f;
	uint64_t hash;
	uint32_t at;

	if (part->stack == PROFILE_ROOT_STACK)
		return;
	f = profile_get_frame(l->p, profile_get_stack(l->p, part->stack).frame);
	if (f->line <= 0)
		return;
	hash = hash_u64((uint64_t)f->method << 32 | (uint32_t)f->line);
	at = hash_index_find(&l->index, hash, NULL, NULL);
	if (at == HASH_NONE) {
		if (l->count == l->cap) {
			l->cap = l->cap ? l->cap * 2 : 256;
			l->counts = xreallocarray(l->counts, l->cap, sizeof(*l->counts));
		}
		at = l->count++;
		l->counts[at] = (struct line_count){f->method, f->line, 0};
		hash_index_add(&l->index, hash, at);
	}
	l->counts[at].count += part->count;
}

/* Ties go to the first line, to avoid flicker. */
static bool hotter(const struct line_count *a, const struct line_count *b)
{
	return a->count != b->count ? a->count > b->count : a->line < b->line;
}

struct lines *lines_new(const struct profile *p, const struct profile_query *q)
{
	struct lines *l = xcalloc(1, sizeof(*l));

	l->p = p;
	profile_each(p, q, visit, l);
	l->methods = profile_method_count(p);
	l->hottest = xcalloc(l->methods, sizeof(*l->hottest));
	for (uint32_t i = 0; i < l->count; i++) {
		uint32_t *best = &l->hottest[l->counts[i].method];

		if (!*best || hotter(&l->counts[i], &l->counts[*best - 1]))
			*best = i + 1;
	}
	return l;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	hash_index_done(&l->index);
	free(l->counts);
	free(l->hottest);
	free(l);
}

int lines_hottest(const struct lines *l, uint32_t method)
{
	uint32_t at = l && method < l->methods ? l->hottest[method] : 0;

	return at ? l->counts[at - 1].line : 0;
}
