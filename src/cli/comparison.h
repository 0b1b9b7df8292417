/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a comparison as text, as JSON (doc/diff.schema.json) or in the live view.
 *
 * Percentages, including --fail-over, are relative to the total of side A; if shares are compared,
 * to the total of each side. struct comparison borrows everything. Single-threaded.
 */
#ifndef JHOT_CLI_COMPARISON_H
#define JHOT_CLI_COMPARISON_H

#include "cli/line/args.h"
#include "profile/diff/diff.h"

#include <stdio.h>

struct comparison {
	const struct diff *diff;
	const char *const *files[DIFF_SIDES]; /* of diff->runs[side] recordings */
	unsigned rows;    /* methods to print as text; significant differences are always printed */
	double fail_over; /* percent of the total; negative: not given */
};

/* The largest significant slowdown beyond fail_over, with its name; NULL: none. */
const struct diff_value *comparison_slower(const struct comparison *c, const char **name);

void comparison_print(const struct comparison *c, FILE *out);
/* Runs the live view on side B; blocks until it ends. args: for the screen's options. */
int comparison_view(const struct comparison *c, const struct args *args, struct err *err);
void comparison_print_json(const struct comparison *c, FILE *out);

#endif
