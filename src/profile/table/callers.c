/* SPDX-License-Identifier: Apache-2.0 */
/* Each stack inherits the caller and callee of the method from its parent. */
#include "profile/table/callers.h"

#include "base/buf.h"
#include "profile/query/query.h"

#include <stdlib.h>

/* Frames + 1; own 0: the method is not on the stack. */
struct callers_stack {
	uint32_t caller, own, callee;
};

/* In order of ids: parents have smaller ones. */
static struct callers_stack *callers_stacks(const struct model_stacks *view,
	const struct query_row *rows, uint32_t count, uint32_t method)
{
	uint32_t end = PROFILE_ROOT_STACK;
	struct callers_stack *all;

	for (uint32_t i = 0; i < count; i++)
		end = rows[i].stack > end ? rows[i].stack : end;
	all = xreallocarray(NULL, (size_t)end + 1, sizeof(*all));
	all[PROFILE_ROOT_STACK] = (struct callers_stack){0};
	for (uint32_t i = PROFILE_ROOT_STACK + 1; i <= end; i++) {
		uint32_t parent = model_parent(view, i), frame = model_frame(view, i);
		struct callers_stack a = all[parent];

		if (model_method(view, i) == method) {
			if (!a.own && parent != PROFILE_ROOT_STACK)
				a.caller = model_frame(view, parent) + 1;
			a.own = frame + 1;
			a.callee = 0;
		} else if (a.own && !a.callee) {
			a.callee = frame + 1;
		}
		all[i] = a;
	}
	return all;
}

struct profile_sum callers_each(const struct profile *p, const struct profile_query *q,
	uint32_t method, callers_fn *fn, void *ctx)
{
	uint32_t count;
	const struct query_row *rows = query_collect(p, q, &count);
	struct callers_stack *all =
		callers_stacks(fold_view(p, fold_of(p, q)), rows, count, method);
	struct profile_sum sum = {0};

	for (uint32_t i = 0; i < count; i++) {
		const struct callers_stack *a = &all[rows[i].stack];

		sum_add(&sum, &rows[i].sum);
		if (a->own)
			fn(ctx, &(struct callers){rows[i].thread, a->caller - 1, a->callee - 1,
					a->own - 1, rows[i].sum.count, rows[i].sum.weight});
	}
	free(all);
	return sum;
}
