/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing arrays with a 32-bit capacity *cap. New elements are uninitialized after fit(), and zero
 * after fit_zeroed(), whose untouched pages cost nothing. Both return the array, which the caller
 * owns and frees.
 */
#ifndef JHOT_PROFILE_MODEL_FIT_H
#define JHOT_PROFILE_MODEL_FIT_H

#include "base/buf.h"
#include "base/vacant.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void *fit(void *list, uint32_t *cap, uint32_t need, size_t size)
{
	if (need <= *cap)
		return list;
	*cap = need < 64 ? 64 : need + need / 2;
	return xreallocarray(list, *cap, size);
}

static inline void *fit_zeroed(void *list, uint32_t *cap, uint32_t need, size_t size)
{
	uint32_t old_cap = *cap;
	void *fresh;

	if (need <= old_cap)
		return list;
	*cap = need + need / 8 + 16;
	fresh = xcalloc(*cap, size);
	if (list)
		memcpy(fresh, list, old_cap * size);
	free(list);
	return fresh;
}

/* The id for a new entry of a table: the lowest free one, else the next. */
static inline uint32_t fit_id(struct vacant *vacant, uint32_t *count)
{
	uint32_t id = vacant_allocate(vacant, 0);

	return id == VACANT_NONE ? (*count)++ : id;
}

#endif
