/* SPDX-License-Identifier: Apache-2.0 */
/* Key codes and the decoder of terminal input. A character is its code point; other keys are above Unicode. */
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
	TKEY_MOUSE, /* details in keys.click */
	TKEY_OTHER, /* an unknown sequence */
	TKEY_LAST
};

#define TKEY_CTRL(c) ((c)&0x1f)

struct mouse_click {
	int button, row, col; /* enum ui_button; 0-based */
};

/* Input read but not yet consumed. Embedded, zero-initialized. */
struct keys {
	char bytes[64]; /* NUL-terminated */
	size_t len;
	struct mouse_click click; /* the last click */
};

/* Returns the next key, or TKEY_NONE if there is no complete one. Blocks up to 25 ms for the rest of a sequence. */
int keys_next(struct keys *k, int fd);

#endif
