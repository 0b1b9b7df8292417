/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON writer into a buf: commas, quoting and UTF-8 repair done here, nesting kept by the caller's
 * begin/end pairs. json_key is followed by exactly one value.
 */
#ifndef JHOT_BASE_JSON_H
#define JHOT_BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct json {
	struct buf *out;
	bool comma; /* a value stands before the next one */
};

void json_begin(struct json *j, char open); /* '{' or '[' */
void json_end(struct json *j, char close);  /* '}' or ']' */
void json_key(struct json *j, const char *key);
void json_str(struct json *j, const char *s);
void json_int(struct json *j, int64_t v);
void json_num(struct json *j, double v);
void json_bool(struct json *j, bool v);
void json_null(struct json *j);

/* The quoted form of a text, also for others who write quoted strings. */
void json_quote(struct buf *out, const char *s);

#endif
