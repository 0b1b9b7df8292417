/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of random sessions, in any order (windows that advance, are frozen, go back, or are compared; all, all since an
 * anchor; events, threads, states, filters, folded forms): each result equals a naive sum over all samples, and is
 * bit-identical to that of a query without cached results.
 */
#include "profile/query/error.h"
#include "profile/query/filter.h"
#include "profile/table/calltree.h"
#include "profile/table/flat.h"
#include "tests/profile/truth.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

#define SESSIONS 40
#define NODES    (1u << 18)

/* --- sums -------------------------------------------------------------------------------------------- */

static bool sums_match(const struct session *s, const struct profile_query *q)
{
	struct profile_sum all = {0}, no_inlining = {0}, sum = profile_sum(s->p, q);

	for (uint32_t i = 0; i < s->row_count; i++) {
		const struct row *r = &s->rows[i];
		uint32_t stack = r->stack;

		while (stack != PROFILE_ROOT_STACK && !frame_is_java(frame_of(s, stack)->type))
			stack = parent_of(s, stack);
		all.count += r->count;
		all.weight += r->weight;
		if (stack == PROFILE_ROOT_STACK ||
			(frame_of(s, stack)->type != FRAME_NO_INLINING &&
				frame_of(s, stack)->type != FRAME_C1_NO_INLINING))
			continue;
		no_inlining.count += r->count;
		no_inlining.weight += r->weight;
	}
	if (sum.count != all.count || sum.weight != all.weight)
		return false;
	sum = profile_no_inlining(s->p, q);
	return sum.count == no_inlining.count && sum.weight == no_inlining.weight;
}

struct got {
	const struct session *s;
	uint32_t count;
	bool right;
};

static void check_part(void *ctx, const struct profile_part *part)
{
	struct got *g = ctx;
	const struct row *r = &g->s->rows[g->count++];

	g->right = g->right && g->count <= g->s->row_count && part->stack == r->stack &&
		   part->thread == r->thread && part->state == r->state &&
		   part->count == r->count && part->weight == r->weight;
}

static bool parts_match(const struct session *s, const struct profile_query *q)
{
	struct got g = {s, 0, true};

	profile_each(s->p, q, check_part, &g);
	return g.right && g.count == s->row_count;
}

/* --- methods ----------------------------------------------------------------------------------------- */

struct method {
	uint64_t self, total, self_count, total_count;
	double self_squares, total_squares;
	uint64_t votes[FRAME_TYPES], self_votes[FRAME_TYPES];
	bool present;
};

struct below {
	uint64_t count, value;
	double squares;
	uint32_t stack; /* with its form bits; valid if touched */
	bool touched;
};

static struct method methods[NUMBERS];
static struct below stacks[NUMBERS];

/* Whether the method occurs further up the stack. FRAME_BREAK, the reason of a broken stack, occurs only once. */
static bool repeats(const struct session *s, uint32_t stack)
{
	uint32_t method = frame_of(s, stack)->method;

	if (frame_of(s, stack)->type == FRAME_BREAK)
		return false;
	while ((stack = parent_of(s, stack)) != PROFILE_ROOT_STACK)
		if (frame_of(s, stack)->method == method)
			return true;
	return false;
}

/* The independent events of each row, in the order of profile_each; tests/profile/test_error checks their values. */
struct independent {
	double of[NUMBERS];
	uint32_t count;
};

static void independent_part(void *ctx, const struct profile_part *part)
{
	struct independent *in = ctx;

	in->of[in->count++ % NUMBERS] = part->events;
}

static void add_ends(const struct session *s, const struct profile_query *q, double *all_squares)
{
	static struct independent in;

	in.count = 0;
	profile_each(s->p, q, independent_part, &in);
	for (uint32_t i = 0; i < s->row_count; i++) {
		const struct row *r = &s->rows[i];
		struct profile_part part = {.state = r->state,
			.count = r->count,
			.weight = r->weight,
			.events = in.of[i % NUMBERS]};
		double squares = error_squares(q->event, q->by_weight, &part);
		struct below *end = &stacks[r->stack & NUMBER];
		const struct profile_frame *f = frame_of(s, r->stack);

		*all_squares += squares;
		end->squares += squares;
		end->count += r->count;
		end->value += value_of(q, r);
		for (uint32_t at = r->stack; at != PROFILE_ROOT_STACK; at = parent_of(s, at)) {
			stacks[at & NUMBER].stack = at;
			stacks[at & NUMBER].touched = true;
		}
		if (r->stack == PROFILE_ROOT_STACK)
			continue;
		methods[f->method].self += value_of(q, r);
		methods[f->method].self_count += r->count;
		methods[f->method].self_squares += squares;
		methods[f->method].self_votes[f->type] += r->count;
	}
}

