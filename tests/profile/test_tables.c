/* SPDX-License-Identifier: Apache-2.0 */
/* profile: the method table and the call trees against a naive implementation, on random programs. */
#include "profile/query/filter.h"
#include "profile/table/calltree.h"
#include "profile/table/flat.h"

#include "base/hash.h"
#include "tests/profile/feed.h"
#include "tests/tap.h"

#include <math.h>

/* A row of a query, with its methods leaf first. */
struct row {
	uint32_t methods[128];
	uint8_t types[128];
	uint32_t depth, thread;
	uint64_t count, weight;
};
struct rows {
	const struct profile *p;
	struct row *list;
	uint32_t count;
};

static void rows_add(void *ctx, const struct profile_part *part)
{
	uint32_t stack = part->stack;
	struct rows *rows = ctx;
	struct row *row;

	if (!(rows->count & (rows->count - 1))) /* a power of two: the array is full */
		rows->list = realloc(
			rows->list, (rows->count ? 2 * rows->count : 1) * sizeof(*rows->list));
	row = &rows->list[rows->count++];
	*row = (struct row){.thread = part->thread, .count = part->count, .weight = part->weight};
	for (; stack; stack = profile_get_stack(rows->p, stack).parent) {
		const struct profile_frame *f =
			profile_get_frame(rows->p, profile_get_stack(rows->p, stack).frame);

		row->methods[row->depth] = f->method;
		row->types[row->depth++] = f->type;
	}
}

static struct rows rows_of(const struct profile *p, const struct profile_query *q)
{
	struct rows rows = {.p = p};

	profile_each(p, q, rows_add, &rows);
	return rows;
}

/* --- flat -------------------------------------------------------------------------------------------- */

static bool row_has(const struct row *row, uint32_t method)
{
	for (uint32_t i = 0; i < row->depth; i++) {
		if (row->methods[i] == method)
			return true;
	}
	return false;
}

static bool flat_row_matches(const struct flat_row *f, const struct rows *rows, bool by_weight)
{
	uint64_t self = 0, total = 0, self_count = 0, total_count = 0, votes[FRAME_TYPES] = {0};
	uint64_t self_votes[FRAME_TYPES] = {0}, *v;

	for (uint32_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->list[i];
		uint64_t value = by_weight ? row->weight : row->count;

		if (row->depth && row->methods[0] == f->method) {
			self += value;
			self_count += row->count;
			self_votes[row->types[0]] += row->count;
		}
		if (row_has(row, f->method)) {
			total += value;
			total_count += row->count;
		}
		for (uint32_t k = 0; k < row->depth; k++)
			votes[row->types[k]] += row->methods[k] == f->method ? row->count : 0;
	}
	v = self ? self_votes : votes;
	for (int i = 0; i < FRAME_TYPES; i++) {
		if (v[i] > v[f->type])
			return false;
	}
	return f->self == self && f->total == total && f->self_count == self_count &&
	       f->total_count == total_count;
}

static bool flat_matches(const struct profile *p, const struct profile_query *q)
{
	struct rows rows = rows_of(p, q);
	struct flat *f = flat_new(p, q);
	uint64_t self = 0, sum = 0;
	bool right = true;

	for (uint32_t i = 0; i < f->count; i++) {
		right = right && flat_row_matches(&f->rows[i], &rows, q->by_weight);
		right = right && (!i || f->rows[i - 1].method < f->rows[i].method);
		self += f->rows[i].self;
	}
	for (uint32_t i = 0; i < rows.count; i++)
		sum += q->by_weight ? rows.list[i].weight : rows.list[i].count;
	right = right && sum == f->sum && self == f->sum;
	flat_free(f);
	free(rows.list);
	return right;
}

static uint32_t push(
	struct profile *p, uint32_t stack, const char *name, enum frame_type type, unsigned bci)
{
	return profile_stack_child(p, stack,
		profile_frame(p, profile_method(p, "a.B", name, "()V", ""), type, bci, 0));
}

