/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static picture: boxes, names that fit, a legend.
 *
 * Uses fill attributes only: where <style> is forbidden, class colors would turn black. Boxes of
 * one color are one path. Text is measured with the widest common font, so that no font overflows a
 * box.
 */
#include "base/buf.h"
#include "base/utf8.h"
#include "export/text.h"
#include "export/web/svg.h"

#include <stdlib.h>
#include <string.h>

#define PICTURE_SIDE  12 /* margins */
#define PICTURE_TOP   62
#define PICTURE_ROW   19
#define PICTURE_BOXES 3000
#define PICTURE_FONT  11.5
#define PICTURE_PAD   5 /* between a box's edge and its name */
#define PICTURE_INK   "#20242b"
#define PICTURE_FAINT "#69707d"

struct picture_box {
	const struct flame_node *node;
	uint32_t color;
	uint32_t order;
};

struct picture {
	struct buf *out;
	const struct flame *f;
	const struct svg_style *style;
	struct picture_box *boxes;
	uint32_t count;
	unsigned levels; /* with boxes */
	bool types[FLAME_TYPES];
};

static double picture_scale(const struct picture *p)
{
	uint64_t all = p->f->nodes[0].total;

	return all ? (p->style->width - 2.0 * PICTURE_SIDE) / (double)all : 0;
}

/* --- which boxes ------------------------------------------------------------------------------------- */

