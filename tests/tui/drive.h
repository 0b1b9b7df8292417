/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds keys and seconds to a live view without a terminal, and draws its screen after each. */
#ifndef JHOT_TESTS_TUI_DRIVE_H
#define JHOT_TESTS_TUI_DRIVE_H

#include "base/buf.h"
#include "tui/frame/ui.h"

#include <string.h>

static inline void drive_keys(struct ui *ui, int64_t now, const char *text)
{
	for (; *text; text++) {
		ui_key(ui, *text, now);
		ui_draw(ui);
	}
}

/* Returns the time afterwards. */
static inline int64_t drive_seconds(struct ui *ui, int64_t now, int n)
{
	while (n--)
		ui_tick(ui, now += 1000);
	ui_draw(ui);
	return now;
}

/* True when the text is on the screen, which is redrawn first. */
static inline bool drive_shows(struct ui *ui, const char *text)
{
	struct buf out = {0};
	bool found;

	ui_draw(ui);
	canvas_dump(ui->canvas, &out, false);
	found = strstr(buf_str(&out), text) != NULL;
	buf_done(&out);
	return found;
}

#endif
