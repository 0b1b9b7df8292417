/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The baseline of a comparison: a snapshot of every event's window, taken when B is pressed.
 *
 * It consists of samples, so it can be queried like any window, by thread and filter, at any age. A delta is the
 * share now minus the share in the baseline, in percentage points; it is significant where the two 95 % intervals do
 * not overlap. Owned by the ui and valid for its profile only. Not thread-safe.
 */
#ifndef JHOT_TUI_FRAME_COMPARE_H
#define JHOT_TUI_FRAME_COMPARE_H

#include "base/hash.h"
#include "profile/table/calltree.h"
#include "tui/frame/ui.h"

struct compare;
void compare_free(struct compare *c);

bool compare_on(const struct ui *ui);
/* Fills q with the query of the baseline. Returns false while no difference is shown. */
bool compare_query(const struct ui *ui, struct profile_query *q);
/* The baseline's cpu samples, whether or not the difference is shown; NULL without a baseline. Borrowed. */
const struct profile_snapshot *compare_cpu(const struct ui *ui);
/* Changes when the result of compare_query changes: results cached under another value are stale. */
uint64_t compare_stamp(const struct ui *ui);
/* Adds "vs 10s to 14:02:11" to the data-quality line while a difference is shown. */
void compare_bar(const struct ui *ui, struct strip *s);

/* A share: its samples (count of sum_count) and its value (of sum). */
struct compare_share {
	uint64_t count, sum_count, value, sum;
	double samples; /* effective sample size, see error.h; 0: count */
};
/* The sum of both half-widths: the distance at which the two intervals touch. */
double compare_errors(const struct compare_share *now, const struct compare_share *then);
/* Stores the change in points. Returns true when it is significant. */
bool compare_delta(
	const struct compare_share *now, const struct compare_share *then, double *points);
/* Formats the change as "+5.1", or as "~" when it is not significant. Returns true when it is significant. */
bool compare_text(
	char *out, size_t size, const struct compare_share *now, const struct compare_share *then);

/* The baseline's call tree. Embedded, zero-initialized; end with compare_tree_done. */
struct compare_tree {
	struct calltree *tree; /* NULL: no baseline */
	struct hash_index paths;
};
void compare_tree_set(
	struct compare_tree *base, struct calltree *tree); /* takes ownership; NULL: none */
void compare_tree_done(struct compare_tree *base);
/* The change of a node of the tree, as compare_text formats it; "" without a baseline. */
bool compare_node(const struct compare_tree *base, const struct calltree *tree,
	const struct calltree_node *n, char *out, size_t size);

/* Sets the baseline to everything before this second, for a file with two sides (profile/diff/diff.h). */
void compare_begin(struct ui *ui, uint32_t second);

/* Commands. */
unsigned compare_set(struct ui *ui, int arg);
unsigned compare_toggle(struct ui *ui, int arg);

#endif
