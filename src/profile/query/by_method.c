/* SPDX-License-Identifier: Apache-2.0 */
/* Sums per method, dense in the order in which methods were met. */
#include "profile/model/model.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

void model_by_method_done(struct model_by_method *m)
{
	free(m->row_of);
	free(m->sums);
	free(m->votes);
}

void model_by_method_clear(struct model_by_method *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		m->row_of[m->sums[i].method] = 0;
	m->count = 0;
	m->known = false;
}

void model_by_method_fit(struct model_by_method *m, uint32_t methods)
{
	uint32_t from = m->methods;

	if (methods <= from)
		return;
	m->methods = methods + methods / 8;
	m->row_of = xreallocarray(m->row_of, m->methods, sizeof(*m->row_of));
	memset(m->row_of + from, 0, (m->methods - from) * sizeof(*m->row_of));
}

static uint32_t by_method_at(struct model_by_method *m, uint32_t method)
{
	if (m->row_of[method])
		return m->row_of[method] - 1;
	if (m->count == m->cap) {
		m->cap = m->cap ? m->cap * 2 : 256;
		m->sums = xreallocarray(m->sums, m->cap, sizeof(*m->sums));
		m->votes = xreallocarray(m->votes, m->cap, sizeof(*m->votes));
	}
	m->sums[m->count] = (struct model_method_sum){.method = method};
	m->votes[m->count] = (struct model_votes){0};
	m->row_of[method] = ++m->count;
	return m->count - 1;
}

void model_by_method_add_self(
	const struct profile *view, uint32_t stack, const struct amount *sum, model_squares squares)
{
	struct model_by_method *m = &view->scratch->by_method;
	uint32_t at = by_method_at(m, model_stack_method(view, stack));

	amount_add(&m->sums[at].self, sum);
	m->sums[at].self_squares += squares;
	m->votes[at].self[model_stack_type(view, stack)] += sum->count;
}

void model_by_method_add_total(
	const struct profile *view, uint32_t stack, const struct amount *sum, model_squares squares)
{
	struct model_by_method *m = &view->scratch->by_method;
	uint32_t at = by_method_at(m, model_stack_method(view, stack));

	m->votes[at].total[model_stack_type(view, stack)] += sum->count;
	if (model_stack_repeats(view, stack))
		return;
	amount_add(&m->sums[at].total, sum);
	m->sums[at].total_squares += squares;
}
