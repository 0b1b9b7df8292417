/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as defined by RFC 3629. */
#include "base/utf8.h"

size_t utf8_sequence(const char *s, size_t left)
{
	unsigned char lead = left ? (unsigned char)*s : 0x80;
	size_t n = lead < 0x80   ? 1
		   : lead < 0xc0 ? 0
		   : lead < 0xe0 ? 2
		   : lead < 0xf0 ? 3
		   : lead < 0xf8 ? 4
				 : 0;

	if (n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

int utf8_len(const char *s)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = utf8_sequence(s, 4);
	uint32_t c = n ? utf8_value(s, (int)n) : 0;

	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : (int)n;
}

uint32_t utf8_value(const char *s, int len)
{
	uint32_t c = (unsigned char)s[0] & (len == 1 ? 0x7f : 0x7f >> len);

	for (int i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}

size_t utf8_put(uint32_t c, char out[5])
{
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	out[len] = '\0';
	for (size_t i = len; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(lead[len] | c);
	return len;
}

size_t utf8_back(const char *text, size_t len)
{
	while (len && ((unsigned char)text[--len] & 0xc0) == 0x80)
		;
	return len;
}
