/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of a query: up the stacks, per method; how many independent samples they are worth, and the error of a share.
 *
 * A complete summation costs 5 to 7 ms at 100,000 stacks with methods, 12 to 17 ms at 320,000. Updating the sums of the last query by the
 * rows that differ saved 2 to 3 and 8 to 12 ms of that once a second, for 125 lines and a copy of all rows.
 */
#include "profile/query/query.h"

#include "profile/model/fit.h"
#include "profile/query/error.h"

#include <math.h>
#include <stdlib.h>

#define ROLL_UP_PART \
	32 /* a roll-up that starts with more than 1/32 of the stacks visits all of them in order */
#define SQUARES_MOST 0x1p112 /* of one row */

/* Visits all stacks in order: several times cheaper than finding callers one by one, if most stacks are touched anyway. */
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
	uint32_t n = tally_list(&s->stacks, s->ids);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t stack = s->ids[i];
		while (stack != PROFILE_ROOT_STACK) {
			stack = model_parent(view, stack);
			if (!tally_touch(&s->stacks, stack))
				break;
		}
	}
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

/* --- of a query -------------------------------------------------------------------------------------- */

void sums_drop(struct scratch *s)
{
	struct by_method *m = &s->by_method;

	if (s->summed)
		tally_clear(&s->stacks, s->touched, s->touched_count);
	s->summed = 0;
	s->whole = (struct sums_whole){0};
	for (uint32_t i = 0; i < m->count; i++)
		m->row_of[m->sums[i].method] = 0;
	m->count = 0;
	m->known = false;
}

static uint64_t sums_key(const struct profile *p, const struct profile_query *q)
{
	return hash_pair(query_key(p, q), q->by_weight);
}

static bool sums_are_of(const struct profile *p, const struct profile_query *q)
{
	return p->scratch->summed && p->scratch->summed == sums_key(p, q);
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

const uint32_t *query_sum_up(
	const struct profile *p, const struct profile_query *q, uint32_t *count)
{
	struct scratch *s = p->scratch;
	const struct query_row *rows;

	if (!sums_are_of(p, q)) {
		rows = query_collect(p, q, count);
		sums_drop(s);
		for (uint32_t i = 0; i < *count; i++) {
			tally_add(&s->stacks, rows[i].stack, rows[i].sum.count, rows[i].sum.weight);
			sum_add(&s->whole.sum, &rows[i].sum);
			s->whole.squares += row_squares(q, &rows[i]);
		}
		const uint32_t *stacks =
			sums_roll_up(s, fold_view(p, fold_of(p, q)), &s->touched_count);
		memcpy(s->touched, stacks, s->touched_count * sizeof(*stacks));
		s->stacks.touched = s->touched_count;
		s->summed = sums_key(p, q);
	}
	*count = s->touched_count;
	return s->touched;
}

/* A stack's own sum is its total less those of its children. Used where there are fewer sums than rows. */
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

const struct by_method *query_by_method(const struct profile *p, const struct profile_query *q)
{
	struct scratch *s = p->scratch;
	struct by_method *m = &s->by_method;
	uint32_t count, at;

	query_sum_up(p, q, &count);
	m->row_of = fit_zeroed(m->row_of, &m->methods, p->methods->count, sizeof(*m->row_of));
	if (m->known)
		return m;
	const struct query_row *rows = query_collect(p, q, &count);
	const struct model_stacks *view = fold_view(p, fold_of(p, q));
	/* Squares are per stack only while they are summed up per method. */
	for (uint32_t i = 0; i < s->touched_count; i++)
		s->squares[s->touched[i]] = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct query_row *r = &rows[i];
		query_squares squares = row_squares(q, r);

		s->squares[r->stack] += squares;
		if (r->stack == PROFILE_ROOT_STACK)
			continue;
		at = by_method_at(m, model_method(view, r->stack));
		sum_add(&m->sums[at].self, &r->sum);
		m->sums[at].self_squares += squares;
		m->votes[at].self[model_type(view, r->stack)] += r->sum.count;
	}
	for (uint32_t i = s->touched_count; i-- > 0;) {
		uint32_t stack = s->touched[i];
		const struct profile_sum *sum = &s->stacks.sums[stack];

		if (stack == PROFILE_ROOT_STACK)
			continue;
		s->squares[model_parent(view, stack)] += s->squares[stack];
		at = by_method_at(m, model_method(view, stack));
		m->votes[at].total[model_type(view, stack)] += sum->count;
		if (model_repeats(view, stack))
			continue; /* recursion counts once */
		sum_add(&m->sums[at].total, sum);
		m->sums[at].total_squares += s->squares[stack];
	}
	m->known = true;
	return m;
}

