/* SPDX-License-Identifier: Apache-2.0 */
/* The grid of cells, and fitting parts into a line. */
#include "tui/screen/canvas.h"

#include "base/utf8.h"
#include "tui/screen/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct cell blank = {.ch = ' ', .style = STYLE_NORMAL, .width = 1};

void canvas_init(struct canvas *c, bool ascii)
{
	*c = (struct canvas){.ascii = ascii, .cursor_row = -1, .cursor_col = -1};
}

void canvas_done(struct canvas *c)
{
	free(c->cells);
	free(c->hits);
	c->cells = NULL;
	c->hits = NULL;
	c->hit_count = c->hit_capacity = 0;
}

void canvas_resize(struct canvas *c, int rows, int cols)
{
	c->rows = rows < 1 ? 1 : rows;
	c->cols = cols < 1 ? 1 : cols;
	c->cells = xreallocarray(c->cells, (size_t)c->rows * (size_t)c->cols, sizeof(*c->cells));
	canvas_clear(c);
}

void canvas_clear(struct canvas *c)
{
	for (int i = 0; i < c->rows * c->cols; i++)
		c->cells[i] = blank;
	c->cursor_row = c->cursor_col = -1;
	c->hit_count = 0;
}

static struct cell *cell_at(struct canvas *c, int row, int col)
{
	return c->cells + (size_t)row * (size_t)c->cols + col;
}

/* Clips limit to the row's columns; 0 if there is no such row. */
static int clip(const struct canvas *c, int row, int limit)
{
	if (row < 0 || row >= c->rows)
		return 0;
	return limit > c->cols ? c->cols : limit;
}

/* Overwriting one half of a wide character blanks the other. */
static void set_cell(struct canvas *c, int row, int col, struct cell cell)
{
	struct cell *at = cell_at(c, row, col);

	if (at->width == 0 && col > 0 && cell.width != 0)
		at[-1] = blank;
	if (at->width == 2 && cell.width != 2 && col + 1 < c->cols)
		at[1] = blank;
	*at = cell;
}

int canvas_text(struct canvas *c, int row, int col, int limit, enum style style, const char *text)
{
	struct cell *last = NULL;

	if (col < 0)
		return col;
	limit = clip(c, row, limit);
	for (uint32_t ch; (ch = text_next(&text));) {
		int width = text_char_width(ch), mark = 0;

		if (!width) {
			while (last && mark < CANVAS_MARKS && last->marks[mark])
				mark++;
			if (last && mark < CANVAS_MARKS && !c->ascii && text_char_joins(ch))
				last->marks[mark] = ch;
			continue;
		}
		if (c->ascii && ch > 0x7e) {
			ch = '?';
			width = 1;
		}
		if (col + width > limit)
			break;
		set_cell(c, row, col,
			(struct cell){.ch = ch, .style = (uint8_t)style, .width = (uint8_t)width});
		last = cell_at(c, row, col);
		if (width == 2)
			set_cell(
				c, row, col + 1, (struct cell){.ch = ' ', .style = (uint8_t)style});
		col += width;
	}
	return col;
}

int canvas_printf(
	struct canvas *c, int row, int col, int limit, enum style style, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return canvas_text(c, row, col, limit, style, text);
}

int canvas_wrapped(struct canvas *c, struct area area, int hang, enum style style, const char *text)
{
	int row = area.row;

	for (const char *next; *text && row < area.row + area.rows; text = next) {
		int bytes = (int)text_wrap(text, area.cols, &next);

		if (next == text)
			break; /* no column is free */
		canvas_printf(c, row++, area.col, area.col + area.cols, style, "%.*s", bytes, text);
		area.col += hang;
		area.cols -= hang;
		hang = 0;
	}
	return row;
}

void canvas_right(struct canvas *c, int row, int col, int end, enum style style, const char *text)
{
	int start = end - text_width(text);

	canvas_text(c, row, start < col ? col : start, end, style, text);
}

void canvas_fill(struct canvas *c, int row, int col, int limit, enum style style, uint32_t ch)
{
	for (limit = clip(c, row, limit); col < limit; col++)
		set_cell(c, row, col, (struct cell){.ch = ch, .style = (uint8_t)style, .width = 1});
}

void canvas_restyle(struct canvas *c, int row, int col, int limit, enum style style)
{
	for (limit = clip(c, row, limit); col < limit; col++)
		cell_at(c, row, col)->style = (uint8_t)style;
}

