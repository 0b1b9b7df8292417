/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the methods view, for its two files: view.c, and columns.c for the cells. */
#ifndef JHOT_TUI_VIEW_METHODS_INSIDE_H
#define JHOT_TUI_VIEW_METHODS_INSIDE_H

#include "profile/profile.h"
#include "profile/table/flat.h"
#include "tui/frame/compare.h"
#include "tui/frame/ui.h"
#include "tui/screen/column.h"
#include "tui/screen/list.h"
#include "tui/screen/order.h"
#include "tui/view/pane.h"

#define METHODS_DELTA_COLS  120 /* from this width on */
#define METHODS_AMOUNT_COLS 100
#define METHODS_PINS        8

enum methods_sort { SORT_SELF, SORT_TOTAL, SORT_DELTA, SORT_NAME, SORT_TOTAL_DELTA };

struct methods {
	struct view_state at;
	struct flat *flat,
		*before; /* before: the baseline, else the window so long ago that they share no second; NULL if none */
	uint64_t flat_stamp;   /* of the question that flat answers */
	uint64_t before_stamp; /* of the baseline that before is of, else 0 */
	uint32_t wanted;       /* method + 1 that the cursor goes to at the next update; 0: none */
	uint8_t *types; /* per method + 1: how it ran when it had samples last; 0: not known */
	uint32_t type_count;
	struct lines *lines; /* hottest, only where there is space for the column */
	struct pane pane;
	uint32_t filtered;           /* the filter's version as of the last update */
	uint32_t pins[METHODS_PINS]; /* methods whose rows stay on top */
	uint32_t pin_count;
	uint32_t riser, faller; /* the rows that moved most beyond chance, or PROFILE_NONE */
};

/* columns.c */

/* What is shown of each row: other columns while a difference is. */
struct columns methods_columns(const struct ui *ui);
/* Self, or total, now and before. */
struct compare_share methods_share(const struct flat *f, const struct flat_row *row, bool total);
/* Points gained since before; false: no more than chance. */
bool methods_delta(const struct methods *m, const struct flat_row *row, bool total, double *points);

/* empty.c: what stands in a view when the shown event has no samples: why, and which other events may have some. */
void empty_draw(struct ui *ui, struct area area);

/* --- lines.c ----------------------------------------------------------------------------------- */

/* The line of each method that has most of its own samples. Derived from a query; the caller frees it. */

struct lines;

struct lines *lines_new(const struct profile *p, const struct profile_query *q);
void lines_free(struct lines *l);
int lines_hottest(const struct lines *l, uint32_t method); /* 0: not known */

#endif
