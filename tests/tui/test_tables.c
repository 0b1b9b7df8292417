/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that views derive from the model: the sandwich of a method, the rows of a tree, and how weak rows are treated. */
#include "tests/profile/feed.h"
#include "tests/tap.h"
#include "tui/view/pane.h"
#include "tui/view/tree/inside.h"

static struct profile *p;
static struct profile_query query = {
	.to = UINT32_MAX, .thread = PROFILE_ANY_THREAD, .by_weight = true};

static uint32_t method(const char *name)
{
	return profile_method(p, "T", name, "()V", "");
}

/* Samples of a stack written as "a b c", root first; a method's line is 10 unless "name:line". */
static void sample(const char *stack, uint32_t second, uint32_t thread, uint32_t count)
{
	uint32_t at = PROFILE_ROOT_STACK;
	char text[256], *save = NULL;

	snprintf(text, sizeof(text), "%s", stack);
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *colon = strchr(word, ':');
		int line = colon ? atoi(colon + 1) : 10;

		if (colon)
			*colon = '\0';
		at = profile_stack_child(p, at,
			profile_frame(p, method(word), FRAME_COMPILED, (unsigned)line, line));
	}
	profile_add(p, EVENT_CPU, second, at, thread, count, count * 1000);
}

/* --- sandwich ---------------------------------------------------------------------------------------- */

/* A part as text: "name=count ..." */
static const char *part(const struct sandwich *s, enum sandwich_kind kind)
{
	static char out[512];

	out[0] = '\0';
	for (uint32_t i = 0; i < s->parts[kind].count; i++) {
		const struct pane_row *r = &s->parts[kind].rows[i];
		size_t len = strlen(out);

		if (kind >= SANDWICH_LINES)
			snprintf(out + len, sizeof(out) - len, "%u=%llu ", r->id,
				(unsigned long long)r->count);
		else
			snprintf(out + len, sizeof(out) - len, "%s=%llu ",
				r->id == PROFILE_NONE ? "-" : profile_get_method(p, r->id)->name,
				(unsigned long long)r->count);
	}
	return out;
}

static void test_sandwich(void)
{
	struct sandwich_order order = {0};
	struct sandwich *s;

	p = profile_new();
	sample("a m:1", 0, 0, 50);
	sample("b m:2", 0, 1, 30);
	sample("a m x", 0, 0, 20);
	sample("a m m y", 0, 0, 7);   /* recursion */
	sample("a m z m:3", 0, 0, 5); /* through another */
	sample("m:1", 0, 0, 3);       /* at the root */
	sample("a b", 0, 0, 100);     /* without it */
	s = sandwich_new(p, &query, method("m"));
	sandwich_rank(&order, s, RANK_SORT);
	is_str(part(s, SANDWICH_CALLERS), "a=82 b=30 -=3 ",
		"callers are those of the outermost occurrence");
	is_str(part(s, SANDWICH_CALLEES), "-=88 x=20 y=7 ",
		"callees are those of the innermost occurrence");
	is_str(part(s, SANDWICH_LINES), "1=53 2=30 3=5 ",
		"lines count samples with the method on top");
	is_str(part(s, SANDWICH_THREADS), "0=85 1=30 ", "samples are counted by thread");
	ok(s->self_count == 88 && s->total_count == 115 && s->sum_count == 215,
		"self, total and the sum of all samples are right");
	ok(s->total == 115000, "values are weights");
	sandwich_free(s);
	sandwich_order_done(&order);
	s = sandwich_new(p, &query, method("nowhere"));
	ok(s->total == 0 && !s->parts[SANDWICH_CALLERS].count,
		"a method without samples has an empty sandwich");
	sandwich_free(s);
	profile_free(p);
}

/* --- tree rows --------------------------------------------------------------------------------------- */

/* Rows as text: level, open or not, name; folds as "*n". */
static const char *rows(const struct tree_rows *r, const struct calltree *t)
{
	static char out[1024];

	out[0] = '\0';
	for (uint32_t i = 0; i < r->count; i++) {
		const struct tree_row *row = &r->rows[i];
		uint32_t m = t->nodes[row->node].method;
		size_t len = strlen(out);

		if (row->folded)
			snprintf(out + len, sizeof(out) - len, "%u*%u ", row->level, row->folded);
		else
			snprintf(out + len, sizeof(out) - len, "%u%s%s ", row->level,
				row->open     ? "-"
				: row->parent ? "+"
					      : "",
				m == PROFILE_NONE ? "all" : profile_get_method(p, m)->name);
	}
	return out;
}

