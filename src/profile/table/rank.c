/* SPDX-License-Identifier: Apache-2.0 */
/* An insertion sort in which a row passes all rows that it leads by more than noise. */
#include "profile/table/rank.h"

#include "base/hash.h"
#include "profile/model/fit.h"

#include <math.h>

#define RANK_FLOOR 3 /* added to half of each count: small counts vary more than their root */
/*
 * Extra standard errors for few samples: all of them up to RANK_FEW samples, declining to 0 at
 * RANK_ENOUGH. With fewer errors rows change places too often, with more the table looks unsorted.
 */
#define RANK_WEAK   0.5
#define RANK_FEW    10
#define RANK_ENOUGH 40
#define RANK_MOVES  (1u << 20) /* places in one update; beyond that a plain sort is faster */

void rank_done(struct rank *r)
{
	free(r->ids);
	memset(r, 0, sizeof(*r));
}

static int rank_compare(const void *a, const void *b)
{
	const struct rank_item *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/*
 * Confidence range of a key. A row belongs above another if the ranges are disjoint, which is
 * transitive, so one pass suffices.
 */
struct rank_range {
	double least, most;
};

/* A sample with the weight of a hundred others counts as a hundred samples. */
static struct rank_range rank_range(const struct rank_item *item, double unit)
{
	double own = item->count ? fabs(item->key) / (double)item->count : 0;

	if (own > 0 && own < unit)
		unit = own;
	double samples = fabs(item->key) / unit;
	double weak = (RANK_ENOUGH - samples) / (RANK_ENOUGH - RANK_FEW);
	double noise = unit * (sqrt(samples / 2 + RANK_FLOOR) +
				      RANK_WEAK * fmin(fmax(weak, 0), 1) * sqrt(samples + 1));
	return (struct rank_range){item->key - noise, item->key + noise};
}

/* An item with its last place; new ones are after all others. */
struct rank_placed {
	uint32_t place;
	struct rank_item item;
};

static int rank_compare_placed(const void *a, const void *b)
{
	const struct rank_placed *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return rank_compare(&x->item, &y->item);
}

struct rank_key {
	const uint32_t *ids;
	uint32_t id;
};

static bool rank_same(const void *ctx, uint32_t value)
{
	const struct rank_key *key = ctx;

	return key->ids[value] == key->id;
}

/* Restores the last order, with new rows at the end. */
static void rank_restore(const struct rank *r, struct rank_item *items, uint32_t count)
{
	struct rank_placed *placed = xreallocarray(NULL, count, sizeof(*placed));
	struct hash_index places = {0};

	for (uint32_t i = 0; i < r->count; i++)
		hash_index_add(&places, hash_u64(r->ids[i]), i);
	for (uint32_t i = 0; i < count; i++) {
		struct rank_key key = {r->ids, items[i].id};

		placed[i].place = hash_index_find(&places, hash_u64(key.id), rank_same, &key);
		placed[i].item = items[i];
	}
	qsort(placed, count, sizeof(*placed), rank_compare_placed);
	for (uint32_t i = 0; i < count; i++)
		items[i] = placed[i].item;
	hash_index_done(&places);
	free(placed);
}

/* Returns false, with the items in any order, if more than RANK_MOVES are needed. */
static bool rank_move(struct rank_item *items, uint32_t count)
{
	double *most = xreallocarray(NULL, count, sizeof(*most));
	double keys = 0, samples = 0; /* unit: the mean weight of a sample */
	uint64_t moves = 0;

	for (uint32_t i = 0; i < count; i++) {
		keys += fabs(items[i].key);
		samples += (double)items[i].count;
	}
	double unit = keys > 0 && samples > 0 ? keys / samples : 1;
	for (uint32_t i = 0; i < count && moves <= RANK_MOVES; i++) {
		struct rank_item moving = items[i];
		struct rank_range range = rank_range(&moving, unit);
		/* Binary search for the first row that belongs below. most[i]: minimum upper bound of rows 0..i. */
		uint32_t lo = 0, hi = i;
		while (lo < hi) {
			uint32_t mid = lo + (hi - lo) / 2;
			if (most[mid] < range.least)
				hi = mid;
			else
				lo = mid + 1;
		}
		uint32_t place = lo;

		memmove(items + place + 1, items + place, (i - place) * sizeof(*items));
		memmove(most + place + 1, most + place, (i - place) * sizeof(*most));
		items[place] = moving;
		most[place] = place ? fmin(most[place - 1], range.most) : range.most;
		moves += i - place;
	}
	free(most);
	return moves <= RANK_MOVES;
}

void rank_update(struct rank *r, struct rank_item *items, uint32_t count, enum rank_how how)
{
	uint64_t samples = 0;

	for (uint32_t i = 0; i < count; i++)
		samples += items[i].count;
	bool sort =
		how == RANK_SORT || !r->count || (how == RANK_STABLE && samples >= 2 * r->sorted);
	if (count && !sort)
		rank_restore(r, items, count);
	if (count && !sort && how == RANK_STABLE)
		sort = !rank_move(items, count);
	if (sort)
		r->sorted = samples;
	if (count && sort)
		qsort(items, count, sizeof(*items), rank_compare);
	r->ids = fit(r->ids, &r->cap, count, sizeof(*r->ids));
	for (uint32_t i = 0; i < count; i++)
		r->ids[i] = items[i].id;
	r->count = count;
}
