/* SPDX-License-Identifier: Apache-2.0 */
/* "button;column;row" and M, or m when the button is let go. */
#include "tui/term/key.h"

#include <stdio.h>

void mouse_begin(struct mouse *m)
{
	m->coming = true;
	m->len = 0;
}

bool mouse_take(struct mouse *m, uint32_t ch)
{
	int button, row, col;

	if (ch != 'M' && ch != 'm') {
		m->coming = m->len + 1u < sizeof(m->text) && ch < 0x7f;
		if (m->coming)
			m->text[m->len++] = (char)ch;
		return false;
	}
	m->text[m->len] = '\0';
	m->coming = false;
	if (ch == 'm' || sscanf(m->text, "%d;%d;%d", &button, &col, &row) != 3)
		return false;
	m->click = (struct mouse_click){button, row - 1, col - 1};
	return true;
}
