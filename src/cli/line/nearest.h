/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "Did you mean": the offered word that is spelt most like a given one.
 *
 * Plain value; points at the offered words. best stays NULL while none is near (a third of the letters
 * may differ; two swapped letters count once).
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

/* nearest_is_slip: is the word the other one mistyped by a letter or two, or an abbreviation of it? */
bool nearest_is_slip(const char *word, const char *meant);

/* nearest_distance: letters to add, drop, change or swap. Only the first 31 letters count. */
int nearest_distance(const char *a, const char *b);

#endif
