/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a live list, stable against noise.
 *
 * Keeps the ids of the last refresh in order. A stable update re-ranks with hysteresis: a row passes the
 * rows above it that it leads by more than chance (about sqrt(a + b + 12) samples, more if there
 * are few); afterwards no row leads one above it by that much. New rows enter from below. It sorts
 * from scratch when the samples have doubled since the last sort, as the order of few samples is
 * mostly chance, and when it would move most of a long list. Ties break by id. Embedded, zero-initialized; O(n log n). Not thread-safe.
 */
#ifndef JHOT_PROFILE_TABLE_RANK_H
#define JHOT_PROFILE_TABLE_RANK_H

#include <stdbool.h>
#include <stdint.h>

struct rank_item {
	uint32_t id;
	uint64_t count; /* samples; the sum of all keys / samples is the weight of one */
	double key;     /* sort key, larger first; equal to count when sorting by samples */
	uint32_t at;    /* for the caller */
};

struct rank {
	uint32_t *ids; /* order of the last refresh */
	uint32_t count, cap;
	uint64_t sorted; /* samples at the last sort from scratch */
};

enum rank_how {
	RANK_STABLE, /* as described above */
	RANK_SORT,   /* from scratch: for a new column, window or event */
	RANK_FROZEN, /* every row stays where it is */
};

void rank_done(struct rank *r);
/* Reorders items in place. */
void rank_update(struct rank *r, struct rank_item *items, uint32_t count, enum rank_how how);

#endif
