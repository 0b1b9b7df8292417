/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of records that wait for names, in one byte array. */
#include "session/late.h"

#include "base/buf.h"
#include "wire/record.h"

#include <stdlib.h>
#include <string.h>

#define LATE_MIN (64u << 10) /* bytes */

void late_append(struct late *l, const void *record, size_t size, uint64_t now_ns)
{
	if (!late_any(l))
		l->since_ns = now_ns;
	if (l->end + size > l->cap && l->begin) {
		memmove(l->bytes, l->bytes + l->begin, l->end - l->begin);
		l->end -= l->begin;
		l->begin = 0;
	}
	if (l->end + size > l->cap) {
		l->cap = 2 * l->cap + LATE_MIN + size;
		l->bytes = xreallocarray(l->bytes, l->cap, 1);
	}
	memcpy(l->bytes + l->end, record, size);
	l->end += size;
}

const void *late_first(const struct late *l)
{
	return l->bytes + l->begin;
}

void late_remove_first(struct late *l, uint64_t now_ns)
{
	l->begin += ((const struct wire_record *)late_first(l))->size;
	if (late_any(l))
		return;
	l->waited_ns += now_ns - l->since_ns;
	l->since_ns = 0;
	l->begin = l->end = 0;
	if (l->cap > 16 * LATE_MIN) {
		free(l->bytes);
		l->bytes = NULL;
		l->cap = 0;
	}
}

uint64_t late_ns(const struct late *l, uint64_t now_ns)
{
	return l->waited_ns + (l->since_ns ? now_ns - l->since_ns : 0);
}

void late_done(struct late *l)
{
	free(l->bytes);
	*l = (struct late){0};
}
