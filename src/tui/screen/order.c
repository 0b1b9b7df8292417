/* SPDX-License-Identifier: Apache-2.0 */
/* Ranking, reversing, pinning and anchoring rows. */
#include "tui/screen/order.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

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

static int compare_name(const void *a, const void *b, void *items)
{
	const struct order_item *x = (const struct order_item *)items + *(const uint32_t *)a;
	const struct order_item *y = (const struct order_item *)items + *(const uint32_t *)b;
	int order = strverscmp(x->name, y->name);

	return order ? order : x->id < y->id ? -1 : x->id > y->id;
}

static void order_by_name(struct order *o, struct order_item *items)
{
	for (uint32_t i = 0; i < o->count; i++)
		o->rows[i] = i;
	qsort_r(o->rows, o->count, sizeof(*o->rows), compare_name, items);
}

static void order_by_key(struct order *o, const struct order_item *items, enum order_how how)
{
	struct rank_item *ranked = xreallocarray(NULL, o->count, sizeof(*ranked));

	for (uint32_t i = 0; i < o->count; i++)
		ranked[i] = (struct rank_item){items[i].id, items[i].count, items[i].key, i};
	rank_update(&o->rank, ranked, o->count, how == ORDER_FRESH, how == ORDER_FREEZE);
	for (uint32_t i = 0; i < o->count; i++)
		o->rows[i] = ranked[i].at;
	free(ranked);
}

static void order_reverse(struct order *o)
{
	for (uint32_t i = 0, j = o->count; i + 1 < j; i++) {
		uint32_t other = o->rows[--j];

		o->rows[j] = o->rows[i];
		o->rows[i] = other;
	}
}

/* Moves pinned rows to the top. */
static void order_pin(struct order *o, const struct order_item *items)
{
	uint32_t top = 0;

	for (uint32_t i = 0; i < o->count; i++) {
		uint32_t row = o->rows[i];
		bool is = false;

		for (uint32_t k = 0; k < o->pin_count && !is; k++)
			is = o->pins[k] == items[row].id;
		if (!is)
			continue;
		memmove(o->rows + top + 1, o->rows + top, (i - top) * sizeof(*o->rows));
		o->rows[top++] = row;
	}
}

/* After a fresh sort the cursor follows the selected row; otherwise the row keeps its line. */
static void order_keep_line(
	struct order *o, struct list *l, const struct order_item *items, uint32_t id, bool fresh)
{
	uint32_t i = 0;

	while (i < o->count && items[o->rows[i]].id != id)
		i++;
	if (i < o->count && fresh)
		list_follow(l, (int)i);
	else if (i < o->count)
		list_anchor(l, o->rows, (int)i);
}

void order_update(struct order *o, struct list *l, struct order_item *items, uint32_t count,
	enum order_how how)
{
	uint32_t selected = 0;
	bool keep = order_selected(o, l, &selected);

	o->count = count;
	o->rows = xreallocarray(o->rows, count, sizeof(*o->rows));
	o->ids = xreallocarray(o->ids, count, sizeof(*o->ids));
	if (o->by_name)
		order_by_name(o, items);
	else
		order_by_key(o, items, how);
	if (o->reverse)
		order_reverse(o);
	if (o->pin_count)
		order_pin(o, items);
	list_resize(l, (int)count, l->rows);
	if (keep)
		order_keep_line(o, l, items, selected, how == ORDER_FRESH);
	for (uint32_t i = 0; i < count; i++)
		o->ids[i] = items[o->rows[i]].id;
	/* The next refresh starts from the displayed order. */
	for (uint32_t i = 0; i < count && i < o->rank.count && !o->by_name; i++)
		o->rank.ids[i] = o->ids[o->reverse ? count - 1 - i : i];
}

void order_sort_by(struct order *o, int sort)
{
	o->reverse = o->sort == sort && !o->reverse;
	o->sort = sort;
}