static void test_recursion_and_trend(void)
{
	struct profile *p = profile_new();
	struct profile_query q = {.from = 1, .to = 20, .thread = PROFILE_ANY_THREAD};
	uint32_t s = push(p, 0, "fib", FRAME_COMPILED, 1), s2;
	struct flat *f;

	s = push(p, s, "fib", FRAME_COMPILED, 2);
	s = push(p, s, "other", FRAME_COMPILED, 2);
	s = push(p, s, "fib", FRAME_INTERPRETED, 2);
	s2 = push(p, s, "leaf", FRAME_NATIVE, 2);
	profile_add(p, 0, 12, s, 0, 3, 30);
	profile_add(p, 0, 19, s, 0, 4, 40);
	profile_add(p, 0, 19, s2, 0, 1, 10);
	profile_add(p, 0, 11, s, 0, 100, 0); /* older than the trend, inside the window */
	profile_add(p, 0, 19, PROFILE_ROOT_STACK, 0, 5, 50);
	f = flat_new(p, &q);
	is_int(f->count, 3, "the table has three methods");
	is_int(f->rows[0].total, 108, "recursion counts once in total");
	is_int(f->rows[0].self, 107, "self counts the top of the stack");
	is_int(f->rows[0].type, FRAME_INTERPRETED,
		"a method's type is that of most of its self samples");
	is_int(f->rows[2].type, FRAME_NATIVE, "the type of a leaf is its frame's");
	is_int(f->rows[1].self, 0, "a method that is never on top has no self samples");
	is_int(f->sum, 113, "an empty stack counts in the sum");
	ok(f->rows[0].trend[0] == 3 && f->rows[0].trend[7] == 4 && f->rows[0].trend[3] == 0,
		"the trend has the last 8 seconds, oldest first");
	flat_free(f);
	q.by_weight = true;
	f = flat_new(p, &q);
	is_int(f->rows[0].self, 70, "by_weight: values are weights");
	is_int(f->rows[0].self_count, 107, "by_weight: the sample count is still available");
	flat_free(f);
	q.event = 99;
	f = flat_new(p, &q);
	is_int(f->count, 0, "an invalid event has no rows");
	flat_free(f);
	ok(fabs(flat_half_width(10, 100) - 5.88) < 0.01,
		"10 of 100 has a half width of 5.88 points");
	ok(flat_half_width(0, 0) == 0, "0 of 0 has a half width of 0");
	profile_free(p);
}

/* --- call trees -------------------------------------------------------------------------------------- */

static bool same_name(const struct profile *p, uint32_t a, uint32_t b)
{
	return a == b || !strcmp(profile_get_method(p, a)->full, profile_get_method(p, b)->full);
}

/* The indexes of a row's frames in the order of the tree, beginning with the first level below the base. */
static uint32_t row_path(const struct row *row, const struct calltree_options *o, uint32_t *index)
{
	uint32_t n = row->depth, root = n;

	for (uint32_t i = 0; i < n; i++) {
		if (row->methods[i] == o->root_method)
			root = i; /* leaf first: the last match is the outermost */
	}
	if (o->root_method != PROFILE_NONE && root == n)
		return UINT32_MAX;
	if (o->inverted) {
		root = o->root_method == PROFILE_NONE ? 0 : root;
		for (uint32_t i = root; i < n; i++)
			index[i - root] = i;
		return n - root;
	}
	n = o->root_method == PROFILE_NONE ? n : root + 1;
	for (uint32_t i = 0; i < n; i++)
		index[i] = n - 1 - i;
	return n;
}

struct walk {
	const struct profile *p;
	const struct calltree *t;
	const struct calltree_options *o;
	struct amounts {
		uint64_t self, total, count;
	} * want; /* per node */
};

