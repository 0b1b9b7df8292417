/* SPDX-License-Identifier: Apache-2.0 */
/* The top-down call tree, by one roll-up over the stacks; sorting and linking of both kinds of tree. */
#include "profile/table/calltree.h"

#include "profile/model/fit.h"
#include "profile/query/error.h"
#include "profile/query/match.h"
#include "profile/table/calltree_build.h"

/* --- nodes ------------------------------------------------------------------------------------------- */

static uint32_t calltree_new_node(struct calltree_build *b, uint32_t parent, uint64_t path)
{
	struct calltree *t = b->tree;

	t->nodes = fit(t->nodes, &b->nodes_cap, t->count + 1, sizeof(*t->nodes));
	b->votes = fit(b->votes, &b->votes_cap, t->count + 1, sizeof(*b->votes));
	struct calltree_node *n = &t->nodes[t->count];
	*n = (struct calltree_node){.method = PROFILE_NONE,
		.thread = PROFILE_NONE,
		.stack = PROFILE_NONE,
		.parent = parent,
		.first_child = PROFILE_NONE,
		.next_sibling = PROFILE_NONE,
		.path = path};
	b->votes[t->count] = 0;
	if (parent != PROFILE_NONE) {
		n->depth = t->nodes[parent].depth;
		n->depth += n->depth < UINT16_MAX;
		t->nodes[parent].child_count++;
	}
	return t->count++;
}

uint32_t calltree_add(struct calltree_build *b, uint32_t parent, uint32_t stack)
{
	uint32_t method = model_method(b->view, stack);
	uint8_t type = model_type(b->view, stack);
	uint64_t name = b->p->methods->list[method].hash_full + (b->options->by_type ? type : 0);
	uint32_t node = calltree_new_node(b, parent, hash_pair(b->tree->nodes[parent].path, name));

	b->tree->nodes[node].method = method;
	b->tree->nodes[node].type = type;
	b->tree->nodes[node].stack = fold_export(b->fold, stack);
	return node;
}

uint32_t calltree_base(struct calltree_build *b, uint32_t thread)
{
	if (!b->options->threads)
		return 0;
	uint32_t node = calltree_new_node(b, 0, hash_pair(thread, 1));
	b->tree->nodes[node].thread = thread;
	return node;
}

/* The type is a majority vote (Boyer and Moore): exact if one type has more than half. */
void calltree_count(
	struct calltree_build *b, uint32_t node, const struct profile_sum *sum, uint8_t type)
{
	struct calltree_node *n = &b->tree->nodes[node];

	n->total += query_value(b->q, sum);
	n->total_count += sum->count;
	if (n->type == type) {
		b->votes[node] += sum->count;
	} else if (sum->count > b->votes[node]) {
		b->votes[node] = sum->count - b->votes[node];
		n->type = type;
	} else {
		b->votes[node] -= sum->count;
	}
}

/* --- top-down ---------------------------------------------------------------------------------------- */

/*
 * A stack's node is found by its path in an array; where nodes are finer than paths (by_type) or
 * cut (root_method), by a hash table.
 */
struct topdown {
	struct calltree_build *b;
	bool by_path;
	struct hash_index index;
	uint64_t *path_sum; /* NULL: nothing is omitted while building */
	double min;
	uint32_t *nearest; /* NULL, or per stack: the last of it and its callers with a node */
};

struct topdown_key {
	const struct calltree_build *b;
	uint32_t parent, key;
};

static bool topdown_same(const void *ctx, uint32_t value)
{
	const struct topdown_key *k = ctx;
	const struct calltree_node *n = &k->b->tree->nodes[value];

	return n->parent == k->parent && calltree_key(k->b, n->method, n->type) == k->key;
}

static uint32_t topdown_path(const struct topdown *td, uint32_t stack)
{
	return td->b->view->info[stack].path;
}

static uint32_t topdown_node(struct topdown *td, uint32_t parent, uint32_t stack)
{
	struct calltree_build *b = td->b;
	struct topdown_key k = {b, parent, 0};
	uint32_t *slot = &b->scratch->slot[topdown_path(td, stack)];

	if (td->by_path) {
		*slot = *slot ? *slot : calltree_add(b, parent, stack) + 1;
		return *slot - 1;
	}
	k.key = calltree_key(b, model_method(b->view, stack), model_type(b->view, stack));
	uint64_t hash = hash_u64((uint64_t)parent << 32 | k.key);
	uint32_t node = hash_index_find(&td->index, hash, topdown_same, &k);
	if (node == HASH_NONE) {
		node = calltree_add(b, parent, stack);
		hash_index_add(&td->index, hash, node);
	}
	return node;
}

