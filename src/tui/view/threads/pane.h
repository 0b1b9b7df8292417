/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands below the list of threads, or on a wide terminal beside it: the selected one's states, where it is, what
 * it waits for and who holds that. Draws only; all of it is in the row and the profile.
 */
#ifndef JHOT_TUI_VIEW_THREADS_PANE_H
#define JHOT_TUI_VIEW_THREADS_PANE_H

#include "tui/view/threads/hot.h"
#include "tui/view/threads/rows.h"

void thread_pane_draw(
	struct ui *ui, struct area area, const struct thread_rows *t, const struct thread_row *r);

/* Beside the list: all of it below each other, and what the thread's time goes to. */
void thread_pane_draw_beside(struct ui *ui, struct area area, const struct thread_rows *t,
	const struct thread_row *r, struct thread_hot *hot);

/* "CartService, held by http-nio-8080-exec-12": of a thread that waits. */
void thread_pane_wait(
	const struct ui *ui, const struct thread_row *r, bool packages, char *out, size_t bytes);

#endif
