/* SPDX-License-Identifier: Apache-2.0 */
/* Ranking, reversing, anchoring. */
#include "tui/screen/order.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

struct place { /* an item and where it stands in the caller's array */
	uint32_t id, index;
	const char *name;
};

void order_done(struct order *o)
{
	rank_done(&o->rank);
	free(o->rows);
	free(o->ids);
	*o = (struct order){0};
}

bool order_selected(const struct order *o, const struct list *l, uint32_t *id)
{
	if (!l->touched || l->cursor < 0 || l->cursor >= (int)o->count)
		return false;
	*id = o->ids[l->cursor];
	return true;
}

static int compare_id(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_name(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strverscmp(x->name, y->name);

	return order ? order : compare_id(a, b);
}

/* Fills ids: the items' ids in their order. */
static void order_by_name(struct order *o, struct place *places)
{
	qsort(places, o->count, sizeof(*places), compare_name);
	for (uint32_t i = 0; i < o->count; i++)
		o->ids[i] = places[i].id;
}

static void order_by_key(struct order *o, const struct order_item *items, enum order_how how)
{
	struct rank_item *ranked = xreallocarray(NULL, o->count, sizeof(*ranked));

	for (uint32_t i = 0; i < o->count; i++)
		ranked[i] = (struct rank_item){items[i].id, items[i].count, items[i].key, 0};
	rank_update(&o->rank, ranked, o->count, how == ORDER_FRESH, how == ORDER_HOLD);
	for (uint32_t i = 0; i < o->count; i++)
		o->ids[i] = ranked[i].id;
	free(ranked);
}

static void order_reverse(struct order *o)
{
	for (uint32_t i = 0, j = o->count; i + 1 < j; i++) {
		uint32_t other = o->ids[--j];

		o->ids[j] = o->ids[i];
		o->ids[i] = other;
	}
}

/* Pinned rows go first; there are few of them. */
static void order_pin(struct order *o)
{
	uint32_t *rest = xreallocarray(NULL, o->count, sizeof(*rest)), n = 0, top = 0;

	for (uint32_t i = 0; i < o->count; i++) {
		bool is = false;

		for (uint32_t k = 0; k < o->pin_count && !is; k++)
			is = o->pins[k] == o->ids[i];
		if (is)
			o->ids[top++] = o->ids[i];
		else
			rest[n++] = o->ids[i];
	}
	if (n)
		memcpy(o->ids + top, rest, n * sizeof(*rest));
	free(rest);
}

/* A fresh order is followed to where the row belongs now; else the row stays where it is. */
static void order_keep_line(struct order *o, struct list *l, uint32_t id, bool fresh)
{
	for (uint32_t i = 0; i < o->count; i++) {
		if (o->ids[i] != id)
			continue;
		if (fresh)
			list_follow(l, (int)i);
		else
			list_anchor(l, o->ids, (int)i);
		return;
	}
}

static void order_remember(struct order *o)
{
	for (uint32_t i = 0; i < o->count && i < o->rank.count; i++)
		o->rank.ids[i] = o->ids[o->reverse ? o->count - 1 - i : i];
}

void order_update(struct order *o, struct list *l, const struct order_item *items, uint32_t count,
	enum order_how how)
{
	struct place *places = xreallocarray(NULL, count, sizeof(*places));
	uint32_t selected = 0;
	bool keep = order_selected(o, l, &selected);

	o->count = count;
	o->rows = xreallocarray(o->rows, count, sizeof(*o->rows));
	o->ids = xreallocarray(o->ids, count, sizeof(*o->ids));
	for (uint32_t i = 0; i < count; i++)
		places[i] = (struct place){items[i].id, i, items[i].name};
	if (o->by_name)
		order_by_name(o, places);
	else
		order_by_key(o, items, how);
	if (o->reverse)
		order_reverse(o);
	if (o->pin_count)
		order_pin(o);
	list_resize(l, (int)count, l->rows);
	if (keep)
		order_keep_line(o, l, selected, how == ORDER_FRESH);
	if (!o->by_name)
		order_remember(o);
	if (count)
		qsort(places, count, sizeof(*places), compare_id);
	for (uint32_t i = 0; i < count; i++) {
		struct place key = {.id = o->ids[i]};
		struct place *found = bsearch(&key, places, count, sizeof(key), compare_id);

		o->rows[i] = found ? found->index : 0;
	}
	free(places);
}

void order_sort_by(struct order *o, int sort)
{
	o->reverse = o->sort == sort && !o->reverse;
	o->sort = sort;
}
