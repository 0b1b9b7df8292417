/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a list's rows on the screen: ranked without jitter, the selected row on its line.
 *
 * Each refresh gives the rows anew with an id that stays; order says which is shown where. rank.h keeps
 * rows in place until the data justifies a move; then the selected row is put back on its screen line and
 * the others flow around it. What is shown is what the next refresh starts from, so a row that is let go
 * finds its place by itself. Embedded, zero-initialised.
 */
#ifndef JHOT_TUI_SCREEN_ORDER_H
#define JHOT_TUI_SCREEN_ORDER_H

#include "profile/table/rank.h"
#include "tui/screen/list.h"

struct order_item {
	uint32_t id;
	uint64_t count;   /* samples, for the noise */
	double key;       /* larger first */
	const char *name; /* for sorting by name */
};

struct order {
	uint32_t *rows; /* place on the screen -> index of the item */
	uint32_t count;
	struct rank rank;
	uint32_t *ids; /* of the places, as last shown */
	int sort;      /* what the owner sorts by, a number of its own */
	bool by_name, reverse;
	const uint32_t *pins; /* ids of rows that stay on top, the owner's */
	uint32_t pin_count;
};

enum order_how { ORDER_KEEP, ORDER_FRESH, ORDER_HOLD };

void order_done(struct order *o);
void order_update(struct order *o, struct list *l, struct order_item *items, uint32_t count,
	enum order_how how);
/* A column's title was clicked: by it, or the other way round if it is that already. */
void order_sort_by(struct order *o, int sort);
/* The id under the cursor once somebody moved it. false: nobody did, or the list is empty. */
bool order_selected(const struct order *o, const struct list *l, uint32_t *id);

#endif