static void topdown_count_base(struct topdown *td, uint32_t base, const struct profile_sum *sum)
{
	calltree_count(td->b, base, sum, 0);
	if (base)
		calltree_count(td->b, 0, sum, 0);
}

/*
 * Sums by path, so that no nodes are created for small ones. calltree_prune() removes small nodes
 * that are not paths.
 */
static void topdown_sum_paths(struct topdown *td, const uint32_t *stacks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		td->path_sum[topdown_path(td, stacks[i])] +=
			query_value(td->b->q, &td->b->scratch->stacks.sums[stacks[i]]);
}

static void topdown_clear_paths(struct topdown *td, const uint32_t *stacks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		td->path_sum[topdown_path(td, stacks[i])] = 0;
}

static bool topdown_too_small(const struct topdown *td, uint32_t stack)
{
	return td->path_sum && (double)td->path_sum[topdown_path(td, stack)] < td->min;
}

/* Adds a stack's sum to its node. PROFILE_NONE: it has none. */
static uint32_t topdown_add_stack(struct topdown *td, uint32_t base, uint32_t stack)
{
	const struct calltree_build *b = td->b;
	const struct profile_sum *sum = &b->scratch->stacks.sums[stack];
	uint32_t root = b->options->root_method;
	uint32_t parent = b->scratch->node[model_parent(b->view, stack)];

	if (root != PROFILE_NONE && parent == PROFILE_NONE && model_method(b->view, stack) == root)
		parent = base;
	if (parent == PROFILE_NONE)
		return PROFILE_NONE;
	if (parent == base && root != PROFILE_NONE)
		topdown_count_base(td, base, sum);
	if (topdown_too_small(td, stack))
		return PROFILE_NONE;
	uint32_t node = topdown_node(td, parent, stack);
	calltree_count(td->b, node, sum, model_type(b->view, stack));
	return node;
}

/*
 * Counts each omitted path that matches once, at its last ancestor in the tree, which omitted
 * stacks inherit from their parents.
 */
static void topdown_find_hidden(struct topdown *td, const uint32_t *stacks, uint32_t count)
{
	const struct calltree_build *b = td->b;
	uint32_t *node = b->scratch->node;

	for (uint32_t i = 1; i < count; i++) {
		uint32_t stack = stacks[i], path = topdown_path(td, stack);

		if (node[stack] != PROFILE_NONE)
			continue;
		node[stack] = node[model_parent(b->view, stack)];
		if (td->path_sum[path] == UINT64_MAX ||
			!match_method(b->options->find, b->p, model_method(b->view, stack)))
			continue;
		td->path_sum[path] = UINT64_MAX;
		b->tree->nodes[node[stack]].hidden_hits++;
	}
}

static uint32_t topdown_nearest(const struct topdown *td, uint32_t stack)
{
	return td->nearest ? td->nearest[stack] : stack;
}

/* Adds the sums in scratch->stacks, which are of these rows, to the tree below base. */
static void topdown_add(struct topdown *td, uint32_t base, const uint32_t *stacks, uint32_t touched,
	const struct query_row *rows, uint32_t count)
{
	struct scratch *s = td->b->scratch;
	bool cut = td->b->options->root_method != PROFILE_NONE;

	if (!touched)
		return;
	s->node[PROFILE_ROOT_STACK] = cut ? PROFILE_NONE : base;
	if (!cut)
		topdown_count_base(td, base, &s->stacks.sums[PROFILE_ROOT_STACK]);
	if (td->path_sum)
		topdown_sum_paths(td, stacks, touched);
	for (uint32_t i = 1; i < touched; i++)
		s->node[stacks[i]] = topdown_add_stack(td, base, stacks[i]);
	for (uint32_t i = 1; i < touched && td->by_path; i++)
		if (s->node[stacks[i]] != PROFILE_NONE)
			s->slot[topdown_path(td, stacks[i])] = 0;
	struct calltree_build *b = td->b;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = b->scratch->node[rows[i].stack];
		if (topdown_nearest(td, rows[i].stack) != rows[i].stack || node == PROFILE_NONE)
			continue;
		b->tree->nodes[node].self += query_value(b->q, &rows[i].sum);
		b->tree->nodes[node].self_count += rows[i].sum.count;
	}
	if (!td->path_sum)
		return;
	if (td->b->options->find)
		topdown_find_hidden(td, stacks, touched);
	topdown_clear_paths(td, stacks, touched);
}

