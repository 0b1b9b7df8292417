/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up the stacks and per method. They stay from one question to the next: where most rows of the next are those of
 * the last (a window that moves on, all until a second later), only the difference is taken up the stacks. Sums are of
 * integers, so that this is to the bit what adding all up gives.
 */
#include "profile/query/query.h"

#include "profile/model/fit.h"
#include "profile/query/error.h"

#include <math.h>

#define ROLL_UP_PART 32      /* of the stacks; from there on all are gone through */
#define CHANGES_PART 8       /* of the rows; from there on all are added up */
#define SQUARES_MOST 0x1p112 /* of one row */

/* --- up the stacks ----------------------------------------------------------------------------------- */

static void roll_up_touch_callers(struct scratch *s, const struct model_stacks *view)
{
	uint32_t n = tally_list(&s->stacks, s->ids), stack;

	for (uint32_t i = 0; i < n; i++) {
		stack = s->ids[i];
		while (stack != PROFILE_ROOT_STACK) {
			stack = model_parent(view, stack);
			if (!tally_touch(&s->stacks, stack))
				break;
		}
	}
}

/*
 * Where a long history has touched most stacks, going through all of them in order is several times cheaper
 * than finding the callers one by one.
 */
static const uint32_t *roll_up_all(
	struct scratch *s, const struct model_stacks *view, uint32_t *count)
{
	struct tally *t = &s->stacks;
	uint32_t n = view->trie.count;

	for (uint32_t i = 0; i < n; i += 64) {
		uint64_t untouched = ~t->bits[i / 64];

		for (; untouched; untouched &= untouched - 1) /* there is space for whole words */
			t->sums[i + (uint32_t)__builtin_ctzll(untouched)] =
				(struct profile_sum){0, 0};
	}
	for (uint32_t i = n; i-- > PROFILE_ROOT_STACK + 1;)
		sum_add(&t->sums[model_parent(view, i)], &t->sums[i]);
	*count = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (sum_none(&t->sums[i]) && !tally_has(t, i))
			continue;
		tally_mark(t, i);
		s->ids[(*count)++] = i;
	}
	return s->ids;
}

const uint32_t *sums_roll_up(struct scratch *s, const struct model_stacks *view, uint32_t *count)
{
	struct profile_sum *sums = s->stacks.sums;

	if (s->stacks.touched > view->trie.count / ROLL_UP_PART)
		return roll_up_all(s, view, count);
	roll_up_touch_callers(s, view);
	*count = tally_list(&s->stacks, s->ids);
	for (uint32_t i = *count; i-- > 0;)
		if (s->ids[i] != PROFILE_ROOT_STACK)
			sum_add(&sums[model_parent(view, s->ids[i])], &sums[s->ids[i]]);
	return s->ids;
}

/* --- per method ------------------------------------------------------------------------------------------- */

void by_method_done(struct by_method *m)
{
	free(m->row_of);
	free(m->sums);
	free(m->votes);
}

static void by_method_clear(struct by_method *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		m->row_of[m->sums[i].method] = 0;
	m->count = 0;
	m->known = false;
}

static void by_method_fit(struct by_method *m, uint32_t methods)
{
	m->row_of = fit_zeroed(m->row_of, &m->methods, methods, sizeof(*m->row_of));
}

static uint32_t by_method_at(struct by_method *m, uint32_t method)
{
	if (m->row_of[method])
		return m->row_of[method] - 1;
	m->sums = fit(m->sums, &m->sums_cap, m->count + 1, sizeof(*m->sums));
	m->votes = fit(m->votes, &m->votes_cap, m->count + 1, sizeof(*m->votes));
	m->sums[m->count] = (struct method_sum){.method = method};
	m->votes[m->count] = (struct method_votes){0};
	m->row_of[method] = ++m->count;
	return m->count - 1;
}

