/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the threads view: view.c has the list and its columns, pane.c the selected thread and its methods.
 */
#ifndef JHOT_TUI_VIEW_THREADS_INSIDE_H
#define JHOT_TUI_VIEW_THREADS_INSIDE_H

#include "profile/table/flat.h"
#include "profile/table/rank.h"
#include "tui/frame/ui.h"
#include "tui/screen/column.h"
#include "tui/screen/list.h"
#include "tui/view/pane.h"
#include "tui/view/threads/rows.h"

/* --- pane.c: hottest methods --------------------------------------------------------------------- */

/*
 * The hottest methods of the selected thread or pool, in the shown window and event.
 *
 * Embedded in the view's state, zero-initialized. Call thread_hot_invalidate after every update, thread_hot_load before
 * drawing and thread_hot_done at the end.
 */

struct thread_hot {
	struct pane_table table;
	uint32_t id; /* of the row that it belongs to */
	bool fresh;  /* sort from scratch */
};

void thread_hot_done(struct thread_hot *h);
void thread_hot_invalidate(struct thread_hot *h, bool fresh);
void thread_hot_load(struct ui *ui, struct thread_hot *h, const struct thread_row *r);

/* --- pane.c: the selected thread ----------------------------------------------------------------- */

/*
 * The selected thread, below the list or, on a wide terminal, beside it: its states, its stack, the lock it waits for
 * and that lock's owner. Draws only.
 */

void thread_pane_draw(
	struct ui *ui, struct area area, const struct thread_rows *t, const struct thread_row *r);

/* The same beside the list, with the thread's hottest methods. */
void thread_pane_draw_beside(struct ui *ui, struct area area, const struct thread_rows *t,
	const struct thread_row *r, struct thread_hot *hot);

/*
 * Formats what a waiting thread waits for: "waits: CartService, held by http-nio-8080-exec-12". In fewer columns only the
 * owner: "by http-nio-8080-exec-12".
 */
void thread_pane_wait(
	const struct ui *ui, const struct thread_row *r, int cols, char *out, size_t bytes);

/* --- view.c -------------------------------------------------------------------------------------- */

/* By the weight of an event, or by name. */
enum threads_sort {
	SORT_CPU = EVENT_CPU,
	SORT_ALLOC = EVENT_ALLOC,
	SORT_LOCK = EVENT_LOCK,
	SORT_NAME
};

struct threads {
	struct view_state at; /* trail: pools whose idle threads are shown */
	struct thread_rows rows;
	struct thread_hot hot; /* of the selected row, on a wide terminal */
	int event;             /* the event of the last update */
	uint32_t wanted;       /* thread + 1 to select at the next update; 0: none */
};

#endif