void canvas_hit(struct canvas *c, int row, int from, int to, enum canvas_hit_kind kind, int arg)
{
	if (c->hit_count == c->hit_capacity) {
		c->hit_capacity = c->hit_capacity ? c->hit_capacity * 2 : 64;
		c->hits = xreallocarray(c->hits, (size_t)c->hit_capacity, sizeof(*c->hits));
	}
	c->hits[c->hit_count++] =
		(struct canvas_hit){(int16_t)row, (int16_t)from, (int16_t)to, (uint8_t)kind, arg};
}

void canvas_list_row(struct canvas *c, int row, int from, int to, int index, bool selected)
{
	canvas_hit(c, row, from, to, HIT_ROW, index);
	if (!selected)
		return;
	canvas_text(c, row, from, from + 1, STYLE_NORMAL, ">");
	canvas_restyle(c, row, from, to, STYLE_CURSOR);
}

const struct canvas_hit *canvas_hit_at(const struct canvas *c, int row, int col)
{
	for (int i = c->hit_count; i-- > 0;)
		if (c->hits[i].row == row && col >= c->hits[i].from && col < c->hits[i].to)
			return &c->hits[i];
	return NULL;
}

void canvas_cell_text(const struct cell *cell, char out[CANVAS_CELL_TEXT])
{
	size_t len = 0;

	out[0] = '\0';
	if (!cell->width)
		return;
	len = utf8_put(cell->ch, out);
	for (int i = 0; i < CANVAS_MARKS && cell->marks[i]; i++)
		len += utf8_put(cell->marks[i], out + len);
}

static void dump_row(const struct cell *row, int cols, struct buf *out, bool styles)
{
	int end = cols;
	char text[CANVAS_CELL_TEXT];

	while (end > 0 && row[end - 1].ch == ' ' && (!styles || row[end - 1].style == STYLE_NORMAL))
		end--;
	for (int i = 0; i < end; i++) {
		if (styles) {
			buf_addc(out, theme_letter(row[i].style));
		} else {
			canvas_cell_text(&row[i], text);
			buf_adds(out, text);
		}
	}
	buf_addc(out, '\n');
}

void canvas_dump(const struct canvas *c, struct buf *out, bool styles)
{
	for (int row = 0; row < c->rows; row++) {
		dump_row(canvas_row(c, row), c->cols, out, false);
		if (styles)
			dump_row(canvas_row(c, row), c->cols, out, true);
	}
}

/* --- lines of parts ---------------------------------------------------------------------------------------- */

struct strip_part *strip_add(struct strip *s, enum style style, int drop, const char *fmt, ...)
{
	struct strip_part *p = &s->parts[s->count < STRIP_PARTS ? s->count++ : STRIP_PARTS - 1];
	va_list ap;

	*p = (struct strip_part){.style = (uint8_t)style, .drop = (uint8_t)drop};
	va_start(ap, fmt);
	vsnprintf(p->text, sizeof(p->text), fmt, ap);
	va_end(ap);
	return p;
}

static int part_width(const struct strip_part *p)
{
	int width = text_width(p->key) + text_width(p->text);

	return width > p->width ? width : p->width;
}

static int part_gap(const struct strip_part *p)
{
	return p->joined ? 0 : p->gap ? p->gap : 2;
}

static void draw_part(const struct strip_part *p, struct canvas *c, int row, int col, int limit)
{
	int from = col;

	col = canvas_text(c, row, col, limit, STYLE_KEY, p->key);
	col = canvas_text(c, row, col, limit, (enum style)p->style, p->text);
	if (p->hit)
		canvas_hit(c, row, from, col, HIT_KEY, p->hit);
}

void strip_draw(const struct strip *s, struct canvas *c, int row, int col, int limit)
{
	int keep = 256, used = limit - col + 1, at = col, end = limit;

	/* Drops the parts with the highest value until the others fit. */
	while (keep > 1 && used > limit - col) {
		int highest = 1;

		used = 0;
		for (int i = 0; i < s->count; i++) {
			const struct strip_part *p = &s->parts[i];

			if (p->drop >= keep)
				continue;
			used += part_width(p) + (used ? part_gap(p) : 0);
			highest = p->drop > highest ? p->drop : highest;
		}
		if (used > limit - col)
			keep = highest;
	}
	for (int i = s->count - 1; i >= 0; i--) {
		const struct strip_part *p = &s->parts[i];

		if (!p->right || p->drop >= keep)
			continue;
		end -= part_width(p);
		draw_part(p, c, row, end, limit);
		end -= part_gap(p);
	}
	for (int i = 0; i < s->count; i++) {
		const struct strip_part *p = &s->parts[i];

		if (p->right || p->drop >= keep)
			continue;
		at += at > col ? part_gap(p) : 0;
		draw_part(p, c, row, at, end == limit ? limit : end + 1);
		at += part_width(p);
	}
}
