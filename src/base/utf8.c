/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, as RFC 3629 has it. */
#include "base/utf8.h"

int utf8_len(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	int len = p[0] < 0x80   ? 1
		  : p[0] < 0xc2 ? 0
		  : p[0] < 0xe0 ? 2
		  : p[0] < 0xf0 ? 3
		  : p[0] < 0xf5 ? 4
				: 0;

	for (int i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	/* overlong forms, surrogates, beyond U+10FFFF */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
		(p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
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
