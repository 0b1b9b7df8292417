/* SPDX-License-Identifier: Apache-2.0 */
/* Where HotSpot's SafeFetch is, see walk/load/fetch.h. */
#ifndef JHOT_SAMPLER_JVM_FETCH_SEARCH_H
#define JHOT_SAMPLER_JVM_FETCH_SEARCH_H

#include "sampler/sampler.h"

/* Looks on, a part each time; nothing once it has been found, or all has been looked at. Publisher only. */
void fetch_search(struct sampler *s);

#endif
