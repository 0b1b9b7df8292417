/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes terminal input: UTF-8, escape sequences, and mouse reports (xterm's mode 1006). */
#include "tui/term/key.h"

#include "base/utf8.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ESC_MS 25 /* the rest of an escape sequence arrives within this time */
#define ESC    '\033'

struct known {
	char end;
	int key;
};
/* The final byte of ESC [ A or ESC O A, and the parameter of ESC [ 5 ~. */
static const struct known letters[] = {{'A', TKEY_UP}, {'B', TKEY_DOWN}, {'C', TKEY_RIGHT},
	{'D', TKEY_LEFT}, {'H', TKEY_HOME}, {'F', TKEY_END}, {'Z', TKEY_BACK_TAB},
	{'M', TKEY_ENTER}};
static const struct known numbers[] = {{'1', TKEY_HOME}, {'7', TKEY_HOME}, {'4', TKEY_END},
	{'8', TKEY_END}, {'5', TKEY_PAGE_UP}, {'6', TKEY_PAGE_DOWN}, {'3', TKEY_DELETE}};

/* Waits for input and appends it. Returns false if none arrived. */
static bool keys_read(struct keys *k, int fd, int wait_ms)
{
	struct pollfd in = {.fd = fd, .events = POLLIN};

	if (poll(&in, 1, wait_ms) <= 0 || !(in.revents & POLLIN))
		return false;
	ssize_t n = read(fd, k->bytes + k->len, sizeof(k->bytes) - 1 - k->len);
	if (n <= 0)
		return false;
	k->len += (size_t)n;
	k->bytes[k->len] = '\0';
	return true;
}

static int keys_consume(struct keys *k, size_t n, int key)
{
	k->len -= n;
	memmove(k->bytes, k->bytes + n, k->len + 1);
	return key;
}

/*
 * Length of the escape sequence at the start of the input (ECMA-48, and the console's ESC [ [ A). 1: a lone
 * Esc, 0: incomplete.
 */
static size_t sequence_bytes(const struct keys *k)
{
	const char *s = k->bytes;
	size_t n = 2;

	if (k->len > 1 && s[1] != '[' && s[1] != 'O')
		return 1;
	if (k->len > 2 && s[1] == '[' && s[2] == '[')
		n++;
	while (n < k->len && s[1] == '[' && s[n] >= ' ' && s[n] <= '?')
		n++;
	return n < k->len ? n + 1 : 0;
}

/* The key of a complete sequence of n bytes. */
static int key_of(const char *s, size_t n)
{
	for (size_t i = 0; n == 3 && i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].end == s[2])
			return letters[i].key;
	for (size_t i = 0; n == 4 && s[3] == '~' && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].end == s[2])
			return numbers[i].key;
	return TKEY_OTHER;
}

static int keys_character(struct keys *k, int fd)
{
	int n = utf8_len(k->bytes), ch;

	while (!n && k->len < 4 && keys_read(k, fd, ESC_MS))
		n = utf8_len(k->bytes);
	ch = n ? (int)utf8_value(k->bytes, n) : TKEY_OTHER;
	if (ch == '\b' || ch == 0x7f)
		ch = TKEY_BACKSPACE;
	return keys_consume(k, n ? (size_t)n : 1, ch == '\r' ? TKEY_ENTER : ch);
}

int keys_next(struct keys *k, int fd)
{
	struct mouse_click c;
	char end;

	while (k->len || keys_read(k, fd, 0)) {
		size_t n = sequence_bytes(k);

		if (*k->bytes != ESC)
			return keys_character(k, fd);
		if (!n && keys_read(k, fd, k->len > 2 ? 0 : ESC_MS))
			continue;
		if (!n && k->len == sizeof(k->bytes) - 1)
			return keys_consume(k, k->len, TKEY_OTHER);
		if (!n && k->len > 2)
			return TKEY_NONE;
		if (n < 2)
			return keys_consume(k, 1, TKEY_ESC);
		if (k->bytes[2] != '<')
			return keys_consume(k, n, key_of(k->bytes, n));
		/* ESC [ < button ; column ; row and M; m reports a release. */
		bool pressed = sscanf(k->bytes, "\033[<%4d;%4d;%4d%c", &c.button, &c.col, &c.row,
				       &end) == 4 &&
			       end == 'M';
		keys_consume(k, n, 0);
		if (!pressed)
			continue;
		k->click = (struct mouse_click){c.button, c.row - 1, c.col - 1};
		return TKEY_MOUSE;
	}
	return TKEY_NONE;
}
