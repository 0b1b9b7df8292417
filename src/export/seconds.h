/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterates over the samples of a query in order of time, for formats with a time axis.
 *
 *   0          oldest          merged_before            now
 *   |  history that was evicted  |  steps of 10 s  |  seconds  |
 *   one span [q.from, oldest)     a span each        a span each
 *
 * Each sample is visited once. Within a span the order is unspecified. Does not allocate. One
 * thread.
 */
#ifndef JHOT_EXPORT_SECONDS_H
#define JHOT_EXPORT_SECONDS_H

#include "profile/profile.h"

struct seconds_span {
	uint32_t from, seconds; /* from: seconds since the profile's start */
};
typedef void seconds_fn(
	void *ctx, const struct seconds_span *span, const struct profile_part *part);
void seconds_each(
	const struct profile *p, const struct profile_query *q, seconds_fn *fn, void *ctx);

#endif
