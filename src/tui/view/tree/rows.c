/* SPDX-License-Identifier: Apache-2.0 */
/* Flattening a call tree. */
#include "tui/view/tree/inside.h"

#include "base/buf.h"
#include "profile/table/rank.h"

#include <stdlib.h>

#define FOLD_FROM 3 /* unbranched frames that are folded into one row */
#define LEVELS    64
#define OPEN_MAX  20000 /* rows that one key press may expand */

struct tree_sibling {
	uint64_t parent;
	struct rank rank;
	uint32_t pass; /* last pass that used it */
};

/* --- sets of paths ----------------------------------------------------------------------------------- */

static uint32_t path_find(const struct path_set *s, uint64_t path)
{
	return hash_index_find(&s->index, hash_u64(path), NULL, NULL);
}

static bool path_has(const struct path_set *s, uint64_t path)
{
	return path_find(s, path) != HASH_NONE;
}

static void path_add(struct path_set *s, uint64_t path)
{
	if (path_has(s, path))
		return;
	s->paths = xgrow(s->paths, s->count, &s->cap, sizeof(*s->paths));
	s->paths[s->count] = path;
	hash_index_add(&s->index, hash_u64(path), s->count++);
}

/* Rebuilds the index: only key presses call this. */
static void path_remove(struct path_set *s, uint64_t path)
{
	uint32_t at = path_find(s, path);

	if (at == HASH_NONE)
		return;
	s->paths[at] = s->paths[--s->count];
	hash_index_clear(&s->index);
	for (uint32_t i = 0; i < s->count; i++)
		hash_index_add(&s->index, hash_u64(s->paths[i]), i);
}

static void path_done(struct path_set *s)
{
	hash_index_done(&s->index);
	free(s->paths);
}

void tree_rows_done(struct tree_rows *r)
{
	for (uint32_t i = 0; i < r->sibling_count; i++)
		rank_done(&r->siblings[i].rank);
	free(r->siblings);
	hash_index_done(&r->sibling_index);
	free(r->rows);
	path_done(&r->open);
	path_done(&r->unfolded);
}

/* --- children ---------------------------------------------------------------------------------------- */

static const struct calltree_node *node_at(const struct tree_view *v, uint32_t node)
{
	return &v->tree->nodes[node];
}

/* The number of visible children. They come first, since children are sorted by total. */
static uint32_t shown_children(const struct tree_view *v, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t c = node_at(v, node)->first_child; c != PROFILE_NONE;
		c = node_at(v, c)->next_sibling) {
		if (node_at(v, c)->total < v->hide_below || !node_at(v, c)->total)
			break;
		n++;
	}
	return n;
}

/* The only visible child of an unbranched node, or PROFILE_NONE. */
static uint32_t only_child(const struct tree_view *v, uint32_t node)
{
	const struct calltree_node *n = node_at(v, node);

	if (n->self >= v->hide_below && n->self)
		return PROFILE_NONE;
	return shown_children(v, node) == 1 ? n->first_child : PROFILE_NONE;
}

/* The n visible children in their stable order. The caller frees the result. */
static uint32_t *ordered_children(
	struct tree_rows *r, const struct tree_view *v, uint32_t node, uint32_t n)
{
	struct rank_item *items = xreallocarray(NULL, n, sizeof(*items));
	uint32_t *children = xreallocarray(NULL, n, sizeof(*children));
	uint32_t child = node_at(v, node)->first_child;
	uint64_t parent = node_at(v, node)->path;
	uint32_t at = hash_index_find(&r->sibling_index, hash_u64(parent), NULL, NULL);

	if (at == HASH_NONE) {
		r->siblings =
			xgrow(r->siblings, r->sibling_count, &r->sibling_cap, sizeof(*r->siblings));
		at = r->sibling_count++;
		r->siblings[at] = (struct tree_sibling){.parent = parent};
		hash_index_add(&r->sibling_index, hash_u64(parent), at);
	}
	r->siblings[at].pass = r->pass;
	for (uint32_t i = 0; i < n; i++) {
		const struct calltree_node *c = node_at(v, child);
		double key = (double)c->total + (calltree_own(v->profile, c) ? 0.25 : 0);

		items[i] = (struct rank_item){
			(uint32_t)(c->path ^ c->path >> 32), c->total_count, key, child};
		child = c->next_sibling;
	}
	rank_update(&r->siblings[at].rank, items, n, v->how);
	for (uint32_t i = 0; i < n; i++)
		children[i] = items[i].at;
	free(items);
	return children;
}

/* --- rows -------------------------------------------------------------------------------------------- */

/* The number of frames from node on that can be folded: up to a branch, a leaf or a collapsed node. */
static uint32_t fold_length(const struct tree_rows *r, const struct tree_view *v, uint32_t node)
{
	uint32_t n = 0;

	if (path_has(&r->unfolded, node_at(v, node)->path))
		return 0;
	for (uint32_t at = node; path_has(&r->open, node_at(v, at)->path); n++) {
		at = only_child(v, at);
		if (at == PROFILE_NONE)
			break;
	}
	return n >= FOLD_FROM ? n : 0;
}

static void add_node(
	struct tree_rows *r, const struct tree_view *v, uint32_t node, struct tree_row row);

