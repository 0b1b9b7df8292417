/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up the stacks and per method. They stay from one question to the next: where most rows of the next are those of
 * the last (a window that moves on, all until a second later), only the difference is taken up the stacks. Sums are of
 * integers, so that this is to the bit what adding all up gives.
 */
#include "profile/model/model.h"
#include "profile/query/error.h"
#include "profile/query/filter.h"
#include "profile/query/form.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#define ROLL_UP_PART 32 /* of the stacks; from there on all are gone through */
#define CHANGES_PART 8  /* of the rows; from there on all are added up */

/* --- up the stacks ----------------------------------------------------------------------------------- */

static void roll_up_touch_callers(const struct profile *p, struct tally *t)
{
	uint32_t *ids = p->scratch->ids, n = tally_list(t, ids), stack;

	for (uint32_t i = 0; i < n; i++) {
		stack = ids[i];
		while (stack != PROFILE_ROOT_STACK) {
			stack = p->stacks.nodes[stack].parent;
			if (!tally_touch(t, stack))
				break;
		}
	}
}

static void roll_up_one(const struct profile *p, uint32_t stack)
{
	struct amount *sums = p->scratch->stacks.sums;
	uint32_t parent = p->stacks.nodes[stack].parent;

	sums[parent].count += sums[stack].count;
	sums[parent].weight += sums[stack].weight;
}

/*
 * Where a long history has touched most stacks, going through all of them in order is several times cheaper
 * than finding the callers one by one.
 */
static const uint32_t *roll_up_all(const struct profile *p, uint32_t *count)
{
	struct tally *t = &p->scratch->stacks;
	uint32_t *ids = p->scratch->ids, n = p->stacks.count;

	for (uint32_t i = 0; i < n; i += 64) {
		uint64_t untouched = ~t->bits[i / 64];

		for (; untouched; untouched &= untouched - 1) { /* there is room for whole words */
			uint32_t k = i + (uint32_t)__builtin_ctzll(untouched);

			t->sums[k] = (struct amount){0, 0};
		}
	}
	for (uint32_t i = n; i-- > PROFILE_ROOT_STACK + 1;)
		roll_up_one(p, i);
	*count = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!(t->sums[i].count | t->sums[i].weight) && !tally_has(t, i))
			continue;
		tally_mark(t, i);
		ids[(*count)++] = i;
	}
	return ids;
}

const uint32_t *model_roll_up(const struct profile *p, uint32_t *count)
{
	struct tally *t = &p->scratch->stacks;
	uint32_t *ids = p->scratch->ids;

	if (t->touched > p->stacks.count / ROLL_UP_PART)
		return roll_up_all(p, count);
	roll_up_touch_callers(p, t);
	*count = tally_list(t, ids);
	for (uint32_t i = *count; i-- > 0;)
		if (ids[i] != PROFILE_ROOT_STACK)
			roll_up_one(p, ids[i]);
	return ids;
}

/* --- of a question ----------------------------------------------------------------------------------- */

void model_sums_drop(const struct profile *p)
{
	struct model_scratch *s = p->scratch;

	if (s->ends.key)
		tally_clear(&s->stacks, s->touched, s->touched_count);
	s->ends.key = 0;
	model_by_method_clear(&s->by_method);
}

static double window_of(const struct profile *p, const struct profile_query *q)
{
	return (double)profile_covered(p, q) * 1e9;
}

/* Squares are of values, and some of the window's time. */
static uint64_t sums_key(const struct profile *p, const struct profile_query *q)
{
	return hash_pair(model_key(p, q), (uint64_t)profile_covered(p, q) << 1 | q->by_weight);
}

/* Questions that have this in common have rows of which the same is added. */
static uint64_t sums_kind(const struct profile *p, const struct profile_query *q)
{
	const struct form *form = model_form(p, q);

	return hash_pair((uint64_t)q->event << 1 | q->by_weight,
		(uint64_t)p->scratch->sweep.swept << 32 | (form ? form_serial(form) + 1 : 0));
}

static bool sums_are_of(const struct profile *p, const struct profile_query *q)
{
	return p->scratch->ends.key && p->scratch->ends.key == sums_key(p, q);
}

static model_squares row_squares(
	const struct profile_query *q, const struct model_row *r, double window_ns)
{
	return model_squares_of(error_squares(q->event, q->by_weight,
		&(struct profile_part){.state = (enum thread_state)r->state,
			.count = r->sum.count,
			.weight = r->sum.weight},
		window_ns));
}

static void sums_touched(struct model_scratch *s, const uint32_t *stacks, uint32_t count)
{
	memcpy(s->touched, stacks, count * sizeof(*stacks));
	s->touched_count = count;
}

static void sum_rows(struct model_scratch *s, const struct profile_query *q,
	const struct model_row *rows, uint32_t count)
{
	s->all_squares = 0;
	s->all_sum = (struct amount){0, 0};
	for (uint32_t i = 0; i < count; i++) {
		const struct model_row *r = &rows[i];
		model_squares squares = row_squares(q, r, s->window_ns);

		if (tally_touch(&s->stacks, r->stack))
			s->squares[r->stack] = 0;
		amount_add(&s->stacks.sums[r->stack], &r->sum);
		amount_add(&s->all_sum, &r->sum);
		s->squares[r->stack] += squares;
		s->all_squares += squares;
	}
}

