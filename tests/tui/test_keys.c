/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and clicks from the byte sequences that terminals send, split anywhere. */
#include "tests/tap.h"
#include "tui/term/key.h"

#include <unistd.h>

/* Checks the keys read from these pieces, each sent after the one before was read. TKEY_NONE: more input is needed. */
static void are(const char *what, const char *const *pieces, const int *want)
{
	struct keys k = {0};
	int ends[2], n = 0, bad = 0;

	if (pipe(ends) < 0)
		tap_skip_all("no pipe");
	for (; *pieces; pieces++) {
		int key;

		if (write(ends[1], *pieces, strlen(*pieces)) < 0)
			bad++;
		do {
			key = keys_next(&k, ends[0]);
			if (key != want[n] && !bad++)
				diag("key %d is 0x%x, not 0x%x", n, (unsigned)key,
					(unsigned)want[n]);
			n++;
		} while (key != TKEY_NONE && n < 16);
	}
	ok(!bad, "%s", what);
	close(ends[0]);
	close(ends[1]);
}

#define PIECES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define KEYS(...)   ((const int[]){__VA_ARGS__, TKEY_NONE, TKEY_NONE})

static void test_click(void)
{
	const char *report = "\033[<65;12;7M";
	struct keys k = {0};
	int ends[2];

	ok(pipe(ends) == 0 && write(ends[1], report, strlen(report)) > 0 &&
			keys_next(&k, ends[0]) == TKEY_MOUSE,
		"a mouse report is recognized");
	is_int(k.click.button, 65, "the mouse report has its button");
	is_int(k.click.row, 6, "the mouse report has its row, from 0");
	is_int(k.click.col, 11, "the mouse report has its column, from 0");
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	are("letters are read", PIECES("aB"), KEYS('a', 'B'));
	are("control characters are read", PIECES("\t\r\n\b\177\003"),
		KEYS(TKEY_TAB, TKEY_ENTER, TKEY_ENTER, TKEY_BACKSPACE, TKEY_BACKSPACE,
			TKEY_CTRL('c')));
	are("UTF-8 characters are read", PIECES("\xc3\xa4\xe6\xbc\xa2"), KEYS(0xe4, 0x6f22));
	are("an invalid byte is an unknown key", PIECES("\xe4j"), KEYS(TKEY_OTHER, 'j'));
	are("Esc alone and Esc before a letter are read", PIECES("\033", "\033x"),
		KEYS(TKEY_ESC, TKEY_NONE, TKEY_ESC, 'x'));
	are("arrow keys of both keypad modes are read", PIECES("\033[A\033OB"),
		KEYS(TKEY_UP, TKEY_DOWN));
	are("keys with numbers are read", PIECES("\033[3~\033[1~\033[6~\033[9~"),
		KEYS(TKEY_DELETE, TKEY_HOME, TKEY_PAGE_DOWN, TKEY_OTHER));
	are("an unknown sequence is one unknown key", PIECES("\033[1;5C\033[[A\033OPj"),
		KEYS(TKEY_OTHER, TKEY_OTHER, TKEY_OTHER, 'j'));
	are("a sequence may arrive in two pieces", PIECES("\033[1;", "5Cj"),
		KEYS(TKEY_NONE, TKEY_OTHER, 'j'));
	are("a mouse report may arrive in two pieces", PIECES("\033[<0;5", ";5Mj"),
		KEYS(TKEY_NONE, TKEY_MOUSE, 'j'));
	are("a button release is ignored", PIECES("\033[<0;5;5mj"), KEYS('j'));
	are("a click with an absurd position is ignored", PIECES("\033[<0;55555555555;5Mj"),
		KEYS('j'));
	are("a sequence without an end is abandoned",
		PIECES("\033[11111111111111111111111111111111111111111111111111111111111111111j"),
		KEYS(TKEY_OTHER, '1', '1', '1', '1', 'j'));
	test_click();
	return tap_done();
}
