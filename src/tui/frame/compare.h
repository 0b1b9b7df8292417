/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A baseline to compare with: the window of every event as it was when B was pressed, kept as samples.
 *
 * So it can be asked like any window, by thread and filter, however old it gets. Deltas are points of the
 * share now minus the share then, and hold only where the two 95 % intervals are apart. Owned by the ui;
 * goes with its profile.
 */
#ifndef JHOT_TUI_FRAME_COMPARE_H
#define JHOT_TUI_FRAME_COMPARE_H

#include "base/hash.h"
#include "profile/table/calltree.h"
#include "tui/frame/ui.h"
#include "tui/screen/strip.h"

struct compare;
void compare_free(struct compare *c);

bool compare_on(const struct ui *ui);
/* The query of the baseline in place of the window; false: the difference is not shown. */
bool compare_query(const struct ui *ui, struct profile_query *q);
/* What cpu was in it, whether it is compared with or not; NULL: there is no baseline. */
const struct profile_snapshot *compare_cpu(const struct ui *ui);
/* Another number when what compare_query asks has another answer. */
uint64_t compare_stamp(const struct ui *ui);
void compare_bar(const struct ui *ui, struct strip *s);

/* A share: of how many samples (count of sum_count), of what value. */
struct compare_share {
	uint64_t count, sum_count, value, sum;
	double samples; /* as sure as so many equal ones, see error.h; 0: as its own number */
};
/* The two half widths together: what intervals that just touch are apart. */
double compare_errors(const struct compare_share *now, const struct compare_share *then);
/* Points gained since then; false: chance may explain it. */
bool compare_delta(
	const struct compare_share *now, const struct compare_share *then, double *points);
/* "+5.1" or "~"; true: it is a difference. */
bool compare_text(
	char *out, size_t size, const struct compare_share *now, const struct compare_share *then);

/* The baseline's call tree, beside the one that is shown; embedded, zero-initialised. */
struct compare_tree {
	struct calltree *tree; /* NULL: there is none */
	struct hash_index paths;
};
void compare_tree_set(struct compare_tree *base, struct calltree *tree); /* takes it; NULL: none */
void compare_tree_done(struct compare_tree *base);
/* What a node of the tree gained since then: "" without a baseline, else as compare_text. */
bool compare_node(const struct compare_tree *base, const struct calltree *tree,
	const struct calltree_node *n, char *out, size_t size);

/* With all that is before this second, of a file that has both sides (profile/diff/diff.h). */
void compare_begin(struct ui *ui, uint32_t second);

/* Commands. */
unsigned compare_set(struct ui *ui, int arg);
unsigned compare_toggle(struct ui *ui, int arg);

#endif
