/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Visits the samples of a query that have a method on their stack, with its caller and callee
 * there.
 *
 *   root .. caller, METHOD, .., METHOD, callee .. leaf
 *
 * With recursion the caller is that of the outermost occurrence, the callee that of the innermost
 * one. One pass over the stacks: O(stacks + rows).
 */
#ifndef JHOT_PROFILE_TABLE_CALLERS_H
#define JHOT_PROFILE_TABLE_CALLERS_H

#include "profile/profile.h"

struct callers {
	uint32_t thread;
	uint32_t caller, callee; /* frames; PROFILE_NONE: the method is the root or the leaf */
	uint32_t frame;          /* of the innermost occurrence */
	uint64_t count, weight;
};
typedef void callers_fn(void *ctx, const struct callers *sample);
/* Returns the sum of all samples of the query, whether they have the method or not. fn must not query. */
struct profile_sum callers_each(const struct profile *p, const struct profile_query *q,
	uint32_t method, callers_fn *fn, void *ctx);

#endif