bool filter_prepare_sums(const struct profile *p, const struct profile_query *q, uint64_t most)
{
	bool there = sums_are_of(p, q);
	uint32_t count;

	query_sum_up(p, q, &count);
	return there || count <= most;
}

/* --- rests -------------------------------------------------------------------------------------------- */

/*
 * Estimates the number of rests (a rest: a thread stays in one place) from the wall-clock polls of a row. A resting thread is polled
 * many times, so errors are computed from rests, not polls.
 *
 * n polls of a thread in a slice, k of which found it in one place, are k * (n - k + 1) / n rests on average if their order is random.
 * More is known where the place has all polls of a neighbouring slice, or none: then the polls of a rest lie at that end of the slice,
 * or at the other. Rests that continue in the next slice count once.
 */

/* State of a row after a number of slices. */
struct rest {
	uint32_t at;   /* ordinal of the last slice that has it; 0: none yet */
	uint32_t k, n; /* there: polls of the row, polls of the thread */
	enum beside { ABSENT, ALONE, PARTLY } left;
	double rests;   /* that began before that slice */
	double reach;   /* probability that the slice before it ends in this place */
	uint64_t polls; /* of the row, in all slices */
};

struct rests {
	struct rest *by_pair;
	uint64_t *polls; /* by thread: of the current slice */
	uint64_t *older; /* by thread: of the rows, less those in slices */
};

static enum beside rest_fills(const struct rest *r)
{
	return r->k >= r->n ? ALONE : PARTLY;
}

/* Accounts for the last slice of a row once its right neighbour is known. */
static void rest_end_slice(struct rest *r, enum beside right)
{
	double fill = (double)r->k / r->n, rests = 1, begins = 1, ends = 1;

	if (rest_fills(r) == PARTLY) {
		if (r->left == PARTLY && right == PARTLY) {
			rests = fill * (r->n - r->k + 1);
			begins = ends = fill;
		} else if (r->left == ALONE && right == ALONE) {
			rests = 2;
		} else if (r->left == PARTLY && right == ALONE) {
			begins = 0;
		} else if (r->left == ALONE && right == PARTLY) {
			ends = 0;
		}
	}
	r->rests += rests - r->reach * begins;
	r->reach = ends;
}

/* k of n polls of slice `at` found the place. border: the slice has no known predecessor. */
static void rest_add_slice(struct rest *r, uint32_t at, uint32_t k, uint32_t n, bool border)
{
	enum beside fills = k >= n ? ALONE : PARTLY, left = border ? PARTLY : ABSENT;

	if (r->at) {
		bool adjacent = r->at + 1 == at;

		left = adjacent ? rest_fills(r) : left;
		rest_end_slice(r, adjacent ? fills : ABSENT);
		if (!adjacent)
			r->reach = 0;
	}
	r->at = at;
	r->k = k;
	r->n = n;
	r->left = left;
}

static bool rests_are_of(const struct slices *s, uint32_t pair)
{
	uint32_t state = slices_state(s, pair);

	return state != THREAD_STATE_NONE && state != THREAD_ON_CPU;
}

/* Adds all entries of a slice, which may have several for one pair. */
static void rests_add(struct rests *all, const struct slices *s, const struct slice *slice,
	uint32_t at, bool border)
{
	const struct slice_entry *e = slice->entries;

	for (uint32_t i = 0; i < slice->count; i++)
		all->polls[slices_thread(s, e[i].pair)] += e[i].count;
	for (uint32_t i = 0; i < slice->count; i++) {
		struct rest *r = &all->by_pair[e[i].pair];

		if (!rests_are_of(s, e[i].pair) || !e[i].count)
			continue;
		r->polls += e[i].count;
		uint32_t n = (uint32_t)all->polls[slices_thread(s, e[i].pair)];
		if (r->at == at)
			r->k += e[i].count;
		else
			rest_add_slice(r, at, e[i].count, n, border);
	}
	for (uint32_t i = 0; i < slice->count; i++) {
		uint32_t thread = slices_thread(s, e[i].pair);

		all->older[thread] -= all->polls[thread];
		all->polls[thread] = 0;
	}
}

