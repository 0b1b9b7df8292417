/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing names where libc may not be called. */
#ifndef JHOT_WALK_LOAD_TEXT_H
#define JHOT_WALK_LOAD_TEXT_H

#include <stdbool.h>

static inline bool text_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static inline bool text_starts(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return !*prefix;
}

#endif
