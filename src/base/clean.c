/* SPDX-License-Identifier: Apache-2.0 */
/* Java's modified UTF-8 differs from UTF-8 in NUL and in characters beyond 16 bits (two times 3 bytes). */
#include "base/clean.h"

#include "base/descriptor.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CLEAN_ARRAY_MAX 255 /* dimensions that Java allows */

static bool clean_continues(const unsigned char *s, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* The 16-bit value of a 3-byte sequence at s, 0 if it is none. */
static uint32_t clean_three(const unsigned char *s, size_t left)
{
	if (left < 3 || (s[0] & 0xf0) != 0xe0 || !clean_continues(s, 3))
		return 0;
	return (uint32_t)(s[0] & 15) << 12 | (uint32_t)(s[1] & 63) << 6 | (uint32_t)(s[2] & 63);
}

static bool clean_is_high(uint32_t c)
{
	return c >= 0xd800 && c < 0xdc00;
}

static bool clean_is_low(uint32_t c)
{
	return c >= 0xdc00 && c < 0xe000;
}

/* Line and paragraph separators, and what turns the direction of writing: a name would show as another. */
static bool clean_is_hidden(uint32_t c)
{
	return (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
	       c == 0x200f || c == 0x61c;
}

/* Decodes one character of modified or plain UTF-8: its value and length, or '?' and 1. */
static uint32_t clean_decode(const unsigned char *s, size_t left, size_t *len)
{
	uint32_t c = 0, low;

	*len = 1;
	if (s[0] < 0x80)
		return s[0] < 0x20 || s[0] == 0x7f ? '?' : s[0];
	if (left >= 2 && (s[0] & 0xe0) == 0xc0 && clean_continues(s, 2)) {
		c = (uint32_t)(s[0] & 31) << 6 | (uint32_t)(s[1] & 63);
		*len = 2;
		return c >= 0xa0 && !clean_is_hidden(c)
			       ? c
			       : '?'; /* NUL as two bytes, C1 controls, overlong forms */
	}
	if (left >= 4 && (s[0] & 0xf8) == 0xf0 && clean_continues(s, 4)) {
		c = (uint32_t)(s[0] & 7) << 18 | (uint32_t)(s[1] & 63) << 12 |
		    (uint32_t)(s[2] & 63) << 6 | (uint32_t)(s[3] & 63);
		*len = 4;
		return c >= 0x10000 && c < 0x110000 ? c : '?';
	}
	c = clean_three(s, left);
	if (c < 0x800)
		return '?';
	*len = 3;
	if (!clean_is_high(c))
		return clean_is_low(c) || clean_is_hidden(c) ? '?' : c;
	low = left > 3 ? clean_three(s + 3, left - 3) : 0;
	if (!clean_is_low(low))
		return '?';
	*len = 6;
	return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

static size_t clean_encode(uint32_t c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

void clean_add(struct buf *out, const char *text, size_t bytes)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len;

	for (size_t i = 0; i < bytes; i += len) {
		char encoded[4];
		uint32_t c = clean_decode(s + i, bytes - i, &len);

		buf_add(out, encoded, clean_encode(c, encoded));
	}
}

void clean_text(char *out, size_t out_bytes, const char *text, size_t bytes)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t used = 0, len;

	for (size_t i = 0; i < bytes; i += len) {
		char encoded[4];
		size_t n = clean_encode(clean_decode(s + i, bytes - i, &len), encoded);

		if (used + n >= out_bytes)
			break;
		memcpy(out + used, encoded, n);
		used += n;
	}
	out[used] = '\0';
}

void clean_own(char *text)
{
	size_t len = strlen(text);

	clean_text(text, len + 1, text, len);
}

void clean_lines(char *text)
{
	char *to = text;

	for (bool more = true; more;) {
		size_t len = strcspn(text, "\n");

		more = text[len] == '\n';
		clean_text(to, len + 1, text, len);
		to += strlen(to);
		text += len + 1;
		if (more)
			*to++ = '\n';
	}
	*to = '\0';
}

void clean_word(char *out, size_t out_bytes, const char *text)
{
	clean_text(out, out_bytes, text, strlen(text));
	for (; *out; out++)
		if (!((unsigned char)*out >= 0x80 || isalnum((unsigned char)*out) ||
			    strchr("._-/:@%+=,", *out)))
			*out = '_';
}

/* Dots for slashes; a hidden class's suffix "+0x..." is written "/0x..." as Java does. */
static void clean_add_dotted(struct buf *out, const char *text, size_t bytes)
{
	size_t from;

	for (from = out->len, clean_add(out, text, bytes); from < out->len; from++) {
		char *c = out->data + from;

		if (*c == '/' && strncmp(c, "/0x", 3))
			*c = '.';
		else if (*c == '+' && !strncmp(c, "+0x", 3))
			*c = '/';
	}
}

void clean_add_class(struct buf *out, const char *text, size_t bytes)
{
	size_t arrays = 0;
	const char *primitive;

	/* "[unloaded]" and the like are no arrays: their names end with a letter or with ';'. */
	if (bytes > 2 && text[0] == '[' && text[bytes - 1] == ']') {
		clean_add(out, text, bytes);
		return;
	}
	while (arrays < bytes && arrays < CLEAN_ARRAY_MAX && text[arrays] == '[')
		arrays++;
	primitive = arrays && bytes == arrays + 1 ? descriptor_primitive(text[arrays]) : NULL;
	if (primitive)
		buf_adds(out, primitive);
	else if (arrays && bytes > arrays + 2 && text[arrays] == 'L' && text[bytes - 1] == ';')
		clean_add_dotted(out, text + arrays + 1, bytes - arrays - 2);
	else
		clean_add_dotted(out, text + arrays, bytes - arrays);
	for (size_t i = 0; i < arrays; i++)
		buf_adds(out, "[]");
}