static uint32_t child_of(
	const struct walk *w, uint32_t node, uint32_t thread, uint32_t method, uint8_t type)
{
	const struct calltree_node *n = w->t->nodes;
	uint32_t c = n[node].first_child;

	for (; c != PROFILE_NONE; c = n[c].next_sibling) {
		if (thread != PROFILE_NONE && n[c].thread == thread)
			break;
		if (thread == PROFILE_NONE && n[c].method != PROFILE_NONE &&
			same_name(w->p, n[c].method, method) &&
			(!w->o->by_type || n[c].type == type))
			break;
	}
	return c;
}

static bool walk_row(struct walk *w, const struct row *row, bool by_weight)
{
	uint32_t index[128], n = row_path(row, w->o, index), node = 0;
	uint64_t value = by_weight ? row->weight : row->count;

	if (n == UINT32_MAX)
		return true;
	for (uint32_t i = 0; i <= n + w->o->threads; i++) {
		w->want[node].total += value;
		w->want[node].count += row->count;
		if (i == n + w->o->threads)
			break;
		if (!i && w->o->threads)
			node = child_of(w, node, row->thread, 0, 0);
		else
			node = child_of(w, node, PROFILE_NONE,
				row->methods[index[i - w->o->threads]],
				row->types[index[i - w->o->threads]]);
		if (node == PROFILE_NONE)
			return false;
	}
	w->want[node].self += value;
	return true;
}

/* Equal totals: the program's own (here all classes in com.*, org.* and io.*) first, then by method id. */
static bool in_order(
	const struct profile *p, const struct calltree_node *a, const struct calltree_node *b)
{
	bool own[2];

	if (a->total != b->total)
		return a->total > b->total;
	for (int i = 0; i < 2; i++) {
		uint32_t method = (i ? b : a)->method;
		const char *name =
			method == PROFILE_NONE ? "" : profile_get_method(p, method)->class_name;

		own[i] = *name && strncmp(name, "java.", 5);
	}
	return own[0] != own[1] ? own[0] : a->method <= b->method;
}

static bool links_are_valid(const struct profile *p, const struct calltree *t)
{
	const struct calltree_node *n = t->nodes;
	uint32_t reached = 1;

	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t children = 0;

		for (uint32_t c = n[i].first_child; c != PROFILE_NONE; c = n[c].next_sibling) {
			uint32_t next = n[c].next_sibling;

			if (n[c].parent != i || c <= i || n[c].depth != n[i].depth + 1)
				return false;
			if (next != PROFILE_NONE && !in_order(p, &n[c], &n[next]))
				return false;
			children++;
		}
		if (children != n[i].child_count)
			return false;
		reached += children;
	}
	return reached == t->count;
}

static bool tree_matches(
	const struct profile *p, const struct profile_query *q, const struct calltree_options *o)
{
	struct rows rows = rows_of(p, q);
	struct calltree *t = calltree_new(p, q, o);
	struct walk w = {p, t, o, calloc(t->count, sizeof(*w.want))};
	bool right = links_are_valid(p, t);

	for (uint32_t i = 0; i < rows.count && right; i++)
		right = walk_row(&w, &rows.list[i], q->by_weight);
	for (uint32_t i = 0; i < t->count && right; i++)
		right = w.want[i].self == t->nodes[i].self &&
			w.want[i].total == t->nodes[i].total &&
			w.want[i].count == t->nodes[i].total_count;
	free(w.want);
	free(rows.list);
	calltree_free(t);
	return right;
}

