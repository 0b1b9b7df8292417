/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random keys, resizes and seconds, and after each a whole and sound screen. Meant for a build with
 * --enable-sanitizers=address,undefined.
 *
 *   test_fuzz [EVENTS [SEED]]
 */
#include "tests/tap.h"
#include "tests/tui/fake.h"
#include "tui/command.h"

struct fuzz {
	struct ui ui;
	struct fake fake;
	uint64_t rng;
	int64_t now;
	char history[64]; /* the last events, for the report */
	unsigned at;
};

static uint32_t below(struct fuzz *f, uint32_t n)
{
	f->rng ^= f->rng << 13;
	f->rng ^= f->rng >> 7;
	f->rng ^= f->rng << 17;
	return (uint32_t)(f->rng * 0x2545f4914f6cdd1dull >> 33) % n;
}

static int random_key(struct fuzz *f)
{
	if (below(f, 4) == 0)
		return (int)(TKEY_UP + below(f, TKEY_LAST - TKEY_UP));
	if (below(f, 10) == 0)
		return (int)below(f, 0x3000); /* whatever can be typed */
	if (below(f, 8) == 0)
		return TKEY_ENTER;
	if (below(f, 12) == 0)
		return TKEY_ESC;
	return (int)(' ' + below(f, 95));
}

static void random_resize(struct fuzz *f)
{
	ui_resize(&f->ui, 1 + (int)below(f, below(f, 3) ? 30 : 120),
		1 + (int)below(f, below(f, 3) ? 130 : 320));
}

static void random_event(struct fuzz *f)
{
	uint32_t kind = below(f, 20);
	int key;

	f->history[f->at++ % sizeof(f->history)] = kind == 0 ? '#' : kind < 5 ? '@' : 'k';
	if (kind == 0) {
		random_resize(f);
	} else if (kind < 5) {
		ui_tick(&f->ui, f->now += 250 + below(f, 2000));
	} else {
		key = random_key(f);
		if (key >= ' ' && key < 0x7f)
			f->history[(f->at - 1) % sizeof(f->history)] = (char)key;
		ui_key(&f->ui, key, f->now);
	}
	ui_draw(&f->ui);
	if (f->ui.attach_pid) {
		f->fake.end = below(f, 3) ? 0 : f->fake.second + below(f, 50);
		ui_attach(&f->ui, f->ui.attach_pid);
		ui_draw(&f->ui);
	}
}

/* Wide characters whole, every character printable, the cursor on the screen. */
static bool sound(const struct canvas *c)
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

static bool list_sound(struct ui *ui)
{
	const struct list *l = ui_view(ui)->list ? ui_view(ui)->list(ui) : NULL;

	return !l ||
	       (l->top >= 0 && l->cursor >= l->top && (l->count == 0 || l->cursor < l->count));
}

static void fuzz(uint64_t seed, int events)
{
	struct app_options options = {.frame_fd = -1, .attached = seed % 3 != 0, .events = 0xf};
	struct fuzz f = {.rng = 0x9e3779b97f4a7c15ull * (seed + 1)};
	int i;

	fake_init(&f.fake, 50);
	ui_init(&f.ui, &fake_ops, &f.fake, &options, seed % 2);
	for (i = 0; i < events; i++) {
		random_event(&f);
		if (!sound(&f.ui.canvas) || !list_sound(&f.ui))
			break;
	}
	if (!ok(i == events, "seed %llu: %d events", (unsigned long long)seed, events))
		diag("event %d, %dx%d, view %d, last (# resize, @ tick): %.*s", i, f.ui.canvas.cols,
			f.ui.canvas.rows, (int)f.ui.view, (int)sizeof(f.history), f.history);
	ui_done(&f.ui);
	fake_done(&f.fake);
}

int main(int argc, char **argv)
{
	int events = argc > 1 ? atoi(argv[1]) : 1500;

	if (argc > 2) {
		fuzz(strtoull(argv[2], NULL, 0), events);
		return tap_done();
	}
	for (uint64_t seed = 1; seed <= 6; seed++)
		fuzz(seed, events);
	return tap_done();
}
