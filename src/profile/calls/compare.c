/* SPDX-License-Identifier: Apache-2.0 */
/* Two sides of calls as profiles in groups, their diff, and its call tree. */
#include "profile/calls/compare.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/java_name.h"
#include "profile/calls/own.h"
#include "profile/calls/pieces.h"
#include "profile/calls/report.h"
#include "profile/table/calltree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS      6
#define GROUPS_FROM 4u /* with fewer calls, a side is one group */
#define NODE_LEAST  0.005
#define NAME_BYTES  512

struct compare {
	const struct profile *from;
	const struct calls_query *q;
	struct profile *to; /* second: group, A before B */
	struct call_pieces pieces;
	struct hash_index stacks; /* of `from`, with a state: its stack in `to` */
	uint32_t calls[DIFF_SIDES], seen[DIFF_SIDES];
	double ns[DIFF_SIDES];
};

static int side_of(const struct calls_query *q, const struct call *call)
{
	return calls_in_range(q, call) ? DIFF_B : DIFF_A;
}

static uint32_t groups_of(const struct compare *c, int side)
{
	uint32_t calls = c->calls[side];

	return calls < GROUPS_FROM ? 1 : calls < GROUPS ? calls : GROUPS;
}

/* --- stacks ------------------------------------------------------------------------------------ */

/* The name of a leaf: class and method of the place, and the state. */
static void place_text(const struct profile_method *m, enum call_state state, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%.*s [%s]", NAME_BYTES - 32, m->name, call_state_names[state]);
}

/* The stack from the measured method down to the place, its callees of the JDK and of languages omitted. */
static uint32_t compare_stack(struct compare *c, uint32_t stack, enum call_state state)
{
	uint32_t chain[PROFILE_DEPTH_MAX], depth = 0, begin = 0, to = PROFILE_ROOT_STACK;
	uint32_t place = calls_place(c->from, stack);
	const struct profile_method *m;
	char name[NAME_BYTES];

	for (; stack != PROFILE_ROOT_STACK && depth < PROFILE_DEPTH_MAX;) {
		struct profile_stack s = profile_get_stack(c->from, stack);
		const struct profile_frame *f = profile_get_frame(c->from, s.frame);
		bool measured = calls_pattern_matches(
			calls_name(c->from), profile_get_method(c->from, f->method)->full);

		if (measured || (f->type != FRAME_WAITS && profile_frame_own(c->from, s.frame)))
			chain[depth++] = f->method;
		begin = measured ? depth : begin;
		stack = s.parent;
	}
	for (uint32_t i = begin ? begin : depth; i-- > 0;) {
		m = profile_get_method(c->from, chain[i]);
		to = profile_stack_child(c->to, to,
			profile_frame(c->to,
				profile_method(c->to, m->class_name, m->name, "", m->module),
				FRAME_JAVA, 0xffff, 0));
	}
	m = profile_get_method(c->from, place);
	place_text(m, state, name);
	return profile_stack_child(c->to, to,
		profile_frame(c->to, profile_method(c->to, m->class_name, name, "", m->module),
			FRAME_WAITS, 0xffff, 0));
}

/* Parts are many, their stacks few. */
static uint32_t compare_stack_of(struct compare *c, const struct call_part *part)
{
	uint64_t hash = hash_u64((uint64_t)part->stack * CALL_STATES + part->state);
	uint32_t to = hash_index_find(&c->stacks, hash, NULL, NULL);

	if (to == HASH_NONE) {
		to = compare_stack(c, part->stack, part->state);
		hash_index_add(&c->stacks, hash, to);
	}
	return to;
}

/* --- sides ------------------------------------------------------------------------------------- */

static void count_call(void *ctx, const struct call *call)
{
	struct compare *c = ctx;
	int side = side_of(c->q, call);

	c->calls[side]++;
	c->ns[side] += (double)call_duration_ns(call);
}

static void compare_call(void *ctx, const struct call *call)
{
	struct compare *c = ctx;
	int side = side_of(c->q, call);
	/* Calls of one time have common causes, so groups are spans of time. */
	uint32_t group =
		(uint32_t)((uint64_t)c->seen[side]++ * groups_of(c, side) / c->calls[side]);
	uint32_t count;
	struct call_part *parts = call_parts(c->from, call, &count);

	group += side == DIFF_B ? groups_of(c, DIFF_A) : 0;
	for (uint32_t i = 0; i < count; i++) {
		struct call_piece piece = {
			.second = group, .count = 1, .ns = parts[i].to_ns - parts[i].from_ns};

		if (parts[i].to_ns <= parts[i].from_ns)
			continue;
		piece.stack = compare_stack_of(c, &parts[i]);
		/* A rest of many intervals may have one poll. Only a side of one group needs polls as independent samples. */
		if (groups_of(c, side) > 1 && calls_interval(c->from))
			piece.count += (uint32_t)(piece.ns / calls_interval(c->from));
		call_pieces_add(&c->pieces, &piece);
	}
	free(parts);
}

static struct diff *compare_diff(struct compare *c)
{
	struct diff_question *question = xcalloc(1, sizeof(*question));
	struct diff *diff;
	uint32_t group = 0;

	question->mode = DIFF_SHARE;
	for (int side = 0; side < DIFF_SIDES; side++)
		for (uint32_t i = 0; i < groups_of(c, side); i++, group++) {
			struct diff_run *run = &question->runs[side][question->counts[side]++];

			run->profile = c->to;
			run->query = profile_whole(EVENT_WALL);
			run->query.by_weight = true;
			run->query.from = group;
			run->query.to = group + 1;
		}
	diff = diff_new(question, NULL);
	free(question);
	return diff;
}

