/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the threads view, for its two files: view.c, and columns.c for the cells. */
#ifndef JHOT_TUI_VIEW_THREADS_INSIDE_H
#define JHOT_TUI_VIEW_THREADS_INSIDE_H

#include "tui/frame/ui.h"
#include "tui/screen/column.h"
#include "tui/screen/list.h"
#include "tui/screen/order.h"
#include "tui/view/threads/hot.h"
#include "tui/view/threads/rows.h"

enum threads_sort { SORT_CPU, SORT_ALLOC, SORT_LOCK, SORT_NAME };

struct threads {
	const struct ui *ui;
	struct thread_rows rows;
	struct order order;
	struct list list;
	struct thread_hot hot; /* of the selected one, on a wide terminal */
	bool merged;
	int event; /* the one that was shown last */
};

/* columns.c: what is shown of each thread or pool, as far as the terminal is wide. */
struct columns threads_columns(const struct ui *ui);

#endif
