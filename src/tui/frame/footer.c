/* SPDX-License-Identifier: Apache-2.0 */
/* The lines under the list: the selected row in full, messages, and the key line or the prompt. */
#include "tui/frame/ui.h"

#include "base/utf8.h"
#include "tui/frame/command.h"
#include "tui/frame/file.h"
#include "tui/screen/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define KEEP         254 /* keys from this line_order on are never dropped */
#define MESSAGE_ROWS 6
#define ROWS_NOTICE  12 /* smaller terminals show messages instead of the detail line */

int footer_rows(const struct ui *ui)
{
	return ui->canvas->rows >= ROWS_NOTICE ? 3 : 2;
}

bool footer_edit(char *text, size_t bytes, int key)
{
	size_t len = strlen(text);

	if (key == TKEY_BACKSPACE) {
		text[utf8_back(text, len)] = '\0';
		return true;
	}
	if (key == TKEY_CTRL('u')) {
		text[0] = '\0';
		return true;
	}
	if (key < ' ' || key == 0x7f || key >= TKEY_UP || len + 5 > bytes)
		return false;
	utf8_put((uint32_t)key, text + len);
	return true;
}

static bool choice_begins(const struct ui_prompt *p, const char *choice)
{
	return !strncmp(choice, p->text, strlen(p->text));
}

void footer_prompt_key(struct ui *ui, int key)
{
	struct ui_prompt *p = &ui->prompt;
	bool accepted = key == TKEY_ENTER;

	if (accepted || key == TKEY_ESC || key == TKEY_CTRL('c')) {
		/* done may open another prompt. */
		struct ui_prompt closed = *p;

		p->label = NULL;
		closed.done(ui, accepted);
		return;
	}
	if (p->offered && key >= ' ' && key != 0x7f && key < TKEY_UP && key != TKEY_BACKSPACE)
		p->text[0] = '\0';
	p->offered = false;
	if (key != TKEY_TAB) {
		footer_edit(p->text, sizeof(p->text), key);
	} else {
		/* Completes the text to the longest common prefix of the matching choices. */
		const char *choice, *first = NULL;
		size_t alike = 0, n;

		for (int i = 0; p->choice && (choice = p->choice(ui, i)); i++) {
			if (!choice_begins(p, choice))
				continue;
			if (!first)
				alike = strlen(first = choice);
			for (n = 0; n < alike && first[n] == choice[n];)
				n++;
			alike = n;
		}
		if (first && alike < sizeof(p->text))
			snprintf(p->text, sizeof(p->text), "%.*s", (int)alike, first);
	}
	if (p->change)
		p->change(ui);
}

/* Draws the prompt, and above it, if there is a row, the matching choices, as many as fit. */
static void draw_prompt(const struct ui *ui, int row, bool above)
{
	const struct ui_prompt *p = &ui->prompt;
	struct canvas *c = ui->canvas;
	int col = 1, left = 0;
	const char *choice;

	if (above && p->choice)
		canvas_fill(c, row - 1, 0, c->cols, STYLE_NORMAL, ' ');
	for (int i = 0; above && p->choice && (choice = p->choice(ui, i)); i++) {
		if (!choice_begins(p, choice))
			continue;
		if (left || col + text_width(choice) + 12 > c->cols)
			left++;
		else
			col = canvas_text(c, row - 1, col, c->cols, STYLE_NORMAL, choice) + 2;
	}
	if (left)
		canvas_printf(c, row - 1, col, c->cols, STYLE_DIM, "+%d  Tab", left);
	else if (col > 1)
		canvas_text(c, row - 1, col, c->cols, STYLE_DIM, "Tab");
	col = canvas_text(c, row, 1, c->cols, STYLE_KEY, p->label);
	/* Show the end of the text, where the cursor is. */
	col = canvas_text(c, row, col, c->cols - 1, p->offered ? STYLE_DIM : STYLE_PROMPT,
		text_suffix(p->text, c->cols - col - 2));
	c->cursor_row = row;
	c->cursor_col = col;
	canvas_right(c, row, col + 2, c->cols - 1, STYLE_DIM, "Enter accepts  Esc cancels");
}

static void draw_keys(const struct ui *ui, int row)
{
	struct strip s = {0};
	struct strip_part *p;

	for (int order = 1; order < 256; order++) {
		for (int i = 0; i < command_count; i++) {
			const struct command *c = &commands[i];

			if (!c->line || c->line_order != order || !command_is_available(c, ui) ||
				file_refusal(ui, c->name))
				continue;
			const char *shown = command_shown(c, ui);
			/* No blank between a symbol and its label. */
			p = strip_add(&s, STYLE_LABEL, order >= KEEP ? 0 : order, "%s%s",
				isalnum((unsigned char)shown[strlen(shown) - 1]) ? " " : "",
				c->line);
			snprintf(p->key, sizeof(p->key), "%s", shown);
			p->hit = command_keys(c, ui)[0].key;
		}
	}
	strip_draw(&s, ui->canvas, row, 1, ui->canvas->cols - 1);
}

/* Wraps the message over the rows up to last, so that its end, often the advice, is visible. */
static void draw_message(const struct ui *ui, int last)
{
	struct canvas *c = ui->canvas;
	const char *text = ui->message.text, *next;
	int rows = text_rows(text, c->cols - 4);
	int most = c->rows / 2 < MESSAGE_ROWS ? c->rows / 2 : MESSAGE_ROWS;
	char line[sizeof(ui->message.text)];

	rows = rows < most ? rows : most;
	for (int row = last - rows + 1; row <= last; row++, text = next) {
		int bytes = (int)text_wrap(text, c->cols - 4, &next);

		if (row == last)
			name_cut(line, sizeof(line), text, c->cols - 4, ui->glyphs->ellipsis);
		else
			snprintf(line, sizeof(line), "%.*s", bytes, text);
		canvas_fill(c, row, 0, c->cols, STYLE_NORMAL, ' ');
		canvas_printf(c, row, 1, c->cols, ui->message.style, " %s ", line);
	}
}

/* While frozen. */
static void add_frozen(const struct ui *ui, struct strip *s)
{
	char count[TEXT_NUMBER];

	if (ui->options->file) {
		file_notice(ui, s);
		return;
	}
	strip_add(s, STYLE_NORMAL, 0,
		"frozen: %s newer samples (space resumes; , . step back/forward 1 s)",
		text_count(count, (int64_t)ui->newer));
}

static void draw_part(const struct ui *ui, int row, void (*fill)(const struct ui *, struct strip *))
{
	struct strip s = {0};

	if (fill && !ui->job.on)
		fill(ui, &s);
	strip_draw(&s, ui->canvas, row, 1, ui->canvas->cols - 1);
}

void footer_draw(const struct ui *ui)
{
	const struct view *v = ui_view(ui);
	int last = ui->canvas->rows - 1, rows = v->bare ? 1 : footer_rows(ui);

	if (rows > 1)
		draw_part(ui, ui->canvas->rows - rows, v->detail);
	if (rows > 2)
		draw_part(ui, last - 1,
			ui->scope.time.frozen && v->notice && file_has_time(ui) ? add_frozen
										: v->notice);
	if (ui->prompt.label)
		draw_prompt(ui, last, rows > 1);
	else if (ui->popup)
		canvas_text(ui->canvas, last, 1, ui->canvas->cols, STYLE_LABEL, ui->popup->keys);
	else
		draw_keys(ui, last);
	if (ui->message.shown)
		draw_message(ui, last - 1);
}
