/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the threads view, for its two files: view_threads.c, and threads_columns.c for the cells. */
#ifndef JHOT_TUI_THREADS_H
#define JHOT_TUI_THREADS_H

#include "tui/column.h"
#include "tui/list.h"
#include "tui/order.h"
#include "tui/thread_hot.h"
#include "tui/thread_rows.h"
#include "tui/ui.h"

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

/* threads_columns.c: what is shown of each thread or pool, as far as the terminal is wide. */
struct columns threads_columns(const struct ui *ui);

#endif
