/* SPDX-License-Identifier: Apache-2.0 */
/* Java's modified UTF-8 differs from UTF-8 in NUL (two bytes) and characters beyond 16 bits (a surrogate pair, 2 x 3 bytes). */
#include "base/clean.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CLEAN_ARRAY_MAX 255 /* Java's limit of dimensions */

static bool clean_is_low(uint32_t c)
{
	return c >= 0xdc00 && c < 0xe000;
}

/* Line and paragraph separators, and characters that change the writing direction, which could disguise a name. */
static bool clean_is_hidden(uint32_t c)
{
	return (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
	       c == 0x200f || c == 0x61c;
}

const char *descriptor_primitive(char letter)
{
	static const struct {
		char letter;
		const char *name;
	} table[] = {{'B', "byte"}, {'C', "char"}, {'D', "double"}, {'F', "float"}, {'I', "int"},
		{'J', "long"}, {'S', "short"}, {'Z', "boolean"}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].letter == letter)
			return table[i].name;
	return NULL;
}

/* Decodes one character of plain or modified UTF-8 and its length; '?' if it is invalid or not printable. */
static uint32_t clean_decode(const char *s, size_t left, size_t *len)
{
	static const uint32_t least[] = {0x20, 0x20, 0xa0, 0x800, 0x10000};
	size_t n = utf8_sequence(s, left);
	uint32_t c = utf8_value(s, n ? (int)n : 1);

	*len = n ? n : 1;
	if (n == 3 && c >= 0xd800 && c < 0xdc00) { /* high surrogate */
		uint32_t low = utf8_sequence(s + 3, left - 3) == 3 ? utf8_value(s + 3, 3) : 0;

		if (!clean_is_low(low))
			return '?';
		*len = 6;
		return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	/* two-byte NUL, C1 controls, overlong forms, invalid code points */
	if (!n || c < least[n] || c == 0x7f || c >= 0x110000 || clean_is_low(c) ||
		clean_is_hidden(c))
		return '?';
	return c;
}

size_t clean_plain(const char *s, size_t left)
{
	size_t n = 0;

	while (n < left && s[n] >= 0x20 && s[n] < 0x7f)
		n++;
	return n;
}

void clean_add(struct buf *out, const char *text, size_t bytes)
{
	size_t len;

	for (size_t i = 0; i < bytes; i += len) {
		char encoded[5];

		len = clean_plain(text + i, bytes - i);
		if (len) {
			buf_add(out, text + i, len);
			continue;
		}
		uint32_t c = clean_decode(text + i, bytes - i, &len);
		buf_add(out, encoded, utf8_put(c, encoded));
	}
}

void clean_text(char *out, size_t out_bytes, const char *text, size_t bytes)
{
	size_t used = 0, len;

	for (size_t i = 0; i < bytes; i += len) {
		char encoded[5];
		size_t n = utf8_put(clean_decode(text + i, bytes - i, &len), encoded);

		if (used + n >= out_bytes)
			break;
		memcpy(out + used, encoded, n);
		used += n;
	}
	out[used] = '\0';
}

void clean_shared(char *out, size_t out_bytes, const char *text, size_t bytes)
{
	char copy[512];
	size_t len = bytes < sizeof(copy) ? bytes : sizeof(copy);

	memcpy(copy, text, len); /* copy first: the other process may write concurrently */
	len = strnlen(copy, len);
	clean_text(out, out_bytes, copy, len);
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

/* Replaces slashes by dots, and "+0x..." of a hidden class by "/0x...", as Java does. */
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

	/* "[unloaded]" etc. are not arrays: an array's name ends with a letter or ';'. */
	if (bytes > 2 && text[0] == '[' && text[bytes - 1] == ']') {
		clean_add(out, text, bytes);
		return;
	}
	while (arrays < bytes && arrays < CLEAN_ARRAY_MAX && text[arrays] == '[')
		arrays++;
	const char *primitive =
		arrays && bytes == arrays + 1 ? descriptor_primitive(text[arrays]) : NULL;
	if (primitive)
		buf_adds(out, primitive);
	else if (arrays && bytes > arrays + 2 && text[arrays] == 'L' && text[bytes - 1] == ';')
		clean_add_dotted(out, text + arrays + 1, bytes - arrays - 2);
	else
		clean_add_dotted(out, text + arrays, bytes - arrays);
	for (size_t i = 0; i < arrays; i++)
		buf_adds(out, "[]");
}