/* --- the tree ---------------------------------------------------------------------------------- */

/* By method: its row of the diff; NULL: none. The caller frees it. */
static const struct diff_row **rows_by_method(const struct diff *d)
{
	const struct diff_row **rows = xcalloc(profile_method_count(d->both) + 1ull, sizeof(*rows));

	for (uint32_t i = 0; i < d->count; i++)
		rows[d->rows[i].method] = &d->rows[i];
	return rows;
}

/* Significance of a node: of its method in all places, if that differs in the same direction. */
static bool node_is_sure(const struct diff_row *row, const struct calls_node *node)
{
	const struct diff_value *v = !row ? NULL : node->place ? &row->self : &row->total;

	return v && v->sure && fabs(node->slow - node->other) > CALLS_DIFFERS &&
	       (diff_delta(v) > 0) == (node->slow > node->other);
}

static enum call_state state_of_place(const struct profile_method *m)
{
	const char *text = strrchr(m->name, '[');
	size_t bytes = text ? strcspn(text + 1, "]") : 0;

	for (unsigned s = 0; s < CALL_STATES; s++)
		if (text && strlen(call_state_names[s]) == bytes &&
			!strncmp(text + 1, call_state_names[s], bytes))
			return s;
	return CALL_SHORT;
}

/* Shares of side A by path. */
static void shares_of(const struct calltree *t, struct hash_index *paths)
{
	for (uint32_t i = 0; i < t->count; i++)
		hash_index_add(paths, t->nodes[i].path, i);
}

static void compare_tree(struct calls_comparison *c)
{
	static const struct calltree_options options = {.root_method = PROFILE_NONE};
	const struct profile *p = c->diff->both;
	struct calltree *b = calltree_new(p, &c->diff->query[DIFF_B], &options);
	struct calltree *a = calltree_new(p, &c->diff->query[DIFF_A], &options);
	const struct diff_row **rows = rows_by_method(c->diff);
	struct hash_index paths = {0};
	double all_a = (double)a->nodes[0].total, all_b = (double)b->nodes[0].total;

	shares_of(a, &paths);
	c->nodes = xcalloc(b->count, sizeof(*c->nodes));
	for (uint32_t at = calltree_next(b, 0); at != PROFILE_NONE; at = calltree_next(b, at)) {
		const struct calltree_node *n = &b->nodes[at];
		uint32_t other = hash_index_find(&paths, n->path, NULL, NULL);
		struct calls_node *node = &c->nodes[c->count];

		*node = (struct calls_node){.method = n->method,
			.depth = n->depth - 1u,
			.place = n->type == FRAME_WAITS,
			.slow = all_b > 0 ? (double)n->total / all_b : 0,
			.other = other != HASH_NONE && all_a > 0
					 ? (double)a->nodes[other].total / all_a
					 : 0};
		if (node->place)
			node->state = state_of_place(profile_get_method(p, n->method));
		node->sure = node_is_sure(rows[n->method], node);
		c->count += node->slow >= NODE_LEAST;
	}
	hash_index_done(&paths);
	free(rows);
	calltree_free(a);
	calltree_free(b);
}

/* --- all of it --------------------------------------------------------------------------------- */

struct calls_comparison *calls_compare(const struct profile *p, const struct calls_query *q)
{
	struct calls_query all = *q;
	struct compare c = {.from = p, .q = q};
	struct calls_comparison *out = NULL;

	all.min_ns = all.max_ns = 0;
	calls_each(p, &all, count_call, &c);
	if (!c.calls[DIFF_A] || !c.calls[DIFF_B])
		return NULL;
	c.to = profile_new();
	calls_each(p, &all, compare_call, &c);
	call_pieces_feed(&c.pieces, c.to, 0);
	out = xcalloc(1, sizeof(*out));
	out->slow_calls = c.calls[DIFF_B];
	out->other_calls = c.calls[DIFF_A];
	out->slow_ns = c.ns[DIFF_B] / c.calls[DIFF_B];
	out->other_ns = c.ns[DIFF_A] / c.calls[DIFF_A];
	out->diff = compare_diff(&c);
	hash_index_done(&c.stacks);
	profile_free(c.to);
	if (out->diff) {
		compare_tree(out);
		return out;
	}
	free(out);
	return NULL;
}

void calls_comparison_free(struct calls_comparison *c)
{
	if (!c)
		return;
	diff_free(c->diff);
	free(c->nodes);
	free(c);
}

bool calls_comparison_confirms(
	const struct calls_comparison *c, const struct profile *p, const struct calls_cause *cause)
{
	const struct profile_method *m = profile_get_method(p, calls_place(p, cause->stack));
	struct buf class_name = {0}, folded = {0};
	char name[NAME_BYTES];
	bool sure = false;

	place_text(m, cause->state, name);
	java_name_fold(&class_name, m->class_name);
	if (*m->class_name)
		java_name_fold(&folded, name);
	else
		native_name_fold(&folded, name);
	for (uint32_t i = 0; c && i < c->diff->count; i++) {
		const struct diff_row *row = &c->diff->rows[i];
		const struct profile_method *of = profile_get_method(c->diff->both, row->method);

		if (row->self.sure && diff_delta(&row->self) > 0 &&
			!strcmp(of->name, buf_str(&folded)) &&
			!strcmp(of->class_name, buf_str(&class_name)))
			sure = true;
	}
	buf_done(&class_name);
	buf_done(&folded);
	return sure;
}
