/* SPDX-License-Identifier: Apache-2.0 */
/* Joining neighbouring attribute sequences. */
#include "tui/term/tty.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Length of an attribute sequence (ESC [ digits and semicolons m) at s, 0 if there is none. */
static size_t attributes_at(const char *s, size_t len)
{
	size_t n = 2;

	if (len < 3 || s[0] != '\033' || s[1] != '[')
		return 0;
	while (n < len && (isdigit((unsigned char)s[n]) || s[n] == ';'))
		n++;
	return n < len && s[n] == 'm' ? n + 1 : 0;
}

static bool is_ascii_set(const char *s, size_t len)
{
	return len >= 3 && !memcmp(s, "\033(B", 3);
}

size_t squeeze(char *bytes, size_t len)
{
	size_t in = 0, out = 0,
	       last = 0; /* last: where the sequence right before out begins, + 1 */

	while (in < len) {
		size_t n = attributes_at(bytes + in, len - in);

		if (is_ascii_set(bytes + in, len - in)) {
			in += 3;
			continue;
		}
		if (!n) {
			bytes[out++] = bytes[in++];
			last = 0;
			continue;
		}
		if (n == 3 && last) {
			/* A reset undoes what stands before it. */
			out = last - 1;
			memmove(bytes + out, bytes + in, n);
		} else if (last && out - last > 2) {
			/* "ESC [ a m" and "b m" become "ESC [ a ; b m". */
			bytes[out - 1] = ';';
			memmove(bytes + out, bytes + in + 2, n - 2);
			in += 2;
			n -= 2;
		} else {
			last = out + 1;
			memmove(bytes + out, bytes + in, n);
		}
		out += n;
		in += n;
	}
	return out;
}