static void test_random(uint64_t seed)
{
	static const struct {
		struct profile_query q;
		const char *what;
	} queries[] = {
		{{.from = 0, .to = UINT32_MAX, .thread = PROFILE_ANY_THREAD}, "all"},
		{{.from = 30, .to = 40, .thread = PROFILE_ANY_THREAD}, "10 s"},
		{{.from = 30, .to = 40, .thread = 3, .by_weight = true},
			"10 s of a thread, by weight"},
		{{.from = 0, .to = 20, .thread = PROFILE_ANY_THREAD, .by_weight = true},
			"all before second 20"},
		{{.from = 90, .to = 99, .thread = PROFILE_ANY_THREAD}, "an empty window"},
	};
	struct profile *p = profile_new();
	struct feed f;

	feed_init(&f, p,
		&(struct feed_options){.seed = seed, .stacks = 300, .methods = 25, .depth = 20});
	for (uint32_t s = 0; s < 42; s++)
		feed_second(&f, s);
	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		bool right = true;

		ok(flat_matches(p, &queries[i].q),
			"seed %d: the method table of a query (%s) matches the naive sum",
			(int)seed, queries[i].what);
		for (int bits = 0; bits < 16; bits++) {
			struct calltree_options o = {
				bits & 1, bits & 2, bits & 4, PROFILE_NONE, 0, NULL};

			o.root_method = bits & 8 ? f.methods[0] : PROFILE_NONE;
			if (!tree_matches(p, &queries[i].q, &o)) {
				right = false;
				diag("wrong:%s%s%s%s", o.inverted ? " inverted" : "",
					o.threads ? " threads" : "", o.by_type ? " by type" : "",
					bits & 8 ? " root" : "");
			}
		}
		ok(right, "seed %d: 16 kinds of call tree of a query (%s) match the naive sum",
			(int)seed, queries[i].what);
	}
	feed_done(&f);
	profile_free(p);
}

/* A wait that began before the window has time in it, but no count: its thread is in the tree all the same. */
static void test_time_without_count(void)
{
	struct profile *p = profile_new();
	struct profile_query q = {.to = UINT32_MAX,
		.thread = PROFILE_ANY_THREAD,
		.event = EVENT_LOCK,
		.by_weight = true};
	struct calltree_options o = {.threads = true, .root_method = PROFILE_NONE};
	uint32_t s = push(p, push(p, 0, "run", FRAME_COMPILED, 1), "lock", FRAME_COMPILED, 2);
	struct calltree *t;

	profile_add(p, EVENT_LOCK, 3, s, 1, 0, 500);
	profile_add(p, EVENT_LOCK, 3, s, 2, 4, 300);
	profile_add(p, EVENT_LOCK, 3, s, 3, 0, 200);
	t = calltree_new(p, &q, &o);
	is_int(t->nodes[0].child_count, 3, "the tree has all three threads");
	is_int((long long)t->nodes[0].total, 1000, "the tree has the time of all three threads");
	for (uint32_t at = t->nodes[0].first_child, n = 0; at != PROFILE_NONE && n < 4; n++) {
		const struct calltree_node *child = &t->nodes[t->nodes[at].first_child];

		ok(child->parent == at && child->total == t->nodes[at].total,
			"each thread's node has its own stack");
		at = t->nodes[at].next_sibling;
	}
	calltree_free(t);
	profile_free(p);
}

/* Sums are cached for the next query: not for a different one, and not when the data has changed. */
static void test_cached_sums(void)
{
	struct profile *p = profile_new();
	struct profile_query all = {.to = UINT32_MAX, .thread = PROFILE_ANY_THREAD}, one = all;
	struct calltree_options o = {.root_method = PROFILE_NONE};
	struct calltree_options threads = {.threads = true, .root_method = PROFILE_NONE};
	struct calltree_options up = {.inverted = true, .root_method = PROFILE_NONE};
	struct feed f;

	one.thread = 3;
	feed_init(&f, p, &(struct feed_options){.stacks = 300});
	for (uint32_t s = 0; s < 5; s++) {
		feed_second(&f, s);
		ok(!filter_prepare_sums(p, &all, 10) && filter_prepare_sums(p, &all, 10),
			"new data is summed again, once");
		ok(flat_matches(p, &all) && tree_matches(p, &all, &o) && flat_matches(p, &all),
			"cached sums serve table and tree alike");
		ok(flat_matches(p, &one) && flat_matches(p, &all),
			"a query of one thread does not corrupt the cached sums");
		ok(tree_matches(p, &all, &threads) && flat_matches(p, &all) &&
				tree_matches(p, &one, &threads) && tree_matches(p, &one, &o),
			"a tree by threads does not corrupt the cached sums");
		ok(filter_prepare_sums(p, &all, UINT32_MAX),
			"summing little data takes no slice of its own");
		ok(tree_matches(p, &one, &up) && flat_matches(p, &one) &&
				tree_matches(p, &one, &up),
			"an inverted tree before and after a table is right");
	}
	feed_done(&f);
	profile_free(p);
}