static void topdown_add_thread(struct topdown *td, const struct query_row *rows, uint32_t count)
{
	struct calltree_build *b = td->b;
	struct tally *t = &b->scratch->stacks;
	uint32_t base = calltree_base(b, rows[0].thread), touched;

	for (uint32_t i = 0; i < count; i++)
		tally_add(t, topdown_nearest(td, rows[i].stack), rows[i].sum.count,
			rows[i].sum.weight);
	const uint32_t *stacks = sums_roll_up(b->scratch, b->view, &touched);
	topdown_add(td, base, stacks, touched, rows, count);
	tally_clear(t, stacks, touched);
	/* Remove a thread without the root method. A wait that began before the window has time but no count. */
	if (b->tree->count == base + 1 && !b->tree->nodes[base].total &&
		!b->tree->nodes[base].total_count) {
		b->tree->count--;
		b->tree->nodes[0].child_count--;
	}
}

/*
 * A path that is too small over all threads is too small in each: a thread's samples are added at
 * their nearest shown stack, of which there are few.
 */
static void topdown_find_nearest(struct topdown *td)
{
	const struct calltree_build *b = td->b;
	uint32_t count;
	const uint32_t *stacks = query_sum_up(b->p, b->q, &count);

	topdown_sum_paths(td, stacks, count);
	td->nearest = xreallocarray(NULL, b->view->trie.count, sizeof(*td->nearest));
	td->nearest[PROFILE_ROOT_STACK] = PROFILE_ROOT_STACK;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t stack = stacks[i];

		if (stack != PROFILE_ROOT_STACK)
			td->nearest[stack] = topdown_too_small(td, stack)
						     ? td->nearest[model_parent(b->view, stack)]
						     : stack;
	}
	topdown_clear_paths(td, stacks, count);
}

static void calltree_build_topdown(
	struct calltree_build *b, const struct query_row *rows, uint32_t count)
{
	const struct calltree_options *o = b->options;
	struct topdown td = {.b = b, .by_path = !o->by_type && o->root_method == PROFILE_NONE};
	uint32_t touched, to;
	struct sums_whole whole;

	if (td.by_path && o->min_share > 0) {
		whole = query_whole(b->p, b->q);
		td.min = o->min_share * (double)query_value(b->q, &whole.sum);
		td.path_sum = b->scratch->path_sum;
		if (o->threads && !o->find)
			topdown_find_nearest(&td);
	}
	if (o->threads) {
		sums_drop(b->scratch);
		for (uint32_t from = 0; from < count; from = to) {
			for (to = from + 1; to < count && rows[to].thread == rows[from].thread;)
				to++;
			topdown_add_thread(&td, rows + from, to - from);
		}
	} else {
		const uint32_t *stacks = query_sum_up(b->p, b->q, &touched);
		topdown_add(&td, 0, stacks, touched, rows, count);
	}
	hash_index_done(&td.index);
	free(td.nearest);
}

/* --- both trees -------------------------------------------------------------------------------------- */

uint32_t calltree_find(const struct calltree *t, uint64_t path)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->nodes[i].path == path)
			return i;
	return PROFILE_NONE;
}

uint32_t calltree_next(const struct calltree *t, uint32_t at)
{
	if (t->nodes[at].first_child != PROFILE_NONE)
		return t->nodes[at].first_child;
	while (at && t->nodes[at].next_sibling == PROFILE_NONE)
		at = t->nodes[at].parent;
	return t->nodes[at].next_sibling;
}

bool calltree_own(const struct profile *p, const struct calltree_node *node)
{
	return node->method != PROFILE_NONE &&
	       profile_method_own(profile_get_method(p, node->method));
}

