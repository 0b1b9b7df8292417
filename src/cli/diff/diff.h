/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison as text for people and as JSON for scripts (doc/diff.schema.json).
 *
 * Shares are of all that side A had (of each side's own where shares are compared), so that they add up and --fail-over is
 * one of them.
 */
#ifndef JHOT_CLI_DIFF_DIFF_H
#define JHOT_CLI_DIFF_DIFF_H

#include "cli/line/args.h"
#include "profile/diff/diff.h"

#include <stdio.h>

struct comparison {
	const struct diff *diff;
	const char *const *files[DIFF_SIDES]; /* of diff->runs[side] recordings */
	unsigned rows;                        /* of text; differences that are sure are all told */
	double fail_over; /* in per cent of all; negative: it is not asked for */
};

/* A value in per cent of all. */
double comparison_percent(const struct diff *d, double value);
/* "new", "gone" or "": what a side does not have at all. */
const char *comparison_word(const struct diff_row *row);
/* Has something surely become slower by more than fail_over? The worst, NULL: no. */
const struct diff_value *comparison_slower(const struct comparison *c, const char **name);

void comparison_print(const struct comparison *c, FILE *out);
/* The live view of it; args: what it takes of the command line. */
int comparison_view(const struct comparison *c, const struct args *args, struct err *err);
void comparison_print_json(const struct comparison *c, FILE *out);

#endif
