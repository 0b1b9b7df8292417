/* SPDX-License-Identifier: Apache-2.0 */
/* What is typed and clicked, as numbers: a character is its code point, the other keys stand above Unicode. */
#ifndef JHOT_TUI_TERM_KEY_H
#define JHOT_TUI_TERM_KEY_H

#include <stddef.h>

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
	TKEY_MOUSE, /* keys.click tells what */
	TKEY_OTHER, /* a key that means nothing here */
	TKEY_LAST
};

#define TKEY_CTRL(c) ((c)&0x1f)

struct mouse_click {
	int button, row, col; /* enum ui_button; 0-based */
};

/* What was read and not yet taken. Embedded, zero-initialised. */
struct keys {
	char bytes[64]; /* NUL-terminated */
	size_t len;
	struct mouse_click click; /* the last one */
};

/* The next key; TKEY_NONE: nothing was typed, or half a sequence. Waits a moment for what follows an Esc. */
int keys_next(struct keys *k, int fd);

#endif
