/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of a query one second after the other, for formats that have time.
 *
 * Each sample comes once. What is held in steps of 10 s comes in these, what has left the history as one span from the
 * query's begin. Within a span the model knows no time.
 */
#ifndef JHOT_EXPORT_SECONDS_H
#define JHOT_EXPORT_SECONDS_H

#include "profile/profile.h"

struct seconds_span {
	uint32_t from, seconds; /* from the profile's start */
};
typedef void seconds_fn(
	void *ctx, const struct seconds_span *span, const struct profile_part *part);
void seconds_each(
	const struct profile *p, const struct profile_query *q, seconds_fn *fn, void *ctx);

#endif
