/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a live list: stable until the data says otherwise.
 *
 * Keeps the ids of the last refresh in order. An update re-ranks with hysteresis: a row passes its upper
 * neighbour only if it leads by more than sqrt(a + b + 1) samples; rows under 10 samples are not ranked
 * among themselves; new rows enter from below. A fresh sort (column, window or event changed) sorts
 * exactly once. Ties break by id. screens.md gives the rule's reason: a raw second moves 14 of 16
 * rows per refresh, this one 1.7.
 */
#ifndef JHOT_PROFILE_RANK_H
#define JHOT_PROFILE_RANK_H

#include <stdbool.h>
#include <stdint.h>

struct rank_item {
	uint32_t id;
	uint64_t count; /* samples the noise estimate is about */
	double key; /* what is sorted by, larger first; equal to count when sorting by samples */
};

struct rank {
	uint32_t *ids; /* order of the last refresh */
	uint32_t count, cap;
};

void rank_done(struct rank *r);
/* Reorder items in place: as last time, moved only where justified. fresh: plain sort. hold: keep all. */
void rank_update(struct rank *r, struct rank_item *items, uint32_t count, bool fresh, bool hold);

#endif
