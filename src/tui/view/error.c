/* SPDX-License-Identifier: Apache-2.0 */
/* The error screen: what happened, what to try, details, and its commands. */
#include "tui/frame/ui.h"

#include "base/buf.h"
#include "tui/frame/command.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct error_state {
	struct view_state at;
	bool details_hidden;
};

static int draw_lines(struct canvas *c, int row, const char *title, const char *text, bool numbered)
{
	int number = 1;
	char line[1024];

	if (!*text)
		return row;
	canvas_text(c, row++, 1, c->cols, STYLE_STRONG, title);
	while (*text && row < c->rows - 2) {
		int len = (int)strcspn(text, "\n"), col = numbered ? 7 : 3;

		if (numbered)
			canvas_printf(c, row, 3, c->cols, STYLE_KEY, "%d", number++);
		snprintf(line, sizeof(line), "%.*s", len, text);
		row = canvas_wrapped(c,
			(struct area){row, col, c->rows - 2 - row, c->cols - col - 2}, 0,
			STYLE_NORMAL, line);
		text += len + (text[len] == '\n');
	}
	return row + 1;
}

static void error_draw(struct ui *ui, struct area area)
{
	const struct error_state *e = ui_state(ui, VIEW_ERROR);
	struct canvas *c = &ui->canvas;
	int row = area.row;

	canvas_text(c, row, 1, c->cols, STYLE_BAD, " jhot: the JVM cannot be profiled ");
	row = draw_lines(c, row + 2, "What happened", ui->refusal.what, false);
	row = draw_lines(c, row, "Try one of", ui->refusal.hint, true);
	if (!e->details_hidden)
		row = draw_lines(c, row, "Details", ui->refusal.details, false);
	if (row < c->rows - 2)
		canvas_printf(c, c->rows - 3, 1, c->cols, STYLE_DIM, "exit status %d",
			(int)ui->refusal.kind);
}

unsigned error_details(struct ui *ui, int arg)
{
	struct error_state *e = ui_state(ui, VIEW_ERROR);

	e->details_hidden = !e->details_hidden;
	return 0;
}

unsigned error_retry(struct ui *ui, int arg)
{
	ui->attach_pid = ui->last_pid;
	return 0;
}

bool error_has_back(const struct ui *ui)
{
	return ui->profile;
}

unsigned error_back(struct ui *ui, int arg)
{
	ui_show(ui, ui->place.under);
	return UI_UPDATE;
}

/* Copies the first command to try, without its explanation. */
unsigned error_copy(struct ui *ui, int arg)
{
	char command[640];

	if (!*ui->refusal.hint)
		return 0;
	const char *end = strstr(ui->refusal.hint, "  ");
	snprintf(command, sizeof(command), "%.*s",
		(int)(end ? (size_t)(end - ui->refusal.hint) : strcspn(ui->refusal.hint, "\n")),
		ui->refusal.hint);
	command[strcspn(command, "\n")] = '\0';
	free(ui->copy);
	ui->copy = xstrdup(command);
	ui_say(ui, "copied: %s", command);
	return 0;
}

const struct view view_error = {
	.name = "Error",
	.bare = true,
	.bytes = sizeof(struct error_state),
	.draw = error_draw,
};
