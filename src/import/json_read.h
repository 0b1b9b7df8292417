/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON read value by value out of memory that ends with a NUL; bytes may be anything.
 *
 * A reader is a plain value: a copy of one that stands before a value reads that value later. After a fault `bad` is
 * true, `at` is where it is, and each further call returns false. Nothing recurses.
 */
#ifndef JHOT_IMPORT_JSON_READ_H
#define JHOT_IMPORT_JSON_READ_H

#include "base/buf.h"

#include <stdbool.h>

struct json_read {
	const char *at, *end;
	bool comma; /* a value was read: a comma comes before the next one */
	bool bad;
};

static inline struct json_read json_read_of(const struct buf *text)
{
	return (struct json_read){text->data, text->data + text->len, false, false};
}

/* Enters an object ('{') or an array ('['). */
bool json_read_enter(struct json_read *r, char open);
/* Whether the array that was entered has another value, which is the next to read; false: it is left. */
bool json_read_item(struct json_read *r);
/* The same of an object, with the member's key as it is written, without quotes. */
bool json_read_key(struct json_read *r, const char **key, size_t *len);
/* The value that comes next: passed over, or read if it is one of these. */
bool json_read_skip(struct json_read *r);
bool json_read_text(struct json_read *r,
	struct buf *out); /* its code points; NUL and surrogates alone: U+FFFD */
bool json_read_is(struct json_read *r,
	const char *text); /* whether it is this text, without escapes; it stays the next */
bool json_read_number(struct json_read *r, double *n);

#endif
