/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The method table of a query: one row per method, self and total; recursion counts once in total.
 *
 * The frame that replaces the inside of a native run (filter.h) gets no row. Rows are in order of
 * method ids; rank.h orders them for the screen. The caller frees the table, which stays valid
 * while the profile grows. O(stacks + rows).
 */
#ifndef JHOT_PROFILE_TABLE_FLAT_H
#define JHOT_PROFILE_TABLE_FLAT_H

#include "profile/profile.h"

#define FLAT_TREND 8 /* seconds */

struct flat_row {
	uint32_t method;
	uint8_t type; /* enum frame_type of most self samples, or of most total samples if there are none */
	bool own;                           /* profile_method_own */
	uint64_t self, total;               /* in the query's value (samples or weight) */
	uint64_t self_count, total_count;   /* samples */
	double self_samples, total_samples; /* equivalent numbers of samples, see error.h */
	/* Self samples per second in the last 8 s of the window, oldest first; 0 for merged seconds. */
	uint32_t trend[FLAT_TREND];
};

struct flat {
	struct flat_row *rows;
	uint32_t count;
	uint64_t sum, sum_count; /* of the window */
};

struct flat *flat_new(const struct profile *p, const struct profile_query *q);
void flat_free(struct flat *f);
/* A method's row. NULL: none. f may be NULL. O(log n). */
const struct flat_row *flat_find(const struct flat *f, uint32_t method);
/* Compares rows for qsort: by self, then total, largest first; then own methods first, then by id. */
int flat_compare(const void *a, const void *b);

/* 100 * part / all; 0 if all is 0. */
double flat_percent(uint64_t part, uint64_t all);
/*
 * 95 % half width of the share k / n of equal samples, in percentage points: 196 * sqrt(p (1 - p) /
 * n), wider near 0 and 1.
 */
double flat_half_width(uint64_t k, uint64_t n);

#endif
