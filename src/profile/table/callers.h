/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Visiting the samples of a query that have one method on their stack, with what stands around it there.
 *
 *   root .. caller, METHOD, .., METHOD, callee .. leaf
 *
 * Where a method stands several times on a stack, its caller is that of the occurrence next to the root, its callee
 * that of the one next to the leaf. One pass over the stacks, whatever their depth.
 */
#ifndef JHOT_PROFILE_TABLE_CALLERS_H
#define JHOT_PROFILE_TABLE_CALLERS_H

#include "profile/profile.h"

struct callers {
	uint32_t thread;
	uint32_t caller, callee; /* frames; PROFILE_NONE: the method is the root, the leaf */
	uint32_t frame;          /* the method's own, next to the leaf */
	uint64_t count, weight;
};
typedef void callers_fn(void *ctx, const struct callers *sample);
/* Returns the sum of all samples of the query, with the method or without. */
struct profile_sum callers_each(const struct profile *p, const struct profile_query *q,
	uint32_t method, callers_fn *fn, void *ctx);

#endif
