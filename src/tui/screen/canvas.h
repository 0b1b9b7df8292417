/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grid of cells that views draw into, and lines of parts that are fitted into a row. A cell has a
 * character, combining characters and a style id.
 *
 * Independent of the terminal. A wide character occupies its cell and flags the next one as its right half. A
 * cell stores up to CANVAS_MARKS combining characters; more, and format characters (joiners, direction), are
 * dropped. Drawing is clipped to the grid and to the caller's limit column. An ascii canvas shows other
 * characters as '?'. canvas_dump writes the text that golden tests compare. Embedded; not thread-safe.
 */
#ifndef JHOT_TUI_SCREEN_CANVAS_H
#define JHOT_TUI_SCREEN_CANVAS_H

#include "base/buf.h"
#include "tui/screen/theme.h"

#include <stdbool.h>
#include <stdint.h>

#define CANVAS_MARKS 2 /* enough for a vowel and a tone, or for a syllable of Hangul */

struct cell {
	uint32_t ch;
	uint32_t marks[CANVAS_MARKS]; /* combining characters; 0: none */
	uint8_t style;                /* enum style */
	uint8_t width;                /* 1, 2; 0 = right half of the cell before */
	uint16_t reserved;            /* no padding: rows are compared as bytes */
};
_Static_assert(sizeof(struct cell) == 16, "no padding");

/* What a click on a region does. */
enum canvas_hit_kind { HIT_ROW, HIT_SORT, HIT_EVENT, HIT_VIEW, HIT_KEY };

struct canvas_hit {
	int16_t row, from, to;
	uint8_t kind; /* enum canvas_hit_kind */
	int arg;      /* index of the row, sort order, event, view, key */
};

struct area {
	int row, col, rows, cols;
};

struct canvas {
	int rows, cols;
	struct cell *cells; /* row by row */
	bool ascii;
	int cursor_row, cursor_col; /* -1: hidden */
	struct canvas_hit *hits;    /* clickable regions of the current frame */
	int hit_count, hit_capacity;
};

void canvas_init(struct canvas *c, bool ascii);
void canvas_done(struct canvas *c);
void canvas_resize(struct canvas *c, int rows, int cols); /* and clears it */
void canvas_clear(struct canvas *c);

/* Writes text from col, up to but not including column limit. Returns the column after it. */
int canvas_text(struct canvas *c, int row, int col, int limit, enum style style, const char *text);
int canvas_printf(struct canvas *c, int row, int col, int limit, enum style style, const char *fmt,
	...) __attribute__((format(printf, 6, 7)));
/*
 * Writes text wrapped at blanks into an area; rows after the first are indented by hang. Returns the row after it. Text
 * that does not fit is omitted.
 */
int canvas_wrapped(
	struct canvas *c, struct area area, int hang, enum style style, const char *text);
/* Right-aligns text so that it ends before column end, never starting left of col. */
void canvas_right(struct canvas *c, int row, int col, int end, enum style style, const char *text);
void canvas_fill(struct canvas *c, int row, int col, int limit, enum style style, uint32_t ch);
/* Changes the style of cells already drawn. */
void canvas_restyle(struct canvas *c, int row, int col, int limit, enum style style);

static inline const struct cell *canvas_row(const struct canvas *c, int row)
{
	return c->cells + (size_t)row * (size_t)c->cols;
}

/* Makes columns [from, to) of a row clickable; of overlapping regions the last one applies. */
void canvas_hit(struct canvas *c, int row, int from, int to, enum canvas_hit_kind kind, int arg);
/* A row of a list: clickable, and highlighted when selected. */
void canvas_list_row(struct canvas *c, int row, int from, int to, int index, bool selected);
/* The cell's text as NUL-terminated UTF-8; "" for a right half. */
#define CANVAS_CELL_TEXT (4 * (1 + CANVAS_MARKS) + 1)
void canvas_cell_text(const struct cell *cell, char out[CANVAS_CELL_TEXT]);

/* The region at a cell, or NULL. Valid until the next change of the canvas. */
const struct canvas_hit *canvas_hit_at(const struct canvas *c, int row, int col);

/* Appends the rows without trailing blanks; with styles, each is followed by a line of style letters. */
void canvas_dump(const struct canvas *c, struct buf *out, bool styles);

/* --- lines of parts ------------------------------------------------------------------------------------------ */

/*
 * A line made of parts; the least important ones are dropped when it does not fit.
 *
 * Parts are placed from the left in the order in which they were added, those flagged right from the right end. A part
 * may begin with a key, in the key style, and may have a minimum width so that changing numbers shift nothing. Embedded,
 * zero-initialized, one per line.
 */
#define STRIP_PARTS 40

struct strip_part {
	char key[16], text[128];
	uint8_t style; /* enum style, of text */
	uint8_t drop;  /* 0: never; else the highest value is dropped first */
	uint8_t width; /* minimum */
	uint8_t gap;   /* blanks before it; 0: two */
	bool right;
	bool joined; /* no blanks before it */
	int hit;     /* the key that a click sends; 0: none */
};

struct strip {
	struct strip_part parts[STRIP_PARTS];
	int count;
};

/* Adds a part and returns it, to set further fields. When STRIP_PARTS are in use, the last one is replaced. */
struct strip_part *strip_add(struct strip *s, enum style style, int drop, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void strip_draw(const struct strip *s, struct canvas *c, int row, int col, int limit);

#endif
