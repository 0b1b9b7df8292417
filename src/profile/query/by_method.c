/* SPDX-License-Identifier: Apache-2.0 */
/* Sums per method, dense in the order in which methods were met. */
#include "profile/query/query.h"

#include "profile/model/fit.h"

void by_method_done(struct by_method *m)
{
	free(m->row_of);
	free(m->sums);
	free(m->votes);
}

void by_method_clear(struct by_method *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		m->row_of[m->sums[i].method] = 0;
	m->count = 0;
	m->known = false;
}

void by_method_fit(struct by_method *m, uint32_t methods)
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

void by_method_add_self(struct by_method *m, const struct model_stacks *view, uint32_t stack,
	const struct amount *sum, query_squares squares)
{
	uint32_t at = by_method_at(m, model_method(view, stack));

	amount_add(&m->sums[at].self, sum);
	m->sums[at].self_squares += squares;
	m->votes[at].self[model_type(view, stack)] += sum->count;
}

void by_method_add_total(struct by_method *m, const struct model_stacks *view, uint32_t stack,
	const struct amount *sum, query_squares squares)
{
	uint32_t at = by_method_at(m, model_method(view, stack));

	m->votes[at].total[model_type(view, stack)] += sum->count;
	if (model_repeats(view, stack))
		return;
	amount_add(&m->sums[at].total, sum);
	m->sums[at].total_squares += squares;
}
