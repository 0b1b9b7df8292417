/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer. Invalid UTF-8 becomes U+FFFD, so the output is always well-formed. */
#include "base/json.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>

static void json_quote_char(struct buf *out, unsigned char c)
{
	switch (c) {
	case '"': buf_adds(out, "\\\""); break;
	case '\\': buf_adds(out, "\\\\"); break;
	case '\n': buf_adds(out, "\\n"); break;
	case '\t': buf_adds(out, "\\t"); break;
	default:
		if (c < 0x20 || c == 0x7f)
			buf_printf(out, "\\u%04x", c);
		else
			buf_addc(out, (char)c);
	}
}

void json_quote(struct buf *out, const char *s)
{
	buf_addc(out, '"');
	while (*s) {
		int len = utf8_len(s);

		if (len == 0) {
			buf_adds(out, "\xef\xbf\xbd");
			s++;
		} else if (len == 1) {
			json_quote_char(out, (unsigned char)*s++);
		} else if ((unsigned char)s[0] == 0xc2 &&
			   (unsigned char)s[1] < 0xa0) { /* C1 controls */
			buf_printf(out, "\\u%04x", (unsigned char)s[1]);
			s += 2;
		} else {
			buf_add(out, s, (size_t)len);
			s += len;
		}
	}
	buf_addc(out, '"');
}

/* Begins a value: the comma after the previous one, and its key. */
static void json_next(struct json *j, const char *key)
{
	if (j->comma)
		buf_addc(j->out, ',');
	j->comma = true;
	if (key) {
		json_quote(j->out, key);
		buf_addc(j->out, ':');
	}
}

void json_begin(struct json *j, const char *key, char open)
{
	json_next(j, key);
	buf_addc(j->out, open);
	j->comma = false;
}

void json_end(struct json *j, char close)
{
	buf_addc(j->out, close);
	j->comma = true;
}

void json_str(struct json *j, const char *key, const char *s)
{
	json_next(j, key);
	if (s)
		json_quote(j->out, s);
	else
		buf_adds(j->out, "null");
}

void json_int(struct json *j, const char *key, int64_t v)
{
	json_next(j, key);
	buf_printf(j->out, "%" PRId64, v);
}

void json_num(struct json *j, const char *key, double v)
{
	json_next(j, key);
	if (isfinite(v))
		buf_printf(j->out, "%.6g", v);
	else
		buf_adds(j->out, "null");
}

void json_bool(struct json *j, const char *key, bool v)
{
	json_next(j, key);
	buf_adds(j->out, v ? "true" : "false");
}

void json_print(struct json *j, FILE *stream)
{
	buf_addc(j->out, '\n');
	fwrite(j->out->data, 1, j->out->len, stream);
	buf_done(j->out);
}
