/* SPDX-License-Identifier: Apache-2.0 */
/* Callers, callees, lines and threads of one method. */
#include "tui/view/callers/sandwich.h"

#include "base/buf.h"
#include "base/hash.h"
#include "profile/query/error.h"
#include "profile/table/callers.h"

#include <stdlib.h>

const struct sandwich_words sandwich_words[SANDWICH_KINDS] = {
	[SANDWICH_CALLERS] = {"CALLERS (who pays)", "[root of the stack]", "caller"},
	[SANDWICH_CALLEES] = {"CALLEES (where it goes)", "[self]", "callee"},
	[SANDWICH_LINES] = {"LINES", "", "line"},
	[SANDWICH_THREADS] = {"THREADS", "", "thread"},
};

struct build {
	const struct profile *p;
	struct sandwich *s;
	bool by_weight;
	struct hash_index index[SANDWICH_KINDS];
	uint32_t cap[SANDWICH_KINDS];
	uint64_t types[FRAME_TYPES];
};

static void add(struct build *b, enum sandwich_kind kind, uint32_t id, uint8_t type, uint64_t count,
	uint64_t value)
{
	struct sandwich_part *part = &b->s->parts[kind];
	uint32_t at = hash_index_find(&b->index[kind], hash_u64(id), NULL, NULL);

	if (at == HASH_NONE) {
		if (part->count == b->cap[kind]) {
			b->cap[kind] = b->cap[kind] ? b->cap[kind] * 2 : 16;
			part->rows = xreallocarray(part->rows, b->cap[kind], sizeof(*part->rows));
		}
		at = part->count++;
		part->rows[at] = (struct sandwich_row){.id = id, .type = type};
		hash_index_add(&b->index[kind], hash_u64(id), at);
	}
	part->rows[at].count += count;
	part->rows[at].value += value;
}

static void add_frame(struct build *b, enum sandwich_kind kind, uint32_t frame, uint8_t type,
	uint64_t count, uint64_t value)
{
	const struct profile_frame *f = profile_get_frame(b->p, frame);

	if (frame == PROFILE_NONE)
		add(b, kind, PROFILE_NONE, type, count, value);
	else
		add(b, kind, f->method, f->type, count, value);
}

static void add_sample(void *ctx, const struct callers *at)
{
	struct build *b = ctx;
	const struct profile_frame *own = profile_get_frame(b->p, at->frame);
	uint64_t count = at->count, value = b->by_weight ? at->weight : count;

	b->s->total += value;
	b->s->total_count += count;
	b->types[own->type] += count;
	add_frame(b, SANDWICH_CALLERS, at->caller, 0, count, value);
	add_frame(b, SANDWICH_CALLEES, at->callee, own->type, count, value);
	add(b, SANDWICH_THREADS, at->thread, 0, count, value);
	if (at->callee != PROFILE_NONE)
		return;
	b->s->self += value;
	b->s->self_count += count;
	if (own->line > 0)
		add(b, SANDWICH_LINES, (uint32_t)own->line, 0, count, value);
}

static int compare_row(const void *a, const void *b)
{
	const struct sandwich_row *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

struct sandwich *sandwich_new(
	const struct profile *p, const struct profile_query *q, uint32_t method)
{
	struct build b = {.p = p, .by_weight = q->by_weight};

	b.s = xcalloc(1, sizeof(*b.s));
	b.s->method = method;
	struct profile_sum sum = callers_each(p, q, method, add_sample, &b);
	b.s->sum = q->by_weight ? sum.weight : sum.count;
	b.s->sum_count = sum.count;
	b.s->samples = error_window_samples(p, q);
	for (int kind = 0; kind < SANDWICH_KINDS; kind++) {
		struct sandwich_part *part = &b.s->parts[kind];

		hash_index_done(&b.index[kind]);
		if (part->count)
			qsort(part->rows, part->count, sizeof(*part->rows), compare_row);
	}
	for (int i = 1; i < FRAME_TYPES; i++)
		b.s->type = b.types[i] > b.types[b.s->type] ? (uint8_t)i : b.s->type;
	return b.s;
}

void sandwich_free(struct sandwich *s)
{
	if (!s)
		return;
	for (int kind = 0; kind < SANDWICH_KINDS; kind++)
		free(s->parts[kind].rows);
	free(s);
}

void sandwich_rank(struct sandwich_order *o, struct sandwich *s, bool fresh, bool frozen)
{
	fresh = fresh || o->method != s->method;
	o->method = s->method;
	for (int kind = 0; kind < SANDWICH_KINDS; kind++) {
		struct sandwich_part *part = &s->parts[kind];
		struct rank_item *items = xreallocarray(NULL, part->count, sizeof(*items));
		struct sandwich_row *rows = xreallocarray(NULL, part->count, sizeof(*rows));

		for (uint32_t i = 0; i < part->count; i++)
			items[i] = (struct rank_item){part->rows[i].id, part->rows[i].count,
				(double)part->rows[i].value, i};
		rank_update(&o->ranks[kind], items, part->count, fresh, frozen);
		for (uint32_t i = 0; i < part->count; i++)
			rows[i] = part->rows[items[i].at];
		free(items);
		free(part->rows);
		part->rows = rows;
	}
}

void sandwich_order_done(struct sandwich_order *o)
{
	for (int kind = 0; kind < SANDWICH_KINDS; kind++)
		rank_done(&o->ranks[kind]);
}
