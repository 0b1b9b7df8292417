/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random keys, clicks and sizes for the live view, and the check that each screen is complete and consistent. The
 * same seed gives the same run.
 */
#ifndef JHOT_TESTS_TUI_FUZZ_H
#define JHOT_TESTS_TUI_FUZZ_H

#include "tui/frame/command.h"
#include "tui/frame/ui.h"

struct fuzz {
	struct ui ui;
	uint64_t rng;
	int64_t now;
	char history[64]; /* the last events, for the report */
	unsigned at;
};

static inline uint32_t fuzz_below(struct fuzz *f, uint32_t n)
{
	f->rng ^= f->rng << 13;
	f->rng ^= f->rng >> 7;
	f->rng ^= f->rng << 17;
	return (uint32_t)(f->rng * 0x2545f4914f6cdd1dull >> 33) % n;
}

static inline int fuzz_key(struct fuzz *f)
{
	if (fuzz_below(f, 4) == 0)
		return (int)(TKEY_UP + fuzz_below(f, TKEY_LAST - TKEY_UP));
	if (fuzz_below(f, 10) == 0)
		return (int)fuzz_below(f, 0x3000); /* any character */
	if (fuzz_below(f, 8) == 0)
		return TKEY_ENTER;
	if (fuzz_below(f, 12) == 0)
		return TKEY_ESC;
	return (int)(' ' + fuzz_below(f, 95));
}

static inline void fuzz_resize(struct fuzz *f)
{
	ui_resize(&f->ui, 1 + (int)fuzz_below(f, fuzz_below(f, 3) ? 30 : 120),
		1 + (int)fuzz_below(f, fuzz_below(f, 3) ? 130 : 320));
}

/* True when every wide character is complete, every character printable, and the cursor on the screen. */
static inline bool fuzz_sound(const struct canvas *c)
{
	for (int row = 0; row < c->rows; row++) {
		const struct cell *cells = canvas_row(c, row);

		for (int col = 0; col < c->cols; col++) {
			bool half = col > 0 && cells[col - 1].width == 2;

			if (cells[col].style >= STYLE_COUNT || cells[col].ch < ' ' ||
				(cells[col].width == 0) != half ||
				(cells[col].width == 2 && col + 1 == c->cols))
				return false;
			if (c->ascii && cells[col].ch > 0x7e)
				return false;
		}
	}
	return c->cursor_row < c->rows && c->cursor_col <= c->cols;
}

static inline bool fuzz_list_sound(struct ui *ui)
{
	const struct list *l = ui_list(ui);

	/* A screen of one line shows no list, so none was fitted to it. */
	if (ui->canvas->rows < 8 || ui->canvas->cols < 40)
		return true;
	return l->top >= 0 && l->cursor >= l->top && (l->count == 0 || l->cursor < l->count);
}

/* Applies a random size (kind 0), click (1) or key (others, below 16). Returns its symbol in the history. */
static inline char fuzz_input(struct fuzz *f, uint32_t kind)
{
	int key;

	if (fuzz_below(f, 2))
		ui_work(&f->ui);
	if (kind == 0) {
		fuzz_resize(f);
		return '#';
	}
	if (kind == 1) {
		static const int buttons[] = {UI_MOUSE_SELECT, UI_WHEEL_UP, UI_WHEEL_DOWN, 2};

		ui_mouse(&f->ui, buttons[fuzz_below(f, 4)],
			(int)fuzz_below(f, (uint32_t)f->ui.canvas->rows + 2) - 1,
			(int)fuzz_below(f, (uint32_t)f->ui.canvas->cols + 2) - 1, f->now);
		return '+';
	}
	key = fuzz_key(f);
	ui_key(&f->ui, key, f->now);
	return key >= ' ' && key < 0x7f ? (char)key : 'K';
}

#endif