static int picture_compare_totals(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* The smallest total that is drawn: one pixel, or more if there are too many boxes. */
static uint64_t picture_least(const struct picture *p)
{
	uint64_t least = (uint64_t)(p->f->nodes[0].total / (p->style->width - 2.0 * PICTURE_SIDE));
	uint64_t *totals = xreallocarray(NULL, p->f->count, sizeof(*totals));
	uint32_t n = 0;

	least += !least;
	for (uint32_t i = 0; i < p->f->count; i++) {
		if (p->f->nodes[i].total >= least)
			totals[n++] = p->f->nodes[i].total;
	}
	if (n > PICTURE_BOXES) {
		qsort(totals, n, sizeof(*totals), picture_compare_totals);
		least = totals[PICTURE_BOXES] + 1;
	}
	free(totals);
	return least;
}

static int picture_compare_boxes(const void *a, const void *b)
{
	const struct picture_box *x = a, *y = b;

	if (x->color != y->color)
		return x->color < y->color ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* --- boxes ------------------------------------------------------------------------------------------- */

static double picture_x(const struct picture *p, const struct flame_node *n)
{
	return PICTURE_SIDE + (double)n->start * picture_scale(p);
}

static double picture_w(const struct picture *p, const struct flame_node *n)
{
	return p->f->nodes[0].total ? (double)n->total * picture_scale(p)
				    : p->style->width - 2.0 * PICTURE_SIDE;
}

static unsigned picture_y(const struct picture *p, const struct flame_node *n)
{
	unsigned row = p->style->inverted ? p->levels - 1 - n->level : n->level;

	return PICTURE_TOP + row * PICTURE_ROW;
}

/* A number with at most one decimal. */
static void picture_number(struct buf *out, double n)
{
	export_decimal(out, n, 1);
	if (out->data[out->len - 1] == '0') {
		out->len -= 2;
		out->data[out->len] = '\0';
	}
}

static void picture_boxes(struct picture *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		const struct flame_node *n = p->boxes[i].node;
		double w = picture_w(p, n);

		if (!i || p->boxes[i].color != p->boxes[i - 1].color)
			buf_printf(p->out, "%s<path fill=\"#%06x\" d=\"", i ? "\"/>\n" : "",
				p->boxes[i].color);
		w = w > 3 ? w - 0.6 : w * 0.85; /* a gap between neighbours */
		buf_addc(p->out, 'M');
		picture_number(p->out, picture_x(p, n));
		buf_printf(p->out, " %uh", picture_y(p, n));
		picture_number(p->out, w < 0.6 ? 0.6 : w);
		buf_printf(p->out, "v%dH", PICTURE_ROW - 1);
		picture_number(p->out, picture_x(p, n));
		buf_addc(p->out, 'z');
	}
	buf_adds(p->out, "\"/>\n");
}

/* --- text -------------------------------------------------------------------------------------------- */

/* The width of a byte in the widest common fonts (Verdana, DejaVu Sans); continuation bytes of UTF-8 have none. */
static double picture_width(char c)
{
	if ((unsigned char)c >= 0x80)
		return ((unsigned char)c & 0xc0) == 0xc0 ? PICTURE_FONT : 0;
	if (strchr("ijl.,:;'|!I", c))
		return 0.40 * PICTURE_FONT;
	if (strchr("frt()[]-/ ", c))
		return 0.46 * PICTURE_FONT;
	if (strchr("mwMW@%", c))
		return PICTURE_FONT;
	return (c >= 'A' && c <= 'Z' ? 0.74 : 0.645) * PICTURE_FONT;
}

static double picture_width_of(const char *s)
{
	double width = 0;

	for (; *s; s++)
		width += picture_width(*s);
	return width;
}

/* The length of the longest prefix of whole characters that fits. */
static size_t picture_fitting(const char *s, double width)
{
	size_t n = 0;

	for (double used = 0; s[n]; n++) {
		used += picture_width(s[n]);
		if (used > width)
			break;
	}
	return n;
}

/* The longest form of a name that fits, or a truncated one with an ellipsis. Returns false if too little fits. */
static bool picture_fit(struct buf *fit, const char *name, uint8_t type, double width)
{
	bool frame = type < FRAME_TYPES;

	for (int step = 0; step < (frame ? EXPORT_NAME_STEPS : 1); step++) {
		buf_clear(fit);
		if (frame)
			export_shorten(fit, name, type, step);
		else
			buf_adds(fit, name);
		if (picture_fitting(buf_str(fit), width) == fit->len)
			return fit->len > 0;
	}
	size_t len = fit->len = picture_fitting(fit->data, width - PICTURE_FONT);
	buf_adds(fit, "\xe2\x80\xa6");
	return len > 2;
}

static void picture_text(struct buf *out, double x, double y, const char *text)
{
	buf_adds(out, "<text x=\"");
	picture_number(out, x);
	buf_adds(out, "\" y=\"");
	picture_number(out, y);
	buf_adds(out, "\">");
	export_xml(out, text);
	buf_adds(out, "</text>\n");
}

/* The name after a glyph that repeats the meaning of the color. */
static void picture_change(struct picture *p, const struct flame_node *n, double w)
{
	double change = flame_change(p->f, n);
	struct buf fit = {0}, text = {0};

	buf_adds(&text, change > 0 ? "\xe2\x96\xb2 " : change < 0 ? "\xe2\x96\xbc " : "");
	if (picture_fit(
		    &fit, p->f->names[n->name], n->type, w - picture_width_of(buf_str(&text)))) {
		buf_adds(&text, fit.data);
		picture_text(
			p->out, picture_x(p, n) + PICTURE_PAD, picture_y(p, n) + 13, text.data);
	}
	buf_done(&fit);
	buf_done(&text);
}

static void picture_names(struct picture *p)
{
	struct buf fit = {0};

	for (uint32_t i = 0; i < p->count; i++) {
		const struct flame_node *n = p->boxes[i].node;
		double w = picture_w(p, n) - 2 * PICTURE_PAD;

		if (p->f->diff && w > 2 * PICTURE_FONT) {
			picture_change(p, n, w);
			continue;
		}
		if (w > 2 * PICTURE_FONT && picture_fit(&fit, p->f->names[n->name], n->type, w))
			picture_text(p->out, picture_x(p, n) + PICTURE_PAD, picture_y(p, n) + 13,
				fit.data);
	}
	buf_done(&fit);
}

static void picture_legend(struct picture *p, unsigned y)
{
	double x = PICTURE_SIDE;

	if (p->f->diff) {
		picture_text(p->out, x, y,
			"\xe2\x96\xb2 red: more in B.  \xe2\x96\xbc blue: less in B.  Grey: not "
			"significant.  Widths are A and B together.  Open this file "
			"in a browser to zoom and search.");
		return;
	}
	for (int i = 0; i < FLAME_ALL; i++) {
		uint32_t color = flame_legend_color(p->style->scheme, (uint8_t)i);

		if (!p->types[i] || !color)
			continue;
		buf_printf(p->out, "<path fill=\"#%06x\" d=\"M", color);
		picture_number(p->out, x);
		buf_printf(p->out, " %uh11v11h-11z\"/>\n", y - 10);
		picture_text(p->out, x + 16, y, flame_types[i].name);
		x += 34 + picture_width_of(flame_types[i].name);
	}
	picture_text(p->out, x + 12, y, "Open this file in a browser to zoom and search.");
}

unsigned svg_picture(struct buf *out, const struct flame *f, const struct svg_head *head,
	const struct svg_style *style)
{
	struct picture p = {.out = out, .f = f, .style = style};

	uint64_t least = picture_least(&p);
	p.boxes = xreallocarray(NULL, p.f->count, sizeof(*p.boxes));
	for (uint32_t i = 0; i < p.f->count; i++) {
		const struct flame_node *n = &p.f->nodes[i];
		if (n->total < least && i)
			continue;
		p.boxes[p.count] = (struct picture_box){n, p.style->scheme->color(p.f, n), p.count};
		p.count++;
		p.types[n->type] = true;
		if (n->level >= p.levels)
			p.levels = n->level + 1u;
	}
	qsort(p.boxes, p.count, sizeof(*p.boxes), picture_compare_boxes);
	unsigned legend = PICTURE_TOP + p.levels * PICTURE_ROW + 24;
	unsigned height = legend + 14;
	buf_printf(out,
		"<g font-family=\"Verdana, DejaVu Sans, sans-serif\" font-size=\"11.5\" "
		"fill=\"" PICTURE_INK "\">\n<rect width=\"%u\" height=\"%u\" fill=\"#fbfbfa\"/>\n",
		style->width, height);
	buf_adds(out, "<g font-size=\"16\">\n");
	picture_text(out, PICTURE_SIDE, 28, buf_str(&head->title));
	buf_adds(out, "</g>\n<g fill=\"" PICTURE_FAINT "\">\n");
	picture_text(out, PICTURE_SIDE, 48, buf_str(&head->facts));
	picture_legend(&p, legend);
	buf_adds(out, "</g>\n");
	picture_boxes(&p);
	picture_names(&p);
	buf_adds(out, "</g>\n");
	free(p.boxes);
	return height;
}
