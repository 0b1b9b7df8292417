/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a live list: stable until the data says otherwise.
 *
 * Keeps the ids of the last refresh in order. An update re-ranks with hysteresis: a row passes those above it that it
 * leads by more than chance makes of their samples, about sqrt(a + b + 12) and more where those are few, and after it no
 * row leads one above it by that much, however far apart they stand; new rows enter from below. A fresh sort (column,
 * window or event changed) sorts exactly once, and so does one that would move most of a long list, as after a
 * freeze. Ties break by id.
 */
#ifndef JHOT_PROFILE_TABLE_RANK_H
#define JHOT_PROFILE_TABLE_RANK_H

#include <stdbool.h>
#include <stdint.h>

struct rank_item {
	uint32_t id;
	uint64_t count; /* samples: they and the keys of all rows say what one is worth */
	double key;  /* what is sorted by, larger first; equal to count when sorting by samples */
	uint32_t at; /* the caller's own */
};

struct rank {
	uint32_t *ids; /* order of the last refresh */
	uint32_t count, cap;
};

void rank_done(struct rank *r);
/* Reorder items in place: as last time, moved only where justified. fresh: plain sort. hold: keep all. */
void rank_update(struct rank *r, struct rank_item *items, uint32_t count, bool fresh, bool hold);

#endif