static void test_stable_paths(void)
{
	struct profile *p = profile_new();
	struct profile_query q = {.from = 1, .to = 20, .thread = PROFILE_ANY_THREAD};
	struct calltree_options o = {.root_method = PROFILE_NONE};
	struct hash_index seen = {0};
	struct calltree *a, *b;
	struct feed f;
	uint32_t found = 0;

	feed_init(&f, p, &(struct feed_options){.stacks = 200});
	for (uint32_t s = 1; s < 20; s++)
		feed_second(&f, s);
	a = calltree_new(p, &q, &o);
	for (uint32_t s = 20; s < 40; s++)
		feed_second(&f, s);
	q.to = 40;
	b = calltree_new(p, &q, &o);
	ok(b->count >= a->count, "a wider window has no fewer nodes");
	for (uint32_t i = 0; i < a->count; i++) {
		for (uint32_t k = 0; k < b->count; k++)
			found += a->nodes[i].path == b->nodes[k].path &&
				 a->nodes[i].method == b->nodes[k].method;
	}
	is_int(found, a->count, "each path of the narrow window is found in the wider one, once");
	hash_index_done(&seen);
	calltree_free(a);
	calltree_free(b);
	feed_done(&f);
	profile_free(p);
}

static uint32_t count_from(const struct calltree *t, uint64_t min)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->count; i++)
		n += t->nodes[i].total >= min;
	return n;
}

/* Whether each node of `some` is in `all`. */
static bool same_nodes(const struct calltree *some, const struct calltree *all)
{
	uint32_t same = 0;

	for (uint32_t i = 0; i < some->count; i++) {
		const struct calltree_node *a = &some->nodes[i];

		for (uint32_t k = 0; k < all->count; k++) {
			const struct calltree_node *b = &all->nodes[k];

			same += a->path == b->path && a->method == b->method &&
				a->thread == b->thread && a->type == b->type &&
				a->stack == b->stack && a->self == b->self &&
				a->total == b->total && a->self_count == b->self_count &&
				a->total_count == b->total_count;
		}
	}
	return same == some->count;
}

static void test_pruned(void)
{
	struct profile *p = profile_new();
	struct profile_query q = {.to = UINT32_MAX, .thread = PROFILE_ANY_THREAD};
	struct calltree *all, *big;
	struct feed f;

	feed_init(&f, p, &(struct feed_options){.stacks = 500, .rate = 5000});
	feed_second(&f, 1);
	for (int bits = 0; bits < 8; bits++) {
		struct calltree_options o = {bits & 1, bits & 2, bits & 4, PROFILE_NONE, 0, NULL};
		uint64_t self = 0;
		uint32_t want;

		all = calltree_new(p, &q, &o);
		want = count_from(all, 50);
		o.min_share = 0.01;
		big = calltree_new(p, &q, &o);
		ok(big->count == want && links_are_valid(p, big),
			"options %d: exactly the nodes below 1 %% are pruned (%u of %u are kept)",
			bits, big->count, all->count);
		for (uint32_t i = 0; i < all->count; i++)
			self += all->nodes[i].total >= 50 ? all->nodes[i].self : 0;
		for (uint32_t i = 0; i < big->count; i++)
			self -= big->nodes[i].self;
		is_int(self, 0, "self of pruned nodes is not added to the kept ones");
		ok(same_nodes(big, all), "kept nodes have the same values as in the whole tree");
		calltree_free(all);
		calltree_free(big);
	}
	feed_done(&f);
	profile_free(p);
}

int main(void)
{
	test_recursion_and_trend();
	for (uint64_t seed = 1; seed <= 3; seed++)
		test_random(seed);
	test_time_without_count();
	test_cached_sums();
	test_stable_paths();
	test_pruned();
	return tap_done();
}