static void test_tree_rows(void)
{
	struct calltree_options options = {.root_method = PROFILE_NONE};
	struct tree_rows r = {0};
	struct tree_view v = {0};
	struct calltree *t;
	uint32_t hot;

	p = profile_new();
	sample("run c1 c2 c3 c4 fork left deep", 0, 0, 60);
	sample("run c1 c2 c3 c4 fork right", 0, 0, 30);
	sample("run c1 c2 c3 c4 fork rare", 0, 0, 1);
	sample("other", 0, 0, 9);
	t = calltree_new(p, &query, &options);
	v.profile = p;
	v.tree = t;
	v.hide_below = t->nodes[0].total * 2 / 100;
	tree_rows_build(&r, &v);
	is_str(rows(&r, t), "0+all ", "a new tree is collapsed");
	tree_rows_open(&r, &v, 0);
	tree_rows_build(&r, &v);
	is_str(rows(&r, t), "0-all 1+run 1other ", "opening a node shows its children by weight");
	tree_rows_open(&r, &v, t->nodes[0].first_child);
	tree_rows_build(&r, &v);
	is_str(rows(&r, t), "0-all 1-run 1*4 1-fork 2+left 2right 1other ",
		"opening continues to the next fork; a chain is one row, rare nodes are hidden");
	ok(tree_rows_find(&r, t, t->nodes[r.rows[4].node].path) == 4, "a row is found by its path");
	tree_rows_unfold(&r, t, r.rows[2].node);
	tree_rows_build(&r, &v);
	is_str(rows(&r, t), "0-all 1-run 1-c1 1-c2 1-c3 1-c4 1-fork 2+left 2right 1other ",
		"a chain can be unfolded");
	hot = tree_rows_open_hot(&r, &v, 0);
	is_str(profile_get_method(p, t->nodes[hot].method)->name, "deep",
		"the hot path ends at the heaviest leaf");
	tree_rows_close(&r, t, r.rows[6].node);
	tree_rows_build(&r, &v);
	is_str(rows(&r, t), "0-all 1-run 1-c1 1-c2 1-c3 1-c4 1+fork 1other ",
		"closing a node hides its descendants");
	tree_rows_open_all(&r, &v, 0);
	tree_rows_build(&r, &v);
	calltree_free(t);

	/* The next second: right overtakes left by noise only, then by far. */
	sample("run c1 c2 c3 c4 fork right", 1, 0, 35);
	t = calltree_new(p, &query, &options);
	v.profile = p;
	v.tree = t;
	v.hide_below = t->nodes[0].total * 2 / 100;
	tree_rows_build(&r, &v);
	ok(strstr(rows(&r, t), "2-left 2deep 2right ") != NULL,
		"nodes stay open, and noise does not swap siblings: %s", rows(&r, t));
	calltree_free(t);
	sample("run c1 c2 c3 c4 fork right", 2, 0, 100);
	t = calltree_new(p, &query, &options);
	v.profile = p;
	v.tree = t;
	tree_rows_build(&r, &v);
	ok(strstr(rows(&r, t), "2right 2-left") != NULL, "a significant lead swaps siblings: %s",
		rows(&r, t));
	calltree_free(t);
	tree_rows_done(&r);
	profile_free(p);
}

/* A frame that is mostly its own work, and calls two others now and then, is not where the path ends. */
static void test_hot_path(void)
{
	struct calltree_options options = {.root_method = PROFILE_NONE};
	struct tree_rows r = {0};
	struct tree_view v = {0};
	struct calltree *t;
	uint32_t hot;

	p = profile_new();
	sample("run fork", 0, 0, 60);
	sample("run fork left end", 0, 0, 21);
	sample("run fork right end", 0, 0, 19);
	t = calltree_new(p, &query, &options);
	v.profile = p;
	v.tree = t;
	hot = tree_rows_open_hot(&r, &v, 0);
	tree_rows_build(&r, &v);
	is_str(profile_get_method(p, t->nodes[hot].method)->name, "end",
		"the hot path continues where it forks");
	is_str(rows(&r, t), "0-all 0-run 0-fork 1-left 1end 1+right ",
		"the hot path leads to the heaviest leaf");
	calltree_free(t);
	tree_rows_done(&r);
	profile_free(p);
}

int main(void)
{
	test_sandwich();
	test_tree_rows();
	test_hot_path();
	return tap_done();
}