static void ends_fit(struct model_scratch *s, uint32_t count)
{
	uint32_t cap = s->ends.cap;

	model_rows_fit(&s->ends, count, s->ends.key);
	if (s->ends.cap == cap)
		return;
	free(s->end_squares);
	s->end_squares = xreallocarray(NULL, s->ends.cap, sizeof(*s->end_squares));
}

static void ends_put(
	struct model_scratch *s, uint32_t stack, struct amount sum, model_squares squares)
{
	s->end_squares[s->ends.count] = squares;
	s->ends.list[s->ends.count++] = (struct model_row){.stack = stack, .sum = sum};
}

/* From nothing: sums of the ends alone. */
static void sum_anew(const struct profile *p, const struct profile_query *q,
	const struct model_row *rows, uint32_t count)
{
	struct model_scratch *s = p->scratch;
	uint32_t n;

	model_sums_drop(p);
	s->window_ns = window_of(p, q);
	sum_rows(s, q, rows, count);
	n = tally_list(&s->stacks, s->ids);
	ends_fit(s, n);
	for (uint32_t i = 0; i < n; i++)
		ends_put(s, s->ids[i], s->stacks.sums[s->ids[i]], s->squares[s->ids[i]]);
	sums_touched(s, s->ids, n);
	s->rolled = false;
}

/* --- from one question to the next ------------------------------------------------------------------- */

/* What a row has more (less: by wrapping around) than it had. */
struct sums_change {
	uint32_t stack;
	struct amount sum;
	model_squares squares;
};

struct sums_diff {
	struct sums_change *list;
	uint32_t count, cap;
};

static bool diff_put(
	struct sums_diff *d, const struct model_row *r, model_squares squares, bool gone)
{
	if (d->count == d->cap)
		return false;
	d->list[d->count++] = (struct sums_change){r->stack,
		{gone ? -r->sum.count : r->sum.count, gone ? -r->sum.weight : r->sum.weight},
		gone ? -squares : squares};
	return true;
}

static bool same_row(const struct model_row *a, const struct model_row *b)
{
	return a->pair == b->pair && a->stack == b->stack && a->thread == b->thread &&
	       a->state == b->state && a->sum.count == b->sum.count &&
	       a->sum.weight == b->sum.weight;
}

/* Both are in the order of their pairs. false: too much is other. */
static bool diff_rows(struct sums_diff *d, const struct profile_query *q, const double window_ns[2],
	const struct model_rows *was, const struct model_row *rows, uint32_t count)
{
	const struct model_row *a = was->list, *a_end = a + was->count;
	const struct model_row *b = rows, *b_end = b + count;
	bool timed = q->event == EVENT_WALL && window_ns[0] != window_ns[1];
	bool room = true;

	while (room && (a < a_end || b < b_end)) {
		if (a < a_end && b < b_end && same_row(a, b) && !timed) {
			a++;
			b++;
			continue;
		}
		if (a < a_end && (b == b_end || a->pair <= b->pair)) {
			bool both = b < b_end && a->pair == b->pair;

			if (both && same_row(a, b) &&
				row_squares(q, a, window_ns[0]) ==
					row_squares(q, b, window_ns[1])) {
				a++;
				b++;
				continue;
			}
			room = diff_put(d, a, row_squares(q, a, window_ns[0]), true);
			a++;
			if (!both)
				continue;
		}
		room = room && diff_put(d, b, row_squares(q, b, window_ns[1]), false);
		b++;
	}
	return room;
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
			amount_add(&d->list[n - 1].sum, &c->sum);
			d->list[n - 1].squares += c->squares;
		} else {
			d->list[n++] = *c;
		}
	}
	d->count = n;
}

static void fold_ends(struct model_scratch *s, const struct sums_diff *d)
{
	struct model_rows old = s->ends;
	model_squares *old_squares = s->end_squares;
	const struct sums_change *c = d->list, *end = c + d->count;

	s->ends = (struct model_rows){.key = old.key};
	s->end_squares = NULL;
	ends_fit(s, old.count + d->count);
	for (uint32_t i = 0; i < old.count || c < end;) {
		uint32_t stack = c < end ? c->stack : PROFILE_NONE;
		struct amount sum = {0, 0};
		model_squares squares = 0;

		if (i < old.count && old.list[i].stack <= stack) {
			stack = old.list[i].stack;
			sum = old.list[i].sum;
			squares = old_squares[i++];
		}
		if (c < end && c->stack == stack) {
			amount_add(&sum, &c->sum);
			squares += c->squares;
			c++;
		}
		if (sum.count | sum.weight)
			ends_put(s, stack, sum, squares);
	}
	free(old.list);
	free(old_squares);
}

