/* SPDX-License-Identifier: Apache-2.0 */
/* Fitting parts into a line. */
#include "tui/screen/strip.h"

#include "tui/screen/text.h"

#include <stdarg.h>
#include <stdio.h>

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
