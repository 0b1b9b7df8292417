/* SPDX-License-Identifier: Apache-2.0 */
/* The line of each method that has most of its own samples. Derived from a query; the caller frees it. */
#ifndef JHOT_TUI_VIEW_METHODS_LINES_H
#define JHOT_TUI_VIEW_METHODS_LINES_H

#include "profile/profile.h"

struct lines;

struct lines *lines_new(const struct profile *p, const struct profile_query *q);
void lines_free(struct lines *l);
int lines_hottest(const struct lines *l, uint32_t method); /* 0: not known */

#endif
