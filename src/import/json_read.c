/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of RFC 8259, one value at a time. */
#include "import/json_read.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 64 /* bytes of a number */

static bool json_bad(struct json_read *r)
{
	r->bad = true;
	return false;
}

/* Skips white space. Returns the next byte, 0 at the end. */
static char json_peek(struct json_read *r)
{
	while (r->at < r->end && memchr(" \t\r\n", *r->at, 4))
		r->at++;
	return r->at < r->end ? *r->at : '\0';
}

bool json_read_enter(struct json_read *r, char open)
{
	if (r->bad || json_peek(r) != open)
		return json_bad(r);
	r->at++;
	r->comma = false;
	return true;
}

static bool json_next(struct json_read *r, char close)
{
	if (r->bad)
		return false;
	char c = json_peek(r);
	if (c == close) {
		r->at++;
		r->comma = true;
		return false;
	}
	if (r->comma && c != ',')
		return json_bad(r);
	if (r->comma) {
		r->at++;
		json_peek(r);
	}
	r->comma = true;
	return true;
}

bool json_read_item(struct json_read *r)
{
	return json_next(r, ']');
}

/* The closing quote of the string at r->at, or NULL. */
static const char *json_text_end(struct json_read *r)
{
	const char *s;

	if (json_peek(r) != '"')
		return NULL;
	for (s = r->at + 1; s < r->end && *s != '"'; s++)
		s += *s == '\\';
	return s < r->end ? s : NULL;
}

bool json_read_key(struct json_read *r, const char **key, size_t *len)
{
	if (!json_next(r, '}'))
		return false;
	const char *end = json_text_end(r);
	if (!end)
		return json_bad(r);
	*key = r->at + 1;
	*len = (size_t)(end - *key);
	r->at = end + 1;
	if (json_peek(r) != ':')
		return json_bad(r);
	r->at++;
	return true;
}

bool json_read_skip(struct json_read *r)
{
	size_t depth = 0;

	if (r->bad)
		return false;
	do {
		const char *end;

		switch (json_peek(r)) {
		case '{':
		case '[': depth++; break;
		case '}':
		case ']':
			if (!depth--)
				return json_bad(r);
			break;
		case '"':
			end = json_text_end(r);
			if (!end)
				return json_bad(r);
			r->at = end;
			break;
		case ',':
		case ':':
			if (!depth)
				return json_bad(r);
			break;
		default:
			end = r->at;
			while (end < r->end &&
				(isalnum((unsigned char)*end) || memchr("+-.", *end, 3)))
				end++;
			if (end == r->at)
				return json_bad(r);
			r->at = end - 1;
		}
		r->at++;
	} while (depth);
	r->comma = true;
	return true;
}

static bool json_hex(const char *s, const char *end, uint32_t *c)
{
	char digits[5] = "";

	for (int i = 0; i < 4; i++)
		if (s + i >= end || !isxdigit((unsigned char)s[i]))
			return false;
	memcpy(digits, s, 4);
	*c = (uint32_t)strtoul(digits, NULL, 16);
	return true;
}

/* Decodes an escape after its backslash. Returns its end, or NULL if it is invalid. */
static const char *json_escape(const char *s, const char *end, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found = s < end && *s ? strchr(from, *s) : NULL;
	uint32_t c, low;
	char text[5];

	if (found) {
		buf_addc(out, to[found - from]);
		return s + 1;
	}
	if (s >= end || *s != 'u' || !json_hex(s + 1, end, &c))
		return NULL;
	s += 5;
	if (c >= 0xd800 && c < 0xdc00 && end - s >= 6 && s[0] == '\\' && s[1] == 'u' &&
		json_hex(s + 2, end, &low) && low >= 0xdc00 && low < 0xe000) {
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		s += 6;
	}
	buf_add(out, text, utf8_put(!c || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c, text));
	return s;
}

bool json_read_text(struct json_read *r, struct buf *out)
{
	const char *end = r->bad ? NULL : json_text_end(r);

	if (!end)
		return json_bad(r);
	for (const char *s = r->at + 1; s < end;) {
		const char *escape = memchr(s, '\\', (size_t)(end - s));

		buf_add(out, s, (size_t)((escape ? escape : end) - s));
		s = escape ? json_escape(escape + 1, end, out) : end;
		if (!s)
			return json_bad(r);
	}
	r->at = end + 1;
	return true;
}

bool json_read_is(struct json_read *r, const char *text)
{
	const char *end = r->bad ? NULL : json_text_end(r);
	size_t len = strlen(text);

	return end && (size_t)(end - r->at) == len + 1 && !memcmp(r->at + 1, text, len);
}

bool json_read_number(struct json_read *r, double *n)
{
	char text[NUMBER_MAX], c = r->bad ? '\0' : json_peek(r), *after;
	size_t len = 0;

	if (c != '-' && !isdigit((unsigned char)c))
		return json_bad(r);
	while (r->at + len < r->end && len < sizeof(text) - 1 && r->at[len] &&
		strchr("0123456789+-.eE", r->at[len])) {
		text[len] = r->at[len];
		len++;
	}
	text[len] = '\0';
	*n = strtod(text, &after);
	if (*after || after == text)
		return json_bad(r);
	r->at += len;
	return true;
}
