/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The method table of a window: one row per method, self and total, recursion counted once.
 *
 * What a fold shows for the inside of a run of native frames (filter.h) is no method and has no row. Derived from a query; the
 * caller frees it. Rows are in method-id order; ordering for the screen is
 * rank.h's. O(entries * depth) once per refresh; no state.
 */
#ifndef JHOT_PROFILE_TABLE_FLAT_H
#define JHOT_PROFILE_TABLE_FLAT_H

#include "profile/profile.h"

#define FLAT_TREND 8 /* seconds */

struct flat_row {
	uint32_t method;
	uint8_t type;         /* enum frame_type: that of most self (else total) samples */
	bool own;             /* profile_method_own */
	uint64_t self, total; /* in the query's value (samples or weight) */
	uint64_t self_count, total_count;   /* samples */
	double self_samples, total_samples; /* as sure as so many of the window, see error.h */
	/* Self samples of the last 8 s of the window, oldest first; 0 where only 10 s steps are left. */
	uint32_t trend[FLAT_TREND];
};

struct flat {
	struct flat_row *rows;
	uint32_t count;
	uint64_t sum, sum_count; /* of the window */
};

struct flat *flat_new(const struct profile *p, const struct profile_query *q);
void flat_free(struct flat *f);
/* A method's row; NULL: it has none. f may be NULL. */
const struct flat_row *flat_find(const struct flat *f, uint32_t method);
/* For qsort of rows: by self, then total, largest first, then the program's own, then by method. */
int flat_compare(const void *a, const void *b);

/* 100 * part / all, 0 of nothing. */
double flat_percent(uint64_t part, uint64_t all);
/* 95 % half width of a share of n equal samples, in percent points: 196 * sqrt(p (1 - p) / n), wider at the ends. */
double flat_half_width(uint64_t k, uint64_t n);

#endif
