/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inverted tree, built level by level: a group is all stacks that share their last n frames.
 *
 * Each level splits every group by the next frame towards the root and moves its stacks up by one
 * frame. Stacks that then coincide are joined, so groups shrink towards the root, and a group of
 * one stack is a plain walk. Splitting is two passes over dense tables, without sorting or hashing,
 * and subtrees below min_share are never built.
 *
 * A scratch trie of reversed paths would be 60 lines shorter, but inserts every frame of every
 * stack, of which min_share omits most: at 84,000 leaves 59 to 129 ms, against 3 to 33 ms here with
 * a min_share of 0.1 %.
 */
#include "profile/table/calltree_build.h"

#include "profile/model/fit.h"

struct inverted_item {
	uint32_t stack;
	uint32_t child; /* while splitting: its part */
	struct profile_sum sum;
};

struct inverted_group {
	uint32_t node;
	uint32_t begin, end; /* of the level's items */
};

struct inverted_level {
	struct inverted_item *items;
	struct inverted_group *groups;
	uint32_t group_count, group_cap;
};

struct inverted_part {
	uint32_t key, stack; /* stack: any of its stacks */
	uint32_t items;
	struct profile_sum sum;
};

struct inverted {
	struct calltree_build *b;
	struct inverted_level now, next;
	struct inverted_part *parts; /* of the group being split */
	uint32_t part_count, part_cap;
	uint32_t *part_of; /* per key: part + 1; 0 between splits */
	uint32_t *seen;    /* per stack: node of the group it was last added to, + 1 */
	uint32_t *place;   /* per stack: its index there */
	double min;
};

static void inverted_add_group(struct inverted_level *l, struct inverted_group group)
{
	if (group.begin == group.end)
		return;
	l->groups = fit(l->groups, &l->group_cap, l->group_count + 1, sizeof(*l->groups));
	l->groups[l->group_count++] = group;
}

/* Adds a stack to a group that ends at *end, or joins it with its entry there. */
static void inverted_place(struct inverted *v, struct inverted_level *l, uint32_t node,
	uint32_t *end, uint32_t stack, const struct profile_sum *sum)
{
	if (v->seen[stack] != node + 1) {
		v->seen[stack] = node + 1;
		v->place[stack] = (*end)++;
		l->items[v->place[stack]] = (struct inverted_item){.stack = stack};
	}
	struct inverted_item *item = &l->items[v->place[stack]];
	sum_add(&item->sum, sum);
}

static void inverted_step_up(
	struct inverted *v, const struct inverted_item *item, uint32_t node, uint32_t *end)
{
	uint32_t parent = model_parent(v->b->view, item->stack);
	struct calltree_node *n = &v->b->tree->nodes[node];

	calltree_count(v->b, node, &item->sum, model_type(v->b->view, item->stack));
	if (parent != PROFILE_ROOT_STACK) {
		inverted_place(v, &v->next, node, end, parent, &item->sum);
		return;
	}
	n->self += query_value(v->b->q, &item->sum);
	n->self_count += item->sum.count;
}

