/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "Did you mean": finds the candidate nearest to a given word by edit distance.
 *
 * Plain value that borrows the words. best is NULL while no candidate is near: up to a third of the
 * letters may differ, two swapped letters count as one difference.
 */
#ifndef JHOT_CLI_LINE_NEAREST_H
#define JHOT_CLI_LINE_NEAREST_H

#include <stdbool.h>

struct nearest {
	const char *word;
	const char *best;
	int distance;
};

void nearest_init(struct nearest *n, const char *word);
void nearest_offer(struct nearest *n, const char *candidate);

/* True when word is an abbreviation of `meant`, or a typing error of one or two letters. */
bool nearest_is_slip(const char *word, const char *meant);

/* Edit distance: letters added, removed, changed or swapped. Compares the first 31 letters only. */
int nearest_distance(const char *a, const char *b);

#endif
