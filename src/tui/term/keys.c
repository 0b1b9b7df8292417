/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes from the terminal become keys: UTF-8, escape sequences, and reports of the mouse (xterm's mode 1006). */
#include "tui/term/key.h"

#include "base/utf8.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ESC_MS 25 /* what belongs to an Esc comes that soon */
#define ESC    '\033'

/* What most terminals send, whatever terminfo says. */
static const struct {
	const char *sequence;
	int key;
} usual[] = {
	{"\033[A", TKEY_UP},
	{"\033[B", TKEY_DOWN},
	{"\033[C", TKEY_RIGHT},
	{"\033[D", TKEY_LEFT},
	{"\033OA", TKEY_UP},
	{"\033OB", TKEY_DOWN},
	{"\033OC", TKEY_RIGHT},
	{"\033OD", TKEY_LEFT},
	{"\033[H", TKEY_HOME},
	{"\033[F", TKEY_END},
	{"\033OH", TKEY_HOME},
	{"\033OF", TKEY_END},
	{"\033[1~", TKEY_HOME},
	{"\033[4~", TKEY_END},
	{"\033[5~", TKEY_PAGE_UP},
	{"\033[6~", TKEY_PAGE_DOWN},
	{"\033[Z", TKEY_BACK_TAB},
	{"\r", TKEY_ENTER},
	{"\b", TKEY_BACKSPACE},
	{"\177", TKEY_BACKSPACE},
};

void keys_define(struct keys *k, const char *sequence, int key)
{
	if (k->own_count == sizeof(k->own) / sizeof(k->own[0]))
		return;
	k->own[k->own_count].sequence = sequence;
	k->own[k->own_count++].key = key;
}

/* false: nothing came in that time. */
static bool keys_read(struct keys *k, int fd, int wait_ms)
{
	struct pollfd in = {.fd = fd, .events = POLLIN};
	ssize_t n;

	if (poll(&in, 1, wait_ms) <= 0 || !(in.revents & POLLIN))
		return false;
	n = read(fd, k->bytes + k->len, sizeof(k->bytes) - 1 - k->len);
	if (n <= 0)
		return false;
	k->len += (size_t)n;
	k->bytes[k->len] = '\0';
	return true;
}

static int keys_take(struct keys *k, size_t n, int key)
{
	k->len -= n;
	memmove(k->bytes, k->bytes + n, k->len + 1);
	return key;
}

/* The bytes of the escape sequence that has come (ECMA-48's, and the console's ESC [ [ A); 1: an Esc alone, 0: half of one. */
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

static bool keys_begin(const struct keys *k, const char *sequence)
{
	return *sequence && !strncmp(k->bytes, sequence, strlen(sequence));
}

/* A key that is known by what it sends; TKEY_NONE: none of these. */
static int keys_known(struct keys *k)
{
	for (size_t i = 0; i < k->own_count; i++)
		if (keys_begin(k, k->own[i].sequence))
			return keys_take(k, strlen(k->own[i].sequence), k->own[i].key);
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (keys_begin(k, usual[i].sequence))
			return keys_take(k, strlen(usual[i].sequence), usual[i].key);
	return TKEY_NONE;
}

/* ESC [ < button ; column ; row, then M, or m when the button is let go. */
static bool keys_click(struct keys *k)
{
	struct mouse_click c;
	char end;

	if (sscanf(k->bytes, "\033[<%4d;%4d;%4d%c", &c.button, &c.col, &c.row, &end) != 4 ||
		end != 'M')
		return false;
	k->click = (struct mouse_click){c.button, c.row - 1, c.col - 1};
	return true;
}

static int keys_character(struct keys *k, int fd)
{
	int n = utf8_len(k->bytes);

	while (!n && k->len < 4 && keys_read(k, fd, ESC_MS))
		n = utf8_len(k->bytes);
	return n ? keys_take(k, (size_t)n, (int)utf8_value(k->bytes, n))
		 : keys_take(k, 1, TKEY_OTHER);
}

int keys_next(struct keys *k, int fd)
{
	for (;;) {
		int key = TKEY_NONE;
		bool pressed;
		size_t n;

		if (k->len || keys_read(k, fd, 0))
			key = keys_known(k);
		if (!k->len || key != TKEY_NONE)
			return key;
		if (*k->bytes != ESC)
			return keys_character(k, fd);
		n = sequence_bytes(k);
		if (!n && keys_read(k, fd, k->len > 2 ? 0 : ESC_MS))
			continue;
		if (!n && k->len == sizeof(k->bytes) - 1)
			return keys_take(k, k->len, TKEY_OTHER);
		if (!n && k->len > 2)
			return TKEY_NONE;
		if (n < 2)
			return keys_take(k, 1, TKEY_ESC);
		if (!keys_begin(k, "\033[<"))
			return keys_take(k, n, TKEY_OTHER);
		pressed = keys_click(k);
		keys_take(k, n, 0);
		if (pressed)
			return TKEY_MOUSE;
	}
}
