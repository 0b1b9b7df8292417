/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pull parser for JSON (RFC 8259) in memory that ends with a NUL. The bytes are not trusted.
 *
 * A reader is a plain value: a copy reads the same position again. Errors are sticky: `bad` is set,
 * `at` is the position, and all further calls return false. No recursion, no allocation. One
 * thread.
 */
#ifndef JHOT_IMPORT_JSON_READ_H
#define JHOT_IMPORT_JSON_READ_H

#include "base/buf.h"

#include <stdbool.h>

struct json_read {
	const char *at, *end;
	bool comma; /* a value was read; a comma must precede the next one */
	bool bad;
};

static inline struct json_read json_read_of(const struct buf *text)
{
	return (struct json_read){text->data, text->data + text->len, false, false};
}

/* Enters an object ('{') or an array ('['). */
bool json_read_enter(struct json_read *r, char open);
/* True if the current array has another value, which is next. False leaves the array. */
bool json_read_item(struct json_read *r);
/* True if the current object has another member. *key: as written, without quotes. */
bool json_read_key(struct json_read *r, const char **key, size_t *len);
/* Skips the next value, or reads it if it has this type; else sets bad. */
bool json_read_skip(struct json_read *r);
bool json_read_number(struct json_read *r, double *n);
/* Appends UTF-8. NUL and unpaired surrogates become U+FFFD. */
bool json_read_text(struct json_read *r, struct buf *out);
/* True if the next value is this text, written without escapes. Does not consume it. */
bool json_read_is(struct json_read *r, const char *text);

#endif