static void by_method_add_self(struct by_method *m, const struct model_stacks *view, uint32_t stack,
	const struct profile_sum *sum, query_squares squares)
{
	uint32_t at = by_method_at(m, model_method(view, stack));

	sum_add(&m->sums[at].self, sum);
	m->sums[at].self_squares += squares;
	m->votes[at].self[model_type(view, stack)] += sum->count;
}

static void by_method_add_total(struct by_method *m, const struct model_stacks *view,
	uint32_t stack, const struct profile_sum *sum, query_squares squares)
{
	uint32_t at = by_method_at(m, model_method(view, stack));

	m->votes[at].total[model_type(view, stack)] += sum->count;
	if (model_repeats(view, stack))
		return;
	sum_add(&m->sums[at].total, sum);
	m->sums[at].total_squares += squares;
}

/* --- of a question ----------------------------------------------------------------------------------- */

void sums_drop(struct scratch *s)
{
	if (s->summed.key)
		tally_clear(&s->stacks, s->touched, s->touched_count);
	s->summed.key = 0;
	by_method_clear(&s->by_method);
}

/* Squares are of values. */
static uint64_t sums_key(const struct profile *p, const struct profile_query *q)
{
	return hash_pair(query_key(p, q), q->by_weight);
}

/* Questions that have this in common have rows of which the same is added. */
static uint64_t sums_kind(const struct profile *p, const struct profile_query *q)
{
	return hash_pair((uint64_t)q->event << 2 | query_of_holders(q) << 1 | q->by_weight,
		(uint64_t)p->readers->swept << 32 | fold_serial(fold_of(p, q)));
}

static bool sums_are_of(const struct profile *p, const struct profile_query *q)
{
	return p->scratch->summed.key && p->scratch->summed.key == sums_key(p, q);
}

static query_squares row_squares(const struct profile_query *q, const struct query_row *r)
{
	double squares = error_squares(q->event, q->by_weight,
		&(struct profile_part){.state = (enum thread_state)r->state,
			.count = r->sum.count,
			.weight = r->sum.weight,
			.events = (double)r->events});

	return (query_squares)fmin(squares * QUERY_SQUARES_UNIT, SQUARES_MOST);
}

/* From nothing. */
static void sum_anew(const struct profile *p, const struct profile_query *q,
	const struct query_row *rows, uint32_t count)
{
	struct scratch *s = p->scratch;
	const uint32_t *stacks;

	sums_drop(s);
	s->whole = (struct sums_whole){0};
	for (uint32_t i = 0; i < count; i++) {
		tally_add(&s->stacks, rows[i].stack, rows[i].sum.count, rows[i].sum.weight);
		sum_add(&s->whole.sum, &rows[i].sum);
		s->whole.squares += row_squares(q, &rows[i]);
	}
	stacks = sums_roll_up(s, fold_view(p, fold_of(p, q)), &s->touched_count);
	memcpy(s->touched, stacks, s->touched_count * sizeof(*stacks));
	s->stacks.touched = s->touched_count;
}

/* --- from one question to the next ------------------------------------------------------------------- */

/* What a row has more (less: by wrapping around) than it had. */
struct sums_change {
	uint32_t stack;
	struct profile_sum sum;
	query_squares squares;
};

struct sums_diff {
	struct sums_change *list;
	uint32_t count, cap;
};

static bool diff_put(
	struct sums_diff *d, const struct query_row *r, query_squares squares, bool gone)
{
	if (d->count == d->cap)
		return false;
	d->list[d->count++] = (struct sums_change){r->stack,
		{gone ? -r->sum.count : r->sum.count, gone ? -r->sum.weight : r->sum.weight},
		gone ? -squares : squares};
	return true;
}

static bool same_row(const struct query_row *a, const struct query_row *b)
{
	return a->pair == b->pair && a->stack == b->stack && a->thread == b->thread &&
	       a->state == b->state && a->sum.count == b->sum.count &&
	       a->sum.weight == b->sum.weight && a->events == b->events;
}

