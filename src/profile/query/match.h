/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One text looked for in the names of methods and in stacks: what a search or a filter is made of.
 *
 *   parse                a name with this anywhere in it, whatever its case
 *   HashMap              the same, but a capital in the text makes case count
 *   =java.util.Map.get   this name and no other
 *
 * A name is looked at once, and a text that was only made longer is looked for where the shorter one was
 * found, so a key costs little however much there is. Owned by the caller; one profile for its life.
 */
#ifndef JHOT_PROFILE_QUERY_MATCH_H
#define JHOT_PROFILE_QUERY_MATCH_H

#include "profile/profile.h"

struct match;
struct match *match_new(void);
void match_free(struct match *m);
void match_set(struct match *m, const char *text); /* "": nothing matches */
const char *match_text(const struct match *m);

bool match_method(struct match *m, const struct profile *p, uint32_t method);
/* Has the stack a method that matches? */
bool match_stack(struct match *m, const struct profile *p, uint32_t stack);
/* The samples of a query with a match on their stack, each counted once. */
struct profile_sum match_sum(
	struct match *m, const struct profile *p, const struct profile_query *q);

/* Where a text stands in a name; NULL if it does not. *bytes gets the length of what was found. */
const char *match_find(const char *name, const char *text, size_t *bytes);

#endif
