/* SPDX-License-Identifier: Apache-2.0 */
/* An insertion sort that swaps neighbours only when the lower one leads by more than noise. */
#include "profile/rank.h"

#include "base/buf.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANK_FEW 10u /* samples: fewer say nothing about order */

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

/* May the lower row pass? Noise is that of two counts, in the unit of what is sorted by. */
static bool rank_passes(const struct rank_item *lower, const struct rank_item *upper)
{
	double n = (double)lower->count + (double)upper->count;
	double unit = n > 0 ? (fabs(lower->key) + fabs(upper->key)) / n : 0;

	if (lower->count < RANK_FEW && upper->count < RANK_FEW)
		return false;
	return lower->key - upper->key > unit * sqrt(n + 1);
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

void rank_update(struct rank *r, struct rank_item *items, uint32_t count, bool fresh, bool hold)
{
	struct rank_item moving;
	uint32_t place;

	if (count && (fresh || !r->count))
		qsort(items, count, sizeof(*items), rank_compare);
	else if (count)
		rank_restore(r, items, count);
	for (uint32_t i = 1; i < count && !fresh && !hold; i++) {
		moving = items[i];
		for (place = i; place && rank_passes(&moving, &items[place - 1]); place--)
			items[place] = items[place - 1];
		items[place] = moving;
	}
	rank_remember(r, items, count);
}
