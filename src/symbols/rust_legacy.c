/* SPDX-License-Identifier: Apache-2.0 */
/* Rust's legacy mangling, without the hash: _ZN4core3fmt5write17h0123456789abcdefE. C++'s, with escapes and a hash at the end. */
#include "symbols/demangle.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HASH_BYTES 17 /* "h" and 16 hexadecimal digits */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The value of a lower-case hexadecimal digit, -1 if it is none. */
static int hex_digit(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_hash(const char *s, size_t len)
{
	if (len != HASH_BYTES || *s != 'h')
		return false;
	for (size_t i = 1; i < len; i++)
		if (hex_digit(s[i]) < 0)
			return false;
	return true;
}

/* An escape "$LT$" at s. Its length, 0 if it is none. */
static size_t add_escape(struct buf *out, const char *s, size_t len)
{
	static const struct {
		const char *name;
		char c;
	} names[] = {{"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'}, {"GT", '>'}, {"LP", '('},
		{"RP", ')'}, {"C", ','}};
	const char *end = len > 1 ? memchr(s + 1, '$', len - 1) : NULL;
	size_t inside = end ? (size_t)(end - s) - 1 : 0;
	uint32_t c = 0;
	char text[5];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (inside == strlen(names[i].name) && !memcmp(s + 1, names[i].name, inside)) {
			buf_addc(out, names[i].c);
			return inside + 2;
		}
	if (inside < 2 || inside > 6 || s[1] != 'u')
		return 0;
	for (size_t i = 2; i <= inside; i++) {
		if (hex_digit(s[i]) < 0)
			return 0;
		c = c << 4 | (uint32_t)hex_digit(s[i]);
	}
	if (c < ' ' || c == 0x7f || c > 0x10ffff)
		return 0;
	buf_add(out, text, utf8_put(c, text));
	return inside + 2;
}

static void add_legacy(struct buf *out, const char *s, size_t len)
{
	size_t at = len > 1 && s[0] == '_' && s[1] == '$', step;

	for (; at < len; at += step) {
		step = s[at] == '$' ? add_escape(out, s + at, len - at) : 0;
		if (step)
			continue;
		step = len - at > 1 && s[at] == '.' && s[at + 1] == '.' ? 2 : 1;
		buf_add(out, step == 2 ? "::" : s + at, step);
	}
}

char *demangle_rust_legacy(const char *s, size_t len)
{
	struct buf out = {0};
	bool hash = false;
	size_t at = 3;

	if (len <= 3 || strncmp(s, "_ZN", 3) != 0)
		return NULL;
	while (!hash && at < len && is_digit(s[at])) {
		size_t bytes = 0;

		for (; at < len && is_digit(s[at]) && bytes < len; at++)
			bytes = bytes * 10 + (size_t)(s[at] - '0');
		if (!bytes || bytes >= len - at)
			break;
		hash = s[at + bytes] == 'E' && at + bytes + 1 == len && is_hash(s + at, bytes);
		if (!hash) {
			buf_adds(&out, out.len ? "::" : "");
			add_legacy(&out, s + at, bytes);
		}
		at += bytes;
	}
	if (hash && out.len)
		return buf_steal(&out);
	buf_done(&out);
	return NULL;
}
