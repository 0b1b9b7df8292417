/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the boxes from a call tree. */
#include "export/web/flame.h"

#include "base/buf.h"
#include "export/text.h"

#include <stdlib.h>
#include <string.h>

struct flame_build {
	const struct profile *p;
	bool by_weight; /* widths are weights, not counts */
	const struct flame_options *options;
	const struct calltree *t;
	struct flame *f;
	uint32_t *method_name; /* by method: id in the pool + 1, 0: none yet */
	uint32_t *name;        /* by tree node: index in names */
	uint32_t narrow;       /* FLAME_NARROW_NAME: id in the pool, then index in names */
};

#define FLAME_NARROW_NAME "[narrow frames]"

uint32_t flame_text(struct flame *f, const char *text)
{
	struct buf clean = {0};

	export_clean(&clean, text, 0, 0);
	uint32_t id = intern_add(&f->pool, buf_str(&clean), clean.len);
	buf_done(&clean);
	return id;
}

uint32_t flame_thread_text(struct flame *f, const struct profile_thread *t)
{
	struct buf text = {0};
	char label[PROFILE_LABEL];

	if (*profile_thread_label(t, "tid ", label))
		buf_printf(&text, "%s%s[%s]", t->name, *t->name ? " " : "", label);
	else
		buf_adds(&text, t->name);
	uint32_t id = flame_text(f, buf_str(&text));
	buf_done(&text);
	return id;
}

static uint32_t flame_node_text(struct flame_build *b, const struct calltree_node *n)
{
	if (n->method != PROFILE_NONE) {
		if (!b->method_name[n->method])
			b->method_name[n->method] =
				flame_text(b->f, profile_get_method(b->p, n->method)->full) + 1;
		return b->method_name[n->method] - 1;
	}
	if (n->thread == PROFILE_NONE)
		return flame_text(b->f, "all");
	return flame_thread_text(b->f, profile_get_thread(b->p, n->thread));
}

static int flame_compare_texts(const void *a, const void *b, void *ctx)
{
	const struct intern *pool = ctx;

	return strcmp(
		intern_text(pool, *(const uint32_t *)a), intern_text(pool, *(const uint32_t *)b));
}

static void flame_name_nodes(struct flame_build *b)
{
	struct flame *f = b->f;
	uint32_t *order;

	b->method_name = xcalloc(profile_method_count(b->p) + 1, sizeof(*b->method_name));
	b->name = xreallocarray(NULL, b->t->count, sizeof(*b->name));
	for (uint32_t i = 0; i < b->t->count; i++)
		b->name[i] = flame_node_text(b, &b->t->nodes[i]);
	if (b->options->min_share > 0)
		b->narrow = flame_text(f, FLAME_NARROW_NAME);
	f->name_count = f->pool.count;
	order = xreallocarray(NULL, f->name_count, sizeof(*order));
	for (uint32_t i = 0; i < f->name_count; i++)
		order[i] = i;
	qsort_r(order, f->name_count, sizeof(*order), flame_compare_texts, &f->pool);
	f->rank = xreallocarray(NULL, f->name_count, sizeof(*f->rank));
	f->names = xreallocarray(NULL, f->name_count, sizeof(*f->names));
	for (uint32_t i = 0; i < f->name_count; i++) {
		f->rank[order[i]] = i;
		f->names[i] = intern_text(&f->pool, order[i]);
	}
	for (uint32_t i = 0; i < b->t->count; i++)
		b->name[i] = f->rank[b->name[i]];
	if (b->options->min_share > 0)
		b->narrow = f->rank[b->narrow];
	free(order);
}

static int flame_compare_nodes(const void *a, const void *b, void *ctx)
{
	const struct flame_build *build = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	/* the first name on top of the stack */
	if (build->name[x] != build->name[y])
		return build->name[x] > build->name[y] ? -1 : 1;
	return x > y ? -1 : x < y;
}

