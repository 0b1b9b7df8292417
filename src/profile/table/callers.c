/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around a method is handed down from each stack to those that go on from it. */
#include "profile/table/callers.h"

#include "base/buf.h"
#include "profile/model/model.h"

#include <stdlib.h>

/* Of a stack, each + 1; own 0: the method is not on it. */
struct callers_stack {
	uint32_t caller, own, callee;
};

static struct callers_stack callers_below(
	const struct profile *p, const struct callers_stack *all, uint32_t stack, uint32_t method)
{
	const struct profile_stack *s = &p->stacks.nodes[stack];
	struct callers_stack a = all[s->parent];

	if (model_stack_method(p, stack) == method) {
		if (!a.own && s->parent != PROFILE_ROOT_STACK)
			a.caller = p->stacks.nodes[s->parent].frame + 1;
		a.own = s->frame + 1;
		a.callee = 0;
	} else if (a.own && !a.callee) {
		a.callee = s->frame + 1;
	}
	return a;
}

/* Parents have the smaller numbers. */
static struct callers_stack *callers_stacks(
	const struct profile *p, const struct model_row *rows, uint32_t count, uint32_t method)
{
	uint32_t end = PROFILE_ROOT_STACK;
	struct callers_stack *all;

	for (uint32_t i = 0; i < count; i++)
		end = rows[i].stack > end ? rows[i].stack : end;
	all = xreallocarray(NULL, (size_t)end + 1, sizeof(*all));
	all[PROFILE_ROOT_STACK] = (struct callers_stack){0};
	for (uint32_t i = PROFILE_ROOT_STACK + 1; i <= end; i++)
		all[i] = callers_below(p, all, i, method);
	return all;
}

struct profile_sum callers_each(const struct profile *p, const struct profile_query *q,
	uint32_t method, callers_fn *fn, void *ctx)
{
	uint32_t count;
	const struct model_row *rows = model_collect(p, q, &count);
	struct callers_stack *all = callers_stacks(model_view(p, q), rows, count, method);
	struct profile_sum sum = {0};

	for (uint32_t i = 0; i < count; i++) {
		const struct callers_stack *a = &all[rows[i].stack];

		sum.count += rows[i].sum.count;
		sum.weight += rows[i].sum.weight;
		if (a->own)
			fn(ctx, &(struct callers){rows[i].thread, a->caller - 1, a->callee - 1,
					a->own - 1, rows[i].sum.count, rows[i].sum.weight});
	}
	free(all);
	return sum;
}
