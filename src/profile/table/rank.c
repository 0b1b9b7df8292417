/* SPDX-License-Identifier: Apache-2.0 */
/* An insertion sort in which a row passes all that it leads by more than noise, wherever they stand. */
#include "profile/table/rank.h"

#include "base/buf.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANK_FEW      10 /* samples: fewer say nothing about order */
#define RANK_FEW_MOST 7  /* what such a row may be: above the least of 9, below that of 10 */
#define RANK_FLOOR \
	3 /* half of what is added to two counts: few samples dance more than their root */
#define RANK_MOVES (1u << 20) /* places: more in one update of a long list take too long */

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
 * What a key may be but for chance: a row belongs above another if all of its range is above all of the other's. Ranges
 * make that transitive, which is what lets one pass over the rows keep the whole in order.
 */
struct rank_range {
	double least, most;
};

/* What a sample is worth in the mean of the list. */
static double rank_unit(const struct rank_item *items, uint32_t count)
{
	double keys = 0, samples = 0;

	for (uint32_t i = 0; i < count; i++) {
		keys += fabs(items[i].key);
		samples += (double)items[i].count;
	}
	return keys > 0 && samples > 0 ? keys / samples : 1;
}

/* One sample that is worth a hundred others is as good as they are: it shall not wait for more of its kind. */
static struct rank_range rank_range(const struct rank_item *item, double unit)
{
	double own = item->count ? fabs(item->key) / (double)item->count : 0, noise;
	struct rank_range r;

	if (own > 0 && own < unit)
		unit = own;
	noise = unit * sqrt(fabs(item->key) / unit / 2 + RANK_FLOOR);
	r = (struct rank_range){item->key - noise, item->key + noise};
	if (item->count < RANK_FEW && item->key >= 0 && r.most < RANK_FEW_MOST * unit)
		r.most = RANK_FEW_MOST * unit;
	return r;
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

/* Known rows in last time's order, then the new ones. */
static void rank_restore(const struct rank *r, struct rank_item *items, uint32_t count)
{
	struct rank_item *fresh = xreallocarray(NULL, count, sizeof(*fresh));
	uint32_t *at = xcalloc(r->count, sizeof(*at)); /* per old place: item + 1 */
	struct rank_key key = {r->ids, 0};
	struct hash_index places = {0};
	uint32_t known = 0, unknown = 0, place;

	for (uint32_t i = 0; i < r->count; i++)
		hash_index_add(&places, hash_u64(r->ids[i]), i);
	for (uint32_t i = 0; i < count; i++) {
		key.id = items[i].id;
		place = hash_index_find(&places, hash_u64(key.id), rank_same, &key);
		if (place == HASH_NONE)
			fresh[count - ++unknown] = items[i];
		else
			at[place] = i + 1;
	}
	for (uint32_t i = 0; i < r->count; i++) {
		if (at[i])
			fresh[known++] = items[at[i] - 1];
	}
	qsort(fresh + known, unknown, sizeof(*fresh), rank_compare);
	memcpy(items, fresh, count * sizeof(*items));
	hash_index_done(&places);
	free(at);
	free(fresh);
}

static void rank_remember(struct rank *r, const struct rank_item *items, uint32_t count)
{
	if (count > r->cap) {
		r->cap = count + count / 2;
		r->ids = xreallocarray(r->ids, r->cap, sizeof(*r->ids));
	}
	for (uint32_t i = 0; i < count; i++)
		r->ids[i] = items[i].id;
	r->count = count;
}

/* The first of n rows that may not be above one that is this much; most[i]: the least `most` of the rows up to i. */
static uint32_t rank_place(const double *most, uint32_t n, double least)
{
	uint32_t lo = 0, hi = n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (most[mid] < least)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* false: there is too much to move. */
static bool rank_move(struct rank_item *items, uint32_t count)
{
	double *most = xreallocarray(NULL, count, sizeof(*most)), unit = rank_unit(items, count);
	uint64_t moves = 0;

	for (uint32_t i = 0; i < count && moves <= RANK_MOVES; i++) {
		struct rank_item moving = items[i];
		struct rank_range range = rank_range(&moving, unit);
		uint32_t place = rank_place(most, i, range.least);

		memmove(items + place + 1, items + place, (i - place) * sizeof(*items));
		memmove(most + place + 1, most + place, (i - place) * sizeof(*most));
		items[place] = moving;
		most[place] = place ? fmin(most[place - 1], range.most) : range.most;
		moves += i - place;
	}
	free(most);
	return moves <= RANK_MOVES;
}

void rank_update(struct rank *r, struct rank_item *items, uint32_t count, bool fresh, bool hold)
{
	fresh = fresh || !r->count;
	if (count && !fresh)
		rank_restore(r, items, count);
	if (count && !fresh && !hold)
		fresh = !rank_move(items, count);
	if (count && fresh)
		qsort(items, count, sizeof(*items), rank_compare);
	rank_remember(r, items, count);
}
