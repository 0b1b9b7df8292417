/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as numbers: a typed character is its code point, the others stand above Unicode. */
#ifndef JHOT_TUI_TERM_KEY_H
#define JHOT_TUI_TERM_KEY_H

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

#endif
