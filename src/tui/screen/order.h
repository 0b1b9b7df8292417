/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The display order of a list's rows: ranked without jitter, with the selected row on a fixed screen line.
 *
 * Each refresh passes all rows with stable ids. rank.h keeps rows in place until the data justifies a swap; then the
 * selected row is moved back to its screen line and the others shift around it. The displayed order is the start of the
 * next refresh, so a row that is no longer selected converges to its rank. Embedded, zero-initialised; end with order_done.
 */
#ifndef JHOT_TUI_SCREEN_ORDER_H
#define JHOT_TUI_SCREEN_ORDER_H

#include "profile/table/rank.h"
#include "tui/screen/list.h"

struct order_item {
	uint32_t id;
	uint64_t count;   /* samples, for the statistical error */
	double key;       /* larger first */
	const char *name; /* for sorting by name */
};

struct order {
	uint32_t *rows; /* display position -> index of the item */
	uint32_t count;
	struct rank rank;
	uint32_t *ids; /* ids by display position, as last shown */
	int sort;      /* the owner's sort order */
	bool by_name, reverse;
	const uint32_t *pins; /* ids of rows kept on top; borrowed from the owner */
	uint32_t pin_count;
};

/* Rerank, sort from scratch, or keep every row where it is. */
enum order_how { ORDER_KEEP, ORDER_FRESH, ORDER_FREEZE };

void order_done(struct order *o);
void order_update(struct order *o, struct list *l, struct order_item *items, uint32_t count,
	enum order_how how);
/* Sorts by this order, or reverses it if it is the current one. */
void order_sort_by(struct order *o, int sort);
/* The id at the cursor. Returns false if the user has not moved the cursor, or the list is empty. */
bool order_selected(const struct order *o, const struct list *l, uint32_t *id);

#endif