static void add_totals(const struct session *s)
{
	for (uint32_t i = NUMBERS; i-- > 1;) {
		struct below *parent;

		if (!stacks[i].touched)
			continue;
		parent = &stacks[parent_of(s, stacks[i].stack) & NUMBER];
		parent->count += stacks[i].count;
		parent->value += stacks[i].value;
		parent->squares += stacks[i].squares;
	}
	for (uint32_t i = 1; i < NUMBERS; i++) {
		const struct profile_frame *f;

		if (!stacks[i].touched)
			continue;
		f = frame_of(s, stacks[i].stack);
		methods[f->method].present = true;
		methods[f->method].votes[f->type] += stacks[i].count;
		if (repeats(s, stacks[i].stack))
			continue;
		methods[f->method].total += stacks[i].value;
		methods[f->method].total_count += stacks[i].count;
		methods[f->method].total_squares += stacks[i].squares;
	}
}

/* The squares are summed in another order than in the code under test, so the last bits may differ. */
static bool is_near(double got, double want)
{
	return fabs(got - want) <= 1e-6 * fabs(want);
}

static bool row_matches(
	const struct flat *f, const struct flat_row *r, const struct method *m, double all_squares)
{
	const uint64_t *votes = m->self_count ? m->self_votes : m->votes;
	struct error_sums self = {(double)m->self, (double)f->sum, m->self_squares, all_squares};
	struct error_sums total = {(double)m->total, (double)f->sum, m->total_squares, all_squares};
	int best = 0;

	for (int i = 1; i < FRAME_TYPES; i++)
		best = votes[i] > votes[best] ? i : best;
	return r->type == best && r->self == m->self && r->total == m->total &&
	       r->self_count == m->self_count && r->total_count == m->total_count &&
	       is_near(r->self_samples, error_samples(&self)) &&
	       is_near(r->total_samples, error_samples(&total));
}

/* Whether the result is the same after another query has replaced all cached results. */
static bool is_same_uncached(
	const struct session *s, const struct profile_query *q, const struct flat *f)
{
	struct profile_query other = *q;
	struct flat *anew;
	bool same;

	other.event = (q->event + 1) % EVENT_USER_FIRST;
	profile_no_inlining(s->p, &other);
	anew = flat_new(s->p, q);
	same = anew->count == f->count && anew->sum == f->sum && anew->sum_count == f->sum_count;
	for (uint32_t i = 0; i < f->count && same; i++) {
		const struct flat_row *a = &f->rows[i], *b = &anew->rows[i];

		same = a->method == b->method && a->type == b->type && a->self == b->self &&
		       a->total == b->total && a->self_count == b->self_count &&
		       a->total_count == b->total_count && a->self_samples == b->self_samples &&
		       a->total_samples == b->total_samples &&
		       !memcmp(a->trend, b->trend, sizeof(a->trend));
	}
	flat_free(anew);
	return same;
}

static bool flat_matches(const struct session *s, const struct profile_query *q)
{
	struct flat *f = flat_new(s->p, q);
	double all_squares = 0;
	uint32_t n = 0;
	bool right = true;

	memset(methods, 0, sizeof(methods));
	memset(stacks, 0, sizeof(stacks));
	add_ends(s, q, &all_squares);
	add_totals(s);
	for (uint32_t i = 0; i < NUMBERS && right; i++) {
		if (!methods[i].present)
			continue;
		right = n < f->count && f->rows[n].method == i &&
			row_matches(f, &f->rows[n], &methods[i], all_squares);
		n++;
	}
	right = right && n == f->count && (below(4) || is_same_uncached(s, q, f));
	flat_free(f);
	return right;
}

/* --- trees ------------------------------------------------------------------------------------------- */

struct node {
	const char *name; /* NULL for a thread */
	uint32_t thread, child, next;
	uint64_t total, self, total_count, self_count;
};

static struct node nodes[NODES];
static uint32_t node_count;