/* Rests among the polls before the slices, whose order is not known. */
static double rests_older(const struct rests *all, const struct query_row *row)
{
	const struct rest *r = &all->by_pair[row->pair];
	double k = (double)(row->sum.count - r->polls), n = (double)all->older[row->thread];

	return k > 0 && n >= k ? k * (n - k + 1) / n - (r->at ? k / n : 0) : 0;
}

void query_wait_events(const struct slices *s, uint32_t from, uint32_t to, struct query_rows *rows)
{
	struct rests all = {0};
	uint32_t at = 1, threads = 0;

	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->list[i].thread >= threads)
			threads = rows->list[i].thread + 1;
	all.by_pair = xcalloc(s->pairs.count, sizeof(*all.by_pair));
	all.polls = xcalloc(threads + 1, sizeof(*all.polls));
	all.older = xcalloc(threads + 1, sizeof(*all.older));
	for (uint32_t i = 0; i < rows->count; i++)
		all.older[rows->list[i].thread] += rows->list[i].sum.count;
	for (uint32_t i = from; i < to; i++, at++) {
		at += i > from && s->list[i].from != s->list[i - 1].from + s->list[i - 1].span;
		rests_add(&all, s, &s->list[i], at, i == from);
	}
	for (uint32_t i = 0; i < rows->count; i++) {
		struct query_row *row = &rows->list[i];
		struct rest *r = &all.by_pair[row->pair];
		double rests = (double)row->sum.count;

		if (rests_are_of(s, row->pair)) {
			if (r->at)
				rest_end_slice(r, r->at + 1 == at ? PARTLY : ABSENT);
			rests = r->rests + rests_older(&all, row);
			rests = rests < 1 ? 1 : rests;
		}
		row->events =
			(float)(rests < (double)row->sum.count ? rests : (double)row->sum.count);
	}
	free(all.by_pair);
	free(all.polls);
	free(all.older);
}

/* --- errors -------------------------------------------------------------------------------------------- */

/* Linearized variance of a ratio of sums of clusters; Wilson's interval (1927) for the equivalent number of samples. */
#define Z 1.96

double error_squares(int event, bool by_weight, const struct profile_part *part)
{
	double count = (double)part->count, weight = (double)part->weight;

	if (!by_weight || !part->count)
		return by_weight ? weight * weight : count;
	/* Waits are taken to be exponentially distributed: the expected sum of squares given their number and sum. */
	if (event == EVENT_LOCK)
		return 2 * weight * weight / (count + 1);
	return weight * weight / (part->events > 0 ? part->events : count);
}

double error_samples(const struct error_sums *s)
{
	double share = s->all > 0 ? s->part / s->all : 0;

	if (s->all_squares <= 0)
		return 0;
	double variance = (1 - 2 * share) * s->part_squares + share * share * s->all_squares;
	/* With a share of 0 or 1 the variance is not known: fall back to equal clusters. */
	if (share <= 0 || share >= 1 || variance <= 0)
		return s->all * s->all / s->all_squares;
	return share * (1 - share) * s->all * s->all / variance;
}

double error_window_samples(const struct profile *p, const struct profile_query *q)
{
	struct sums_whole whole = query_whole(p, q);
	double all = (double)query_value(q, &whole.sum);

	return whole.squares ? all * all / ((double)whole.squares / QUERY_SQUARES_UNIT) : 0;
}

struct error_range error_range(double share, double samples)
{
	double z = Z * Z / samples;

	if (samples <= 0)
		return (struct error_range){0, 1};
	double middle = (share + z / 2) / (1 + z);
	double half = Z * sqrt(share * (1 - share) / samples + z / samples / 4) / (1 + z);
	return (struct error_range){fmax(0, middle - half), fmin(1, middle + half)};
}

double error_half_width(double share, double samples)
{
	struct error_range r = error_range(share, samples);

	if (samples <= 0)
		return 0;
	if (share * samples >= ERROR_FEW - 0.5 && (1 - share) * samples >= ERROR_FEW - 0.5)
		return 100 * Z * sqrt(share * (1 - share) / samples);
	return 100 * (r.high - r.low) / 2;
}
