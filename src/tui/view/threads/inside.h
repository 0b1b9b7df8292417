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

/* --- pane.c: the selected thread ----------------------------------------------------------------- */

/*
 * The selected thread or pool, below the list or, on a wide terminal, beside it: its states, its stack, the lock it waits for
 * and that lock's owner; beside the list also its hottest methods in the shown window and event.
 *
 * Embedded in the view's state, zero-initialized. Call thread_pane_invalidate after every update, thread_pane_load before
 * drawing and thread_pane_done at the end.
 */

struct thread_pane {
	struct pane_table hot;
	char waits
		[1024]; /* "waits 1.2s for Cart, held by worker-3"; "": it does not wait for a lock */
	char waited[512]; /* the lock that it waited for most in the window; likewise */
	uint32_t id;      /* of the row that it belongs to */
	bool loaded;
	bool fresh; /* sort from scratch */
};

void thread_pane_done(struct thread_pane *p);
void thread_pane_invalidate(struct thread_pane *p, bool fresh);
void thread_pane_load(struct ui *ui, struct thread_pane *p, const struct thread_rows *t,
	const struct thread_row *r, bool beside);
void thread_pane_draw(struct ui *ui, struct area area, const struct thread_pane *p,
	const struct thread_rows *t, const struct thread_row *r);
void thread_pane_draw_beside(struct ui *ui, struct area area, const struct thread_pane *p,
	const struct thread_rows *t, const struct thread_row *r);

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
	struct thread_pane pane; /* of the selected row */
	int event;               /* the event of the last update */
	uint32_t wanted;         /* thread + 1 to select at the next update; 0: none */
};

#endif
