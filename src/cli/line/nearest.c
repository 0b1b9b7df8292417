/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance with transpositions (optimal string alignment). Three rows of its matrix suffice. */
#include "cli/line/nearest.h"

#include <stddef.h>
#include <string.h>

#define LETTERS 31

static int min3(int a, int b, int c)
{
	int m = a < b ? a : b;

	return m < c ? m : c;
}

int nearest_distance(const char *a, const char *b)
{
	int rows[3][LETTERS + 1];
	size_t alen = strnlen(a, LETTERS), blen = strnlen(b, LETTERS);

	for (size_t j = 0; j <= blen; j++)
		rows[0][j] = (int)j;
	for (size_t i = 1; i <= alen; i++) {
		int *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];

		row[0] = (int)i;
		for (size_t j = 1; j <= blen; j++) {
			row[j] =
				min3(up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min3(row[j], up2[j - 2] + 1, row[j]);
		}
	}
	return rows[alen % 3][blen];
}

void nearest_init(struct nearest *n, const char *word)
{
	size_t len = strnlen(word, LETTERS);

	*n = (struct nearest){.word = word, .distance = len < 3 ? 1 : (int)(len + 5) / 3};
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	int d = nearest_distance(n->word, candidate);

	if (d < n->distance) {
		n->distance = d;
		n->best = candidate;
	}
}

/* True when the letters of word occur in `of` in order, and both begin with the same: "ls" and "list". */
static bool is_short_for(const char *word, const char *of)
{
	if (!word[0] || !word[1] || word[0] != of[0])
		return false;
	for (; *of && *word; of++)
		word += *word == *of;
	return !*word;
}

bool nearest_is_slip(const char *word, const char *meant)
{
	size_t len = strlen(word);
	int slips = len < 3 ? 0 : len < 6 ? 1 : 2;

	return is_short_for(word, meant) || nearest_distance(word, meant) <= slips;
}
