/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text matched against methods and stacks, for searches and filter terms.
 *
 *   parse                case-insensitive substring of the name
 *   HashMap              case-sensitive substring, as the text has a capital
 *   =java.util.Map.get   the whole name
 *
 * Results are cached per method and stack. Extending the text only re-checks names that matched
 * before, so typing stays fast. The caller owns the match, which must be used with one profile
 * only. Not thread-safe.
 */
#ifndef JHOT_PROFILE_QUERY_MATCH_H
#define JHOT_PROFILE_QUERY_MATCH_H

#include "profile/profile.h"

struct match;
struct match *match_new(void);
void match_free(struct match *m);
void match_set(struct match *m, const char *text); /* copied; "" matches nothing */
const char *match_text(const struct match *m);

bool match_method(struct match *m, const struct profile *p, uint32_t method);
/* Sum of the samples whose stack matches, each counted once. */
struct profile_sum match_sum(
	struct match *m, const struct profile *p, const struct profile_query *q);

/* The first occurrence of a text in a name, and its length in *bytes. NULL: none. */
const char *match_find(const char *name, const char *text, size_t *bytes);

#endif