static void add_children(struct tree_rows *r, const struct tree_view *v, uint32_t node,
	const struct tree_row *parent, uint32_t n)
{
	uint32_t *children = ordered_children(r, v, node, n);
	struct tree_row row = {.first = true, .lines = parent->lines};

	row.level = parent->level + 1;
	if (!parent->last && parent->level < LEVELS)
		row.lines |= 1ull << parent->level;
	for (uint32_t i = 0; i < n; i++) {
		row.last = i + 1 == n;
		add_node(r, v, children[i], row);
	}
	free(children);
}

/* Adds a node and its expanded descendants: a loop over unbranched paths, recursion at branches. */
static void add_node(
	struct tree_rows *r, const struct tree_view *v, uint32_t node, struct tree_row row)
{
	bool unfolded = false; /* the rest of this path was unfolded */

	for (;;) {
		uint32_t n = shown_children(v, node), fold = 0;

		unfolded = unfolded || path_has(&r->unfolded, node_at(v, node)->path);
		if (!row.first && !unfolded)
			fold = fold_length(r, v, node);
		row.node = node;
		row.folded = fold;
		row.parent = n > 0;
		row.open = fold || (n > 0 && path_has(&r->open, node_at(v, node)->path));
		row.hidden = node_at(v, node)->child_count - (row.open ? n : 0);
		r->rows = xgrow(r->rows, r->count, &r->cap, sizeof(*r->rows));
		r->rows[r->count++] = row;
		for (; fold > 1; fold--)
			node = only_child(v, node);
		if (!row.open)
			return;
		n = shown_children(v, node);
		if (n > 1 || only_child(v, node) == PROFILE_NONE) {
			add_children(r, v, node, &row, n);
			return;
		}
		row.first = false;
		node = only_child(v, node);
	}
}

void tree_rows_build(struct tree_rows *r, const struct tree_view *v)
{
	uint32_t kept = 0, before;

	r->count = 0;
	r->pass++;
	if (v->root != PROFILE_NONE && v->root < v->tree->count)
		add_node(r, v, v->root, (struct tree_row){.first = true, .last = true});
	/* Forget the order of parents that are no longer visible. */
	before = r->sibling_count;
	for (uint32_t i = 0; i < before; i++) {
		if (r->siblings[i].pass == r->pass)
			r->siblings[kept++] = r->siblings[i];
		else
			rank_done(&r->siblings[i].rank);
	}
	r->sibling_count = kept;
	if (kept == before)
		return;
	hash_index_clear(&r->sibling_index);
	for (uint32_t i = 0; i < kept; i++)
		hash_index_add(&r->sibling_index, hash_u64(r->siblings[i].parent), i);
}

int tree_rows_find(const struct tree_rows *r, const struct calltree *t, uint64_t path)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (t->nodes[r->rows[i].node].path == path)
			return (int)i;
	return -1;
}

/* A fold contains its first node and those below it until the next row. */
int tree_rows_showing(const struct tree_rows *r, const struct calltree *t, uint32_t node)
{
	int at = -1;

	for (; node != PROFILE_NONE && at < 0; node = t->nodes[node].parent)
		at = tree_rows_find(r, t, t->nodes[node].path);
	return at;
}

/* --- opening and closing ----------------------------------------------------------------------------- */

/* An unbranched path would otherwise need a key press per frame. */
void tree_rows_open(struct tree_rows *r, const struct tree_view *v, uint32_t node)
{
	while (node != PROFILE_NONE && node_at(v, node)->child_count) {
		path_add(&r->open, node_at(v, node)->path);
		node = only_child(v, node);
	}
}

void tree_rows_open_one(struct tree_rows *r, const struct calltree *t, uint32_t node)
{
	path_add(&r->open, t->nodes[node].path);
}

void tree_rows_close(struct tree_rows *r, const struct calltree *t, uint32_t node)
{
	path_remove(&r->open, t->nodes[node].path);
	path_remove(&r->unfolded, t->nodes[node].path);
}

void tree_rows_unfold(struct tree_rows *r, const struct calltree *t, uint32_t node)
{
	path_add(&r->unfolded, t->nodes[node].path);
}

void tree_rows_open_all(struct tree_rows *r, const struct tree_view *v, uint32_t node)
{
	uint16_t depth = node_at(v, node)->depth;
	uint32_t at = node, opened = 0;

	/* Pre-order without a stack, over what is shown. */
	for (;;) {
		uint32_t next = shown_children(v, at) ? node_at(v, at)->first_child : PROFILE_NONE;

		if (next != PROFILE_NONE) {
			path_add(&r->open, node_at(v, at)->path);
			if (++opened > OPEN_MAX)
				return;
		}
		while (next == PROFILE_NONE) {
			if (at == node || node_at(v, at)->depth < depth)
				return;
			next = node_at(v, at)->next_sibling;
			if (next != PROFILE_NONE && node_at(v, next)->total < v->hide_below)
				next = PROFILE_NONE;
			if (next == PROFILE_NONE)
				at = node_at(v, at)->parent;
		}
		at = next;
	}
}

uint32_t tree_rows_open_hot(struct tree_rows *r, const struct tree_view *v, uint32_t node)
{
	while (shown_children(v, node)) {
		path_add(&r->open, node_at(v, node)->path);
		node = node_at(v, node)->first_child;
	}
	return node;
}