static int calltree_compare(const void *a, const void *b, void *ctx)
{
	const struct calltree_build *build = ctx;
	const struct calltree_node *nodes = build->tree->nodes;
	const struct calltree_node *x = &nodes[*(const uint32_t *)a];
	const struct calltree_node *y = &nodes[*(const uint32_t *)b];

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (calltree_own(build->p, x) != calltree_own(build->p, y))
		return calltree_own(build->p, x) ? -1 : 1;
	if (x->method != y->method)
		return x->method < y->method ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

/* Removes nodes below min; descendants of a small node are small. */
static void calltree_prune(struct calltree *t, double min)
{
	uint32_t *new_id = xreallocarray(NULL, t->count, sizeof(*new_id)), n = 1;

	new_id[0] = 0;
	for (uint32_t i = 1; i < t->count; i++) {
		t->nodes[i].parent = new_id[t->nodes[i].parent];
		new_id[i] = PROFILE_NONE;
		if (t->nodes[i].parent == PROFILE_NONE)
			continue;
		if ((double)t->nodes[i].total < min) {
			t->nodes[t->nodes[i].parent].child_count--;
			continue;
		}
		new_id[i] = n;
		t->nodes[n++] = t->nodes[i];
	}
	t->count = n;
	free(new_id);
}

/* Sorts and links the children of each node. */
static void calltree_link(struct calltree_build *b)
{
	struct calltree *t = b->tree;
	uint32_t *order = xreallocarray(NULL, t->count, sizeof(*order));
	/* By node: the end of its children in `order`. */
	uint32_t *end = xreallocarray(NULL, t->count, sizeof(*end));
	uint32_t at = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		end[i] = at;
		at += t->nodes[i].child_count;
	}
	for (uint32_t i = 1; i < t->count; i++)
		order[end[t->nodes[i].parent]++] = i;
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t n = t->nodes[i].child_count, *child = order + end[i] - n;

		if (!n)
			continue;
		if (n > 1)
			qsort_r(child, n, sizeof(*child), calltree_compare, b);
		t->nodes[i].first_child = child[0];
		for (uint32_t k = 1; k < n; k++)
			t->nodes[child[k - 1]].next_sibling = child[k];
	}
	free(order);
	free(end);
}

/* A copy of the rows, grouped by thread; the caller frees it. */
static struct query_row *calltree_by_thread(const struct query_row *rows, uint32_t count)
{
	struct query_row *sorted = xreallocarray(NULL, count + 1, sizeof(*sorted));
	uint32_t threads = 0, at = 0, *begin;

	for (uint32_t i = 0; i < count; i++)
		threads = rows[i].thread >= threads ? rows[i].thread + 1u : threads;
	begin = xcalloc(threads + 1, sizeof(*begin));
	for (uint32_t i = 0; i < count; i++)
		begin[rows[i].thread]++;
	for (uint32_t i = 0; i < threads; i++) {
		uint32_t n = begin[i];

		begin[i] = at;
		at += n;
	}
	for (uint32_t i = 0; i < count; i++)
		sorted[begin[rows[i].thread]++] = rows[i];
	free(begin);
	return sorted;
}

struct calltree *calltree_new(const struct profile *p, const struct profile_query *q,
	const struct calltree_options *options)
{
	struct calltree_build b = {.p = p, .scratch = p->scratch, .q = q, .options = options};
	struct query_row *sorted = NULL;
	uint32_t count;

	b.tree = xcalloc(1, sizeof(*b.tree));
	b.tree->samples = error_window_samples(p, q);
	calltree_new_node(&b, PROFILE_NONE, 0);
	const struct query_row *rows =
		options->threads ? query_collect(p, q, &count) : query_ends(p, q, &count);
	b.fold = fold_of(p, q);
	b.view = fold_view(p, b.fold);
	if (options->threads)
		rows = sorted = calltree_by_thread(rows, count);
	if (options->inverted)
		calltree_build_inverted(&b, rows, count);
	else
		calltree_build_topdown(&b, rows, count);
	free(sorted);
	free(b.votes);
	if (options->min_share > 0)
		calltree_prune(b.tree, options->min_share * (double)b.tree->nodes[0].total);
	calltree_link(&b);
	return b.tree;
}

void calltree_free(struct calltree *t)
{
	if (!t)
		return;
	free(t->nodes);
	free(t);
}
