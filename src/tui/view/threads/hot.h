/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hottest methods of the selected thread or pool, of the window and event that are shown.
 *
 * Derived when they are drawn, since the cursor moves without an update. Embedded in the view's state,
 * zero-initialised; thread_hot_stale after every update.
 */
#ifndef JHOT_TUI_VIEW_THREADS_HOT_H
#define JHOT_TUI_VIEW_THREADS_HOT_H

#include "profile/table/flat.h"
#include "profile/table/rank.h"
#include "tui/view/threads/rows.h"

struct thread_hot {
	struct flat *flat;       /* NULL: not asked for yet */
	struct rank_item *items; /* its rows in the order that they are shown in */
	struct rank rank;
	uint32_t id; /* of the thread's row */
	bool fresh;  /* the order begins anew */
};

void thread_hot_done(struct thread_hot *h);
void thread_hot_stale(struct thread_hot *h, bool fresh);
void thread_hot_draw(
	struct ui *ui, struct area area, struct thread_hot *h, const struct thread_row *r);

#endif