/* Splits a group into groups of the next level, whose items are stored from `at` on. Returns the end of the items. */
static uint32_t inverted_split(struct inverted *v, const struct inverted_group *g, uint32_t at)
{
	struct inverted_group *child;

	const struct model_stacks *view = v->b->view;
	v->part_count = 0;
	for (uint32_t i = g->begin; i < g->end; i++) {
		struct inverted_item *item = &v->now.items[i];
		uint32_t key = calltree_key(
			v->b, model_method(view, item->stack), model_type(view, item->stack));
		if (!v->part_of[key]) {
			v->parts =
				fit(v->parts, &v->part_cap, v->part_count + 1, sizeof(*v->parts));
			v->parts[v->part_count] =
				(struct inverted_part){.key = key, .stack = item->stack};
			v->part_of[key] = ++v->part_count;
		}
		item->child = v->part_of[key] - 1;
		struct inverted_part *part = &v->parts[item->child];
		part->items++;
		sum_add(&part->sum, &item->sum);
	}
	for (uint32_t i = 0; i < v->part_count; i++)
		v->part_of[v->parts[i].key] = 0;
	child = xreallocarray(NULL, v->part_count, sizeof(*child));
	for (uint32_t i = 0; i < v->part_count; i++) {
		child[i] = (struct inverted_group){PROFILE_NONE, at, at};
		if ((double)query_value(v->b->q, &v->parts[i].sum) < v->min)
			continue;
		child[i].node = calltree_add(v->b, g->node, v->parts[i].stack);
		at += v->parts[i].items;
	}
	uint32_t first = v->next.group_count;
	for (uint32_t i = g->begin; i < g->end; i++) {
		struct inverted_group *c = &child[v->now.items[i].child];

		if (c->node != PROFILE_NONE)
			inverted_step_up(v, &v->now.items[i], c->node, &c->end);
	}
	for (uint32_t i = 0; i < v->part_count; i++)
		inverted_add_group(&v->next, child[i]);
	/* Joining left space after the last group. */
	if (v->next.group_count > first)
		at = v->next.groups[v->next.group_count - 1].end;
	free(child);
	return at;
}

/* Where the walk towards the root begins: the leaf, or the outermost occurrence of the root method. */
static uint32_t inverted_begin(const struct calltree_build *b, uint32_t stack)
{
	uint32_t root = b->options->root_method, found = PROFILE_ROOT_STACK;

	if (root == PROFILE_NONE)
		return stack;
	for (; stack != PROFILE_ROOT_STACK; stack = model_parent(b->view, stack))
		found = model_method(b->view, stack) == root ? stack : found;
	return found;
}

static void inverted_add_rows(struct inverted *v, const struct query_row *rows, uint32_t count)
{
	struct calltree_build *b = v->b;
	bool cut = b->options->root_method != PROFILE_NONE;
	uint32_t at = 0, node = 0, begin = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t stack = inverted_begin(b, rows[i].stack);

		if (cut && stack == PROFILE_ROOT_STACK)
			continue;
		if (b->options->threads &&
			(!node || b->tree->nodes[node].thread != rows[i].thread)) {
			inverted_add_group(&v->now, (struct inverted_group){node, begin, at});
			node = calltree_base(b, rows[i].thread);
			begin = at;
		}
		calltree_count(b, node, &rows[i].sum, 0);
		if (node)
			calltree_count(b, 0, &rows[i].sum, 0);
		if (stack != PROFILE_ROOT_STACK) {
			inverted_place(v, &v->now, node, &at, stack, &rows[i].sum);
			continue;
		}
		b->tree->nodes[node].self += query_value(b->q, &rows[i].sum);
		b->tree->nodes[node].self_count += rows[i].sum.count;
	}
	inverted_add_group(&v->now, (struct inverted_group){node, begin, at});
	v->min = b->options->min_share * (double)b->tree->nodes[0].total;
}

void calltree_build_inverted(struct calltree_build *b, const struct query_row *rows, uint32_t count)
{
	struct inverted v = {.b = b};

	v.now.items = xreallocarray(NULL, count + 1, sizeof(*v.now.items));
	v.next.items = xreallocarray(NULL, count + 1, sizeof(*v.next.items));
	v.part_of = xcalloc(calltree_keys(b) + 1, sizeof(*v.part_of));
	v.seen = xcalloc(b->view->trie.count, sizeof(*v.seen));
	v.place = b->scratch->node;
	inverted_add_rows(&v, rows, count);
	while (v.now.group_count) {
		uint32_t at = 0;
		v.next.group_count = 0;
		for (uint32_t i = 0; i < v.now.group_count; i++)
			at = inverted_split(&v, &v.now.groups[i], at);
		struct inverted_level done = v.now;
		v.now = v.next;
		v.next = done;
	}
	free(v.now.items);
	free(v.now.groups);
	free(v.next.items);
	free(v.next.groups);
	free(v.parts);
	free(v.part_of);
	free(v.seen);
}