/* Adds a box for the children that the tree has left out, if there are any. */
static void flame_add_narrow(struct flame_build *b, uint32_t at, uint64_t start)
{
	const struct calltree_node *nodes = b->t->nodes, *n = &nodes[at];
	struct flame_node narrow = {.name = b->narrow,
		.level = (uint16_t)(n->depth + 1),
		.type = FLAME_NARROW,
		.start = start,
		.count = n->total_count - n->self_count,
		.weight = n->total - n->self};

	for (uint32_t c = n->first_child; c != PROFILE_NONE; c = nodes[c].next_sibling) {
		narrow.count -= nodes[c].total_count;
		narrow.weight -= nodes[c].total;
	}
	narrow.self = narrow.total = b->by_weight ? narrow.weight : narrow.count;
	if (!narrow.total)
		return;
	b->f->nodes[b->f->count++] = narrow;
	if (narrow.level >= b->f->levels)
		b->f->levels = (uint16_t)(narrow.level + 1);
}

/* Pre-order with an explicit stack. A child begins where its previous sibling ends; left-out children are last. */
static void flame_place_nodes(struct flame_build *b)
{
	const struct calltree_node *nodes = b->t->nodes;
	uint32_t count = b->t->count, depth = 1;
	bool narrow = b->options->min_share > 0;
	uint32_t *stack = xreallocarray(NULL, 2 * (size_t)count, sizeof(*stack));
	/* By node: the left edge of its next child. */
	uint64_t *next = xreallocarray(NULL, count, sizeof(*next));

	b->f->nodes = xreallocarray(NULL, (size_t)count * (narrow ? 2 : 1), sizeof(*b->f->nodes));
	stack[0] = 0;
	while (depth) {
		uint32_t at = stack[--depth];
		if (at >= count) {
			flame_add_narrow(b, at - count, next[at - count]);
			continue;
		}
		next[at] = at ? next[nodes[at].parent] : 0;
		if (at)
			next[nodes[at].parent] +=
				b->by_weight ? nodes[at].total : nodes[at].total_count;
		const struct calltree_node *n = &b->t->nodes[at];
		b->f->nodes[b->f->count++] = (struct flame_node){.name = b->name[at],
			.level = n->depth,
			.type = n->method != PROFILE_NONE   ? n->type
				: n->thread != PROFILE_NONE ? FLAME_THREAD
							    : FLAME_ALL,
			.start = next[at],
			.total = b->by_weight ? n->total : n->total_count,
			.self = b->by_weight ? n->self : n->self_count,
			.count = n->total_count,
			.weight = n->total};
		if (n->depth >= b->f->levels)
			b->f->levels = (uint16_t)(n->depth + 1);
		if (narrow)
			stack[depth++] = count + at;
		uint32_t first = depth;
		for (uint32_t c = nodes[at].first_child; c != PROFILE_NONE;
			c = nodes[c].next_sibling)
			stack[depth++] = c;
		qsort_r(stack + first, depth - first, sizeof(*stack), flame_compare_nodes, b);
	}
	free(stack);
	free(next);
}

struct flame *flame_new(
	const struct profile *p, const struct profile_query *q, const struct flame_options *options)
{
	struct calltree_options tree = {.threads = options->threads,
		.inverted = options->reversed,
		.min_share = options->min_share,
		.root_method = PROFILE_NONE};
	struct profile_query by_weight = *q; /* trees by weight have counts, too */
	struct flame_build b = {.p = p,
		.by_weight = q->by_weight,
		.options = options,
		.f = xcalloc(1, sizeof(*b.f))};
	struct calltree *t;

	by_weight.by_weight = true;
	b.t = t = calltree_new(p, &by_weight, &tree);
	flame_name_nodes(&b);
	flame_place_nodes(&b);
	free(b.method_name);
	free(b.name);
	calltree_free(t);
	return b.f;
}

void flame_free(struct flame *f)
{
	if (!f)
		return;
	free(f->nodes);
	free(f->names);
	free(f->rank);
	intern_done(&f->pool);
	free(f);
}

uint64_t flame_each(const struct flame *f)
{
	uint64_t each = f->nodes[0].count ? f->nodes[0].weight / f->nodes[0].count : 0;

	for (uint32_t i = 0; i < f->count; i++) {
		if (f->nodes[i].count * each != f->nodes[i].weight)
			return 0;
	}
	return each;
}
