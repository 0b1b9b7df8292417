/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the methods view: view.c, columns.c for the cells, empty.c for an event without samples. */
#ifndef JHOT_TUI_VIEW_METHODS_INSIDE_H
#define JHOT_TUI_VIEW_METHODS_INSIDE_H

#include "profile/profile.h"
#include "profile/table/flat.h"
#include "tui/frame/compare.h"
#include "tui/frame/ui.h"
#include "tui/screen/list.h"
#include "tui/view/pane.h"

#define METHODS_DELTA_COLS  120 /* minimum width for the column */
#define METHODS_AMOUNT_COLS 100
#define METHODS_PINS        8

enum methods_sort { SORT_SELF, SORT_TOTAL, SORT_DELTA, SORT_NAME, SORT_TOTAL_DELTA };

struct methods {
	struct view_state view;
	struct flat *flat;
	struct flat *before;   /* the baseline, else the latest disjoint window; NULL: none */
	uint64_t flat_stamp;   /* stamp of the query that flat was computed from */
	uint64_t before_stamp; /* compare_stamp of before, 0: not a baseline */
	uint32_t wanted;       /* method + 1 to select at the next update; 0: none */
	uint8_t *types;        /* per method: its last frame type + 1; 0: not known */
	uint32_t type_count;
	struct lines *lines; /* hottest lines; NULL while the column is not shown */
	char empty[160];     /* why there are no samples */
	struct pane pane;
	uint32_t filtered;           /* filter_generation of the last update */
	uint32_t pins[METHODS_PINS]; /* methods kept on top */
	uint32_t pin_count;
	uint32_t deltas;        /* changes of 1 point or more that are displayed */
	bool movers_total;      /* riser and faller are by TOTAL% */
	uint32_t riser, faller; /* rows with the largest significant change, or PROFILE_NONE */
};

/* columns.c */

/* The columns; others are shown with a difference. */
struct columns methods_columns(const struct ui *ui);
/* The self or total share of a row; row NULL: none. */
struct compare_share methods_share(const struct flat *f, const struct flat_row *row, bool total);
/* Stores the change in points. Returns true when it is significant. */
bool methods_delta(const struct methods *m, const struct flat_row *row, bool total, double *points);

/* empty.c: shown when the event has no samples: the reason, and which other events may have some. */
void empty_reason(const struct ui *ui, char *out, size_t bytes);
void empty_draw(const struct ui *ui, struct area area, const char *reason);

/* --- columns.c: hottest lines -------------------------------------------------------------------- */

/* The line with most self samples of each method. Computed from a query; the caller frees it. */

struct lines;

struct lines *lines_new(const struct profile *p, const struct profile_query *q);
void lines_free(struct lines *l);

#endif
