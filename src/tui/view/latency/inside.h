/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the latency view.
 *
 *   view.c      its state: computed at each refresh from the calls of the profile; commands
 *   figures.c   percentiles, shares of states, histogram, causes, notes; bars divided by state
 *   calls.c     the list of the slowest calls; the timeline of one of them; the call tree of a range of durations, beside
 *               that of the other calls
 *
 * Drawing uses only the state, so keys cost no computation, and a frozen screen keeps its figures.
 */
#ifndef JHOT_TUI_VIEW_LATENCY_INSIDE_H
#define JHOT_TUI_VIEW_LATENCY_INSIDE_H

#include "profile/calls/compare.h"
#include "profile/calls/report.h"
#include "tui/frame/ui.h"

#define LATENCY_ROWS  40 /* single calls in the list */
#define LATENCY_NOTES 8

struct latency_call {
	struct call call;
	char thread[64];
	char lock[CALLS_LOCK];     /* call_lock_text */
	struct call_phase *phases; /* NULL: not loaded, or overwritten */
	uint32_t phase_count;
};

struct latency_note {
	char brief[80], sentence[200];
};

struct latency {
	/* list: the slowest calls, or the phases of the one whose timeline is shown */
	struct view_state view;
	enum view_id from;
	struct list calls; /* the list of calls, while a timeline is shown */

	/* The figures were computed from this. */
	bool computed;   /* false: there are none yet */
	unsigned serial; /* of the measurement */
	int window;
	bool frozen;
	uint32_t frozen_to;       /* seconds, if frozen */
	struct calls_query asked; /* the window */
	struct calls_query query; /* its part with exact counts of calls, if that is most of it */

	struct calls_summary sum;
	struct calls_cause causes[CALLS_CAUSES];
	uint32_t cause_count;
	struct latency_note notes[LATENCY_NOTES];
	unsigned note_count;
	struct latency_call rows[LATENCY_ROWS]; /* the slowest first */
	uint32_t row_count;
	/* These only grow while the same calls are measured, so that columns do not move. */
	unsigned states;             /* columns of states, a bit per enum call_state */
	int bucket_first, bucket_to; /* buckets of the histogram: [first, to) */

	/* The calls that are compared with the others. */
	int range; /* 0: the slowest 1 %; else see latency_range() */
	struct calls_query slow;
	uint32_t slow_count;
	double slow_states[CALL_STATES];
	char slow_label[2 * CALLS_TEXT]; /* "slowest 1 %", "20 ms-89 ms" */

	bool opened; /* the timeline of this call is shown */
	struct latency_call open;
	bool compared;                 /* the call tree is shown */
	struct calls_comparison *both; /* its nodes; NULL: the range or the rest has no calls */
};

static inline bool latency_lists_calls(const struct latency *l)
{
	return !l->opened && !l->compared;
}

static inline struct latency *latency_state(const struct ui *ui)
{
	return (struct latency *)ui->states[VIEW_LATENCY];
}

/* The row under the cursor; NULL: none, or a timeline is shown. */
const struct latency_call *latency_selected(const struct latency *l);

/* --- figures.c ------------------------------------------------------------------------------- */

/* Draws a bar of the shares, which add up to 1 or less, in columns [col, end). */
void bar_shares(const struct ui *ui, int row, int col, int end, const double shares[CALL_STATES]);
/* Draws one column per state, CALL_STATES: not known, as runs of equal states. */
void bar_columns(const struct ui *ui, int row, int col, const uint8_t *states, int count);
/* Writes "lock 92%  io 5%", largest first, as far as it fits. Returns the column after it. */
int bar_numbers(const struct ui *ui, int row, int col, int end, const double shares[CALL_STATES]);
/* The style of a state's name: its color in bars. */
enum style bar_style(enum call_state state);

/* Draws the figures of all calls at the top of the area. Returns the rest of the area, for the list of single calls. */
struct area figures_draw(const struct ui *ui, struct area area);
/* Draws why there are no figures, and what to do. */
void figures_draw_empty(const struct ui *ui, struct area area);

/* --- calls.c --------------------------------------------------------------------------------- */

void calls_draw_list(const struct ui *ui, struct area area);
void calls_draw_timeline(const struct ui *ui, struct area area);
void calls_draw_tree(const struct ui *ui, struct area area);
/* The node of the tree under the cursor; NULL: none. */
const struct calls_node *calls_selected_node(const struct latency *l);

#endif
