/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as numbers, and clicks: a typed character is its code point, the others stand above Unicode. */
#ifndef JHOT_TUI_TERM_KEY_H
#define JHOT_TUI_TERM_KEY_H

#include <stdbool.h>
#include <stdint.h>

enum tui_key {
	TKEY_NONE = -1,
	TKEY_ESC = 27,
	TKEY_TAB = '\t',
	TKEY_ENTER = '\n',
	TKEY_UP = 0x110000,
	TKEY_DOWN,
	TKEY_LEFT,
	TKEY_RIGHT,
	TKEY_PAGE_UP,
	TKEY_PAGE_DOWN,
	TKEY_HOME,
	TKEY_END,
	TKEY_BACK_TAB,
	TKEY_BACKSPACE,
	TKEY_DELETE,
	TKEY_MOUSE, /* term_mouse tells what */
	TKEY_OTHER, /* a key that means nothing here */
	TKEY_LAST
};

#define TKEY_CTRL(c) ((c)&0x1f)

/* --- mouse.c ----------------------------------------------------------------------------------- */

/*
 * The mouse as terminals tell of it (xterm's modes 1000 and 1006): a report begins with ESC [ < and comes one
 * character after another.
 *
 * Embedded, zero-initialised.
 */

#define MOUSE_ON     "\033[?1000h\033[?1006h"
#define MOUSE_OFF    "\033[?1006l\033[?1000l"
#define MOUSE_REPORT "\033[<"

struct mouse_click {
	int button, row, col; /* enum ui_button; 0-based */
};

struct mouse {
	bool on;
	bool coming;   /* a report is on its way */
	char text[24]; /* as far as it has come */
	uint8_t len;
	struct mouse_click click; /* the last one */
};

/* MOUSE_REPORT has come. */
void mouse_begin(struct mouse *m);
/* A character of the report; true: the last one, and a button was pressed. */
bool mouse_take(struct mouse *m, uint32_t ch);

#endif