/* Both are in the order of their pairs. false: too much is other. */
static bool diff_rows(struct sums_diff *d, const struct profile_query *q,
	const struct query_rows *was, const struct query_row *rows, uint32_t count)
{
	const struct query_row *a = was->list, *a_end = a + was->count;
	const struct query_row *b = rows, *b_end = b + count;
	bool fits = true;

	while (fits && (a < a_end || b < b_end)) {
		bool take_a = a < a_end && (b == b_end || a->pair <= b->pair);
		bool take_b = b < b_end && (a == a_end || b->pair <= a->pair);
		bool same = take_a && take_b && same_row(a, b);

		if (take_a && !same)
			fits = diff_put(d, a, row_squares(q, a), true);
		if (take_b && !same)
			fits = fits && diff_put(d, b, row_squares(q, b), false);
		a += take_a;
		b += take_b;
	}
	return fits;
}

static int change_compare(const void *a, const void *b)
{
	const struct sums_change *x = a, *y = b;

	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* One per stack, ascending; those that come to nothing are left out. */
static void diff_join(struct sums_diff *d)
{
	uint32_t n = 0;

	if (d->count)
		qsort(d->list, d->count, sizeof(*d->list), change_compare);
	for (uint32_t i = 0; i < d->count; i++) {
		struct sums_change *c = &d->list[i];

		if (n && d->list[n - 1].stack == c->stack) {
			sum_add(&d->list[n - 1].sum, &c->sum);
			d->list[n - 1].squares += c->squares;
		} else {
			d->list[n++] = *c;
		}
	}
	d->count = n;
}

static void change_up(
	struct scratch *s, const struct model_stacks *view, const struct sums_change *c)
{
	uint32_t stack = c->stack;

	if (s->by_method.known && stack != PROFILE_ROOT_STACK)
		by_method_add_self(&s->by_method, view, stack, &c->sum, c->squares);
	for (;; stack = model_parent(view, stack)) {
		s->relist |= tally_touch(&s->stacks, stack);
		sum_add(&s->stacks.sums[stack], &c->sum);
		s->relist |= sum_none(&s->stacks.sums[stack]);
		if (stack == PROFILE_ROOT_STACK)
			break;
		if (s->by_method.known)
			by_method_add_total(&s->by_method, view, stack, &c->sum, c->squares);
	}
	sum_add(&s->whole.sum, &c->sum);
	s->whole.squares += c->squares;
}

/* Some came, and others have nothing any more. */
static void change_touched(struct scratch *s)
{
	uint32_t n = tally_list(&s->stacks, s->touched), count = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!sum_none(&s->stacks.sums[s->touched[i]]))
			s->touched[count++] = s->touched[i];
		else
			tally_untouch(&s->stacks, s->touched[i]);
	s->touched_count = count;
	s->relist = false;
}

/* false: it is another kind of question, or too much is other. */
static bool sum_changes(const struct profile *p, const struct profile_query *q,
	const struct query_row *rows, uint32_t count)
{
	struct scratch *s = p->scratch;
	const struct model_stacks *view = fold_view(p, fold_of(p, q));
	struct sums_diff d = {.cap = count / CHANGES_PART};
	bool fits;

	if (!s->summed.key || s->summed_kind != sums_kind(p, q))
		return false;
	d.list = xreallocarray(NULL, d.cap + 1, sizeof(*d.list));
	fits = diff_rows(&d, q, &s->summed, rows, count);
	if (fits) {
		diff_join(&d);
		by_method_fit(&s->by_method, p->methods->count);
		for (uint32_t i = 0; i < d.count; i++)
			change_up(s, view, &d.list[i]);
		if (s->relist)
			change_touched(s);
	}
	free(d.list);
	return fits;
}