static void fold_up(const struct profile *view, const struct sums_change *c)
{
	struct model_scratch *s = view->scratch;
	uint32_t stack = c->stack;

	if (s->by_method.known && stack != PROFILE_ROOT_STACK)
		model_by_method_add_self(view, stack, &c->sum, c->squares);
	for (;; stack = view->stacks.nodes[stack].parent) {
		s->relist |= tally_touch(&s->stacks, stack);
		amount_add(&s->stacks.sums[stack], &c->sum);
		if (!(s->stacks.sums[stack].count | s->stacks.sums[stack].weight))
			s->relist = true;
		if (stack == PROFILE_ROOT_STACK || !s->rolled)
			break;
		if (s->by_method.known)
			model_by_method_add_total(view, stack, &c->sum, c->squares);
	}
	amount_add(&s->all_sum, &c->sum);
	s->all_squares += c->squares;
}

/* Some came, and others have nothing any more. */
static void fold_touched(struct model_scratch *s)
{
	uint32_t n = tally_list(&s->stacks, s->touched), count = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct amount *sum = &s->stacks.sums[s->touched[i]];

		if (sum->count | sum->weight)
			s->touched[count++] = s->touched[i];
		else
			tally_untouch(&s->stacks, s->touched[i]);
	}
	s->touched_count = count;
	s->relist = false;
}

static bool sums_fold(const struct profile *p, const struct profile_query *q,
	const struct model_row *rows, uint32_t count)
{
	struct model_scratch *s = p->scratch;
	const struct profile *view = model_view(p, q);
	const double window_ns[2] = {s->window_ns, window_of(p, q)};
	struct sums_diff d = {.cap = count / CHANGES_PART};
	bool fits;

	if (!s->ends.key || s->summed_kind != sums_kind(p, q))
		return false;
	d.list = xreallocarray(NULL, d.cap + 1, sizeof(*d.list));
	fits = diff_rows(&d, q, window_ns, &s->summed, rows, count);
	if (fits) {
		diff_join(&d);
		model_by_method_fit(&s->by_method, view->methods.count);
		for (uint32_t i = 0; i < d.count; i++)
			fold_up(view, &d.list[i]);
		fold_ends(s, &d);
		if (s->relist)
			fold_touched(s);
		s->window_ns = window_ns[1];
	}
	free(d.list);
	return fits;
}

static void sums_make(const struct profile *p, const struct profile_query *q)
{
	struct model_scratch *s = p->scratch;
	uint32_t count;
	const struct model_row *rows = model_collect(p, q, &count);

	if (!sums_fold(p, q, rows, count))
		sum_anew(p, q, rows, count);
	s->ends.key = sums_key(p, q);
	s->summed_kind = sums_kind(p, q);
	model_rows_fit(&s->summed, count, s->ends.key);
	memcpy(s->summed.list, rows, count * sizeof(*rows));
	s->summed.count = count;
}

const struct model_row *model_ends(
	const struct profile *p, const struct profile_query *q, uint32_t *count)
{
	const struct model_rows *ends = &p->scratch->ends;

	if (!sums_are_of(p, q))
		sums_make(p, q);
	*count = ends->count;
	return ends->list;
}

const uint32_t *model_sum_up(
	const struct profile *p, const struct profile_query *q, uint32_t *count)
{
	struct model_scratch *s = p->scratch;
	const uint32_t *stacks;

	model_ends(p, q, count);
	if (!s->rolled) {
		model_scratch_fit(model_view(p, q));
		stacks = model_roll_up(model_view(p, q), count);
		s->stacks.touched = *count;
		sums_touched(s, stacks, *count);
		s->rolled = true;
	}
	*count = s->touched_count;
	return s->touched;
}

/* Squares stand below each stack for as long as this takes: what is folded needs them per method only. */
static void by_method_make(struct model_scratch *s, const struct profile *view)
{
	const struct model_row *ends = s->ends.list;

	for (uint32_t i = 0; i < s->touched_count; i++)
		s->squares[s->touched[i]] = 0;
	for (uint32_t i = 0; i < s->ends.count; i++) {
		s->squares[ends[i].stack] = s->end_squares[i];
		if (ends[i].stack != PROFILE_ROOT_STACK)
			model_by_method_add_self(
				view, ends[i].stack, &ends[i].sum, s->end_squares[i]);
	}
	for (uint32_t i = s->touched_count; i-- > 0;) {
		uint32_t stack = s->touched[i];

		if (stack == PROFILE_ROOT_STACK)
			continue;
		s->squares[view->stacks.nodes[stack].parent] += s->squares[stack];
		model_by_method_add_total(view, stack, &s->stacks.sums[stack], s->squares[stack]);
	}
	s->by_method.known = true;
}

const struct model_by_method *model_sum_by_method(
	const struct profile *p, const struct profile_query *q)
{
	struct model_scratch *s = p->scratch;
	const struct profile *view;
	uint32_t count;

	model_sum_up(p, q, &count);
	view = model_view(p, q);
	model_by_method_fit(&s->by_method, view->methods.count);
	if (!s->by_method.known)
		by_method_make(s, view);
	return &s->by_method;
}

bool filter_prepare_sums(const struct profile *p, const struct profile_query *q, uint64_t most)
{
	bool there = sums_are_of(p, q) && p->scratch->rolled;
	uint32_t count;

	model_sum_up(p, q, &count);
	return there || count <= most;
}