static uint32_t node_below(uint32_t parent, const char *name, uint32_t thread)
{
	uint32_t at = nodes[parent].child;

	while (at && (name ? !nodes[at].name || strcmp(nodes[at].name, name) != 0
			   : nodes[at].name || nodes[at].thread != thread))
		at = nodes[at].next;
	if (at)
		return at;
	at = node_count++;
	nodes[at] = (struct node){.name = name, .thread = thread, .next = nodes[parent].child};
	return nodes[parent].child = at;
}

static void node_count_row(uint32_t node, const struct profile_query *q, const struct row *r)
{
	nodes[node].total += value_of(q, r);
	nodes[node].total_count += r->count;
}

static void add_row(const struct session *s, const struct profile_query *q, const struct row *r,
	const struct calltree_options *o)
{
	uint32_t chain[64], n = 0, at = 0;

	for (uint32_t k = r->stack; k != PROFILE_ROOT_STACK; k = parent_of(s, k))
		chain[n++] = k;
	node_count_row(0, q, r);
	if (o->threads)
		node_count_row(at = node_below(at, NULL, r->thread), q, r);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = chain[o->inverted ? i : n - 1 - i];

		at = node_below(
			at, profile_get_method(s->p, frame_of(s, k)->method)->full, PROFILE_NONE);
		node_count_row(at, q, r);
	}
	nodes[at].self += value_of(q, r);
	nodes[at].self_count += r->count;
}

/* Compares a node and all its descendants. Returns their number, 0 if any sum differs. */
static uint32_t same_nodes(
	const struct session *s, const struct calltree *t, uint32_t of, uint32_t node)
{
	const struct calltree_node *n = &t->nodes[of];
	uint32_t all = 1, at;

	if (n->total != nodes[node].total || n->self != nodes[node].self ||
		n->total_count != nodes[node].total_count ||
		n->self_count != nodes[node].self_count)
		return 0;
	for (at = n->first_child; at != PROFILE_NONE; at = t->nodes[at].next_sibling) {
		const struct calltree_node *child = &t->nodes[at];
		bool thread = child->thread != PROFILE_NONE;
		uint32_t same = same_nodes(s, t, at,
			node_below(node,
				thread ? NULL : profile_get_method(s->p, child->method)->full,
				child->thread));

		if (!same)
			return 0;
		all += same;
	}
	return all;
}

static bool tree_matches(const struct session *s, const struct profile_query *q)
{
	struct calltree_options o = {.root_method = PROFILE_NONE,
		.inverted = below(3) == 0,
		.threads = below(3) == 0,
		.min_share = (double[]){0, 0.002, 0.05}[below(3)]};
	struct calltree *t = calltree_new(s->p, q, &o);
	uint32_t want = 0;
	bool right;

	nodes[0] = (struct node){0};
	node_count = 1;
	for (uint32_t i = 0; i < s->row_count; i++)
		add_row(s, q, &s->rows[i], &o);
	for (uint32_t i = 0; i < node_count; i++)
		want += !i || (double)nodes[i].total >= o.min_share * (double)nodes[0].total;
	right = t->count == want && same_nodes(s, t, 0, 0) == want;
	calltree_free(t);
	return right;
}

/* --- questions --------------------------------------------------------------------------------------- */

static struct profile_query random_query(struct session *s)
{
	static const uint32_t windows[] = {5, 10, 30, 60, 0};
	struct profile_query q = {.event = (int)below(EVENT_USER_FIRST),
		.thread = PROFILE_ANY_THREAD,
		.by_weight = below(4) > 0};
	uint32_t seconds = windows[below(5)];

	q.to = below(3) ? s->now : s->now + 1 - (below(2) ? below(30) : 0);
	q.from = seconds && q.to > seconds ? q.to - seconds : 0;
	if (!q.from && below(2) && s->mark[q.event] < q.to)
		q.from = s->mark[q.event];
	if (below(5) == 0)
		q.thread = below(THREADS);
	else if (below(5) == 0)
		q.pool = profile_get_thread(s->p, below(THREADS))->pool;
	if (below(6) == 0)
		q.states = 1u << below(THREAD_STATES) | 1u << below(THREAD_STATES);
	if (below(3) == 0)
		q.filter = s->filter;
	return q;
}