const uint32_t *query_sum_up(
	const struct profile *p, const struct profile_query *q, uint32_t *count)
{
	struct scratch *s = p->scratch;
	const struct query_row *rows;

	if (!sums_are_of(p, q)) {
		rows = query_collect(p, q, count);
		if (!sum_changes(p, q, rows, *count))
			sum_anew(p, q, rows, *count);
		s->summed_kind = sums_kind(p, q);
		rows_fit(&s->summed, *count, sums_key(p, q));
		memcpy(s->summed.list, rows, *count * sizeof(*rows));
		s->summed.count = *count;
	}
	*count = s->touched_count;
	return s->touched;
}

/* Of the sums, where these are fewer than rows: what is not in the stacks that go on. */
static void ends_of_sums(struct scratch *s, const struct model_stacks *view)
{
	struct tally *t = &s->pairs;

	for (uint32_t i = s->touched_count; i-- > 0;) {
		uint32_t stack = s->touched[i], parent = model_parent(view, stack);

		tally_add(t, stack, s->stacks.sums[stack].count, s->stacks.sums[stack].weight);
		if (stack != PROFILE_ROOT_STACK)
			tally_add(t, parent, -s->stacks.sums[stack].count,
				-s->stacks.sums[stack].weight);
	}
}

const struct query_row *query_ends(
	const struct profile *p, const struct profile_query *q, uint32_t *count)
{
	struct scratch *s = p->scratch;
	const struct query_row *rows = query_collect(p, q, count);
	uint64_t key = query_key(p, q);
	uint32_t n;

	if (s->ends.key != key) {
		query_sum_up(p, q, &n);
		if (n < *count)
			ends_of_sums(s, fold_view(p, fold_of(p, q)));
		else
			for (uint32_t i = 0; i < *count; i++)
				tally_add(&s->pairs, rows[i].stack, rows[i].sum.count,
					rows[i].sum.weight);
		n = tally_list(&s->pairs, s->ids);
		rows_fit(&s->ends, n, key);
		for (uint32_t i = 0; i < n; i++)
			if (!sum_none(&s->pairs.sums[s->ids[i]]))
				s->ends.list[s->ends.count++] = (struct query_row){
					.stack = s->ids[i], .sum = s->pairs.sums[s->ids[i]]};
		tally_clear(&s->pairs, s->ids, n);
	}
	*count = s->ends.count;
	return s->ends.list;
}

struct sums_whole query_whole(const struct profile *p, const struct profile_query *q)
{
	uint32_t count;

	query_sum_up(p, q, &count);
	return p->scratch->whole;
}

/* Squares stand below each stack for as long as this takes: changes need them per method only. */
static void by_method_make(
	struct scratch *s, const struct profile_query *q, const struct model_stacks *view)
{
	for (uint32_t i = 0; i < s->touched_count; i++)
		s->squares[s->touched[i]] = 0;
	for (uint32_t i = 0; i < s->summed.count; i++) {
		const struct query_row *r = &s->summed.list[i];
		query_squares squares = row_squares(q, r);

		s->squares[r->stack] += squares;
		if (r->stack != PROFILE_ROOT_STACK)
			by_method_add_self(&s->by_method, view, r->stack, &r->sum, squares);
	}
	for (uint32_t i = s->touched_count; i-- > 0;) {
		uint32_t stack = s->touched[i];

		if (stack == PROFILE_ROOT_STACK)
			continue;
		s->squares[model_parent(view, stack)] += s->squares[stack];
		by_method_add_total(
			&s->by_method, view, stack, &s->stacks.sums[stack], s->squares[stack]);
	}
	s->by_method.known = true;
}

const struct by_method *query_by_method(const struct profile *p, const struct profile_query *q)
{
	struct by_method *m = &p->scratch->by_method;
	uint32_t count;

	query_sum_up(p, q, &count);
	by_method_fit(m, p->methods->count);
	if (!m->known)
		by_method_make(p->scratch, q, fold_view(p, fold_of(p, q)));
	return m;
}

bool filter_prepare_sums(const struct profile *p, const struct profile_query *q, uint64_t most)
{
	bool there = sums_are_of(p, q);
	uint32_t count;

	query_sum_up(p, q, &count);
	return there || count <= most;
}
