/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON writer into a buf. It writes commas and quotes, and repairs UTF-8; the caller balances json_begin and json_end. One
 * thread.
 */
#ifndef JHOT_BASE_JSON_H
#define JHOT_BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	struct buf *out;
	bool comma; /* true: the next value is preceded by a comma */
};

/* key: the name of the member; NULL for an element of an array, and for the whole document. */
void json_begin(struct json *j, const char *key, char open);   /* '{' or '[' */
void json_end(struct json *j, char close);                     /* '}' or ']' */
void json_str(struct json *j, const char *key, const char *s); /* NULL: null */
void json_int(struct json *j, const char *key, int64_t v);
void json_num(struct json *j, const char *key, double v); /* null unless finite */
void json_bool(struct json *j, const char *key, bool v);

/* Writes the document and a newline to a stream, and frees j->out. The caller checks the stream for errors. */
void json_print(struct json *j, FILE *stream);

/* Appends a text as a quoted JSON string; usable without a struct json. */
void json_quote(struct buf *out, const char *s);

#endif