static void change_filter(struct session *s)
{
	static const char *const texts[] = {"app.A", "fw", "m3", "libx"};

	switch (below(4)) {
	case 0: filter_set_lines(s->filter, below(2)); break;
	case 1: filter_set_hide(s->filter, below(8)); break;
	case 2: filter_pop(s->filter); break;
	default:
		if (filter_count(s->filter) < 2)
			filter_push(s->filter, below(2), texts[below(4)]);
		break;
	}
}

/* Checks some results of a query, in random order, some of them twice. Returns the name of a wrong one, or NULL. */
static const char *check_query(struct session *s, const struct profile_query *q)
{
	static const struct {
		const char *what;
		bool (*right)(const struct session *s, const struct profile_query *q);
	} parts[] = {{"sums", sums_match}, {"parts", parts_match}, {"methods", flat_matches},
		{"tree", tree_matches}};

	/* A folded form gets its stack ids from the first query. */
	profile_sum(s->p, q);
	find_rows(s, q);
	for (uint32_t n = 1 + below(6); n > 0; n--) {
		uint32_t i = below(4);

		if (!parts[i].right(s, q))
			return parts[i].what;
	}
	return NULL;
}

/* Mostly a variation of the last query: advanced or moved back, of another window, or by counts. */
static struct profile_query next_query(struct session *s)
{
	struct profile_query q = random_query(s), *last = &s->last;

	if (below(3) == 0 || !last->to)
		return *last = q;
	last->to = q.to;
	last->from = last->from && q.to > 20 ? q.to - 20 : last->from && q.to > 3 ? q.to - 3 : 0;
	if (below(8) == 0)
		last->by_weight = q.by_weight;
	return *last;
}

static void check_queries(struct session *s, const char **wrong, uint32_t *queries)
{
	for (uint32_t n = 1 + below(3); n > 0 && !*wrong; n--) {
		struct profile_query q = next_query(s);

		*wrong = check_query(s, &q);
		if (*wrong)
			diag("%s of event %d, [%u, %u) at %u, thread %d, pool %u, states %x, "
			     "by weight %d, filter %d",
				*wrong, q.event, q.from, q.to, s->now, (int)q.thread, q.pool,
				q.states, q.by_weight, q.filter != NULL);
		++*queries;
	}
}

/* --- sessions ---------------------------------------------------------------------------------------- */

static struct session *session_new(void)
{
	static struct session s;

	memset(&s, 0, sizeof(s));
	s.p = profile_new();
	s.filter = filter_new();
	filter_set_frameworks(s.filter, "fw.");
	for (uint32_t i = 0; i < EVENT_USER_FIRST; i++)
		s.truth[i].number = calloc(NUMBERS * 8 * THREAD_STATES, sizeof(uint32_t));
	for (uint32_t i = 0; i < THREADS; i++) {
		char name[32];

		snprintf(name, sizeof(name), i % 2 ? "http-%u" : "main%u-x", i);
		profile_thread_set(s.p, i, &(struct profile_thread){.name = name});
	}
	return &s;
}

static void session_free(struct session *s)
{
	for (uint32_t i = 0; i < EVENT_USER_FIRST; i++)
		free(s->truth[i].number);
	filter_free(s->filter);
	profile_free(s->p);
}

static void session_second(struct session *s)
{
	int event = (int)below(EVENT_USER_FIRST);

	profile_advance(s->p, ++s->now);
	for (uint32_t n = below(SAMPLES); n > 0; n--) {
		uint32_t late = below(10) ? 0 : below(3);

		feed(s, (int)below(EVENT_USER_FIRST), s->now > late ? s->now - late : s->now);
	}
	if (below(40) == 0) {
		s->mark[event] = s->now;
		profile_anchor(s->p, event, s->now, 0);
	}
	if (below(50) == 0)
		profile_gap(s->p, s->now - 1, s->now);
	if (below(8) == 0)
		change_filter(s);
}

static void test_session(uint32_t seed)
{
	uint32_t seconds, queries = 0;
	const char *wrong = NULL;
	struct session *s;

	rng = seed;
	s = session_new();
	seconds = seed % 3 ? 100 + below(200) : SECONDS - 1;
	while (s->now < seconds && !wrong) {
		session_second(s);
		if (below(10) == 0)
			check_queries(s, &wrong, &queries);
	}
	ok(!wrong && queries, "session %u of %u s: %u queries match a naive sum over all samples",
		seed, seconds, queries);
	session_free(s);
}

int main(void)
{
	for (uint32_t seed = 1; seed <= SESSIONS; seed++)
		test_session(seed);
	return tap_done();
}
