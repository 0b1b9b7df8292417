/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the threads view, for its files: view.c, columns.c for the cells, pane.c for the selected thread,
 * hot.c for its methods.
 */
#ifndef JHOT_TUI_VIEW_THREADS_INSIDE_H
#define JHOT_TUI_VIEW_THREADS_INSIDE_H

#include "profile/table/flat.h"
#include "profile/table/rank.h"
#include "tui/frame/ui.h"
#include "tui/screen/column.h"
#include "tui/screen/list.h"
#include "tui/screen/order.h"
#include "tui/view/threads/rows.h"

/* --- hot.c ------------------------------------------------------------------------------------- */

/*
 * The hottest methods of the selected thread or pool, of the window and event that are shown.
 *
 * Embedded in the view's state, zero-initialised; thread_hot_stale after every update, thread_hot_ask before it
 * is drawn.
 */

struct thread_hot {
	struct flat *flat;       /* NULL: not asked for yet */
	struct rank_item *items; /* its rows in the order that they are shown in: at is the row */
	struct rank rank;
	uint32_t id; /* of the thread's row */
	bool fresh;  /* the order begins anew */
};

void thread_hot_done(struct thread_hot *h);
void thread_hot_stale(struct thread_hot *h, bool fresh);
void thread_hot_ask(struct ui *ui, struct thread_hot *h, const struct thread_row *r);
void thread_hot_draw(struct ui *ui, struct area area, const struct thread_hot *h);

/* --- pane.c ------------------------------------------------------------------------------------ */

/*
 * What stands below the list of threads, or on a wide terminal beside it: the selected one's states, where it is, what
 * it waits for and who holds that. Draws only; all of it is in the row and the profile.
 */

void thread_pane_draw(
	struct ui *ui, struct area area, const struct thread_rows *t, const struct thread_row *r);

/* Beside the list: all of it below each other, and what the thread's time goes to. */
void thread_pane_draw_beside(struct ui *ui, struct area area, const struct thread_rows *t,
	const struct thread_row *r, struct thread_hot *hot);

/*
 * "waits: CartService, held by http-nio-8080-exec-12": of a thread that waits. In fewer columns "by http-nio-8080-exec-12":
 * who it is is the answer.
 */
void thread_pane_wait(
	const struct ui *ui, const struct thread_row *r, int cols, char *out, size_t bytes);

/* --- view.c, columns.c -------------------------------------------------------------------------- */

/* By what they use of an event, or by name. */
enum threads_sort {
	SORT_CPU = EVENT_CPU,
	SORT_ALLOC = EVENT_ALLOC,
	SORT_LOCK = EVENT_LOCK,
	SORT_NAME
};

struct threads {
	struct view_state at; /* its trail: pools whose idle threads are shown */
	struct thread_rows rows;
	struct thread_hot hot; /* of the selected one, on a wide terminal */
	int event;             /* the one that was shown last */
	uint32_t wanted;       /* thread + 1 that the cursor goes to at the next update; 0: none */
};

/* columns.c: what is shown of each thread or pool, as far as the terminal is wide. */
struct columns threads_columns(const struct ui *ui);

#endif
