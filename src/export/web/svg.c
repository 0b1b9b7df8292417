/* SPDX-License-Identifier: Apache-2.0 */
/* The flame-graph file: header, picture, data, script. */
#include "export/web/svg.h"

#include "export/export.h"
#include "export/text.h"

#define REVERSED_SHARE (1.0 / SVG_WIDTH) /* of the picture; less of it is narrower than a pixel */

/* The script of src/export/web, without its comments (src/export/local.mk). */
static const unsigned char script[] = {
#include "export/web/flame_js.inc"
};

void svg_script(struct buf *out)
{
	buf_add(out, script, sizeof(script));
}

struct svg_look svg_look_of(const struct export_options *o)
{
	return (struct svg_look){.width = o->width ? o->width : SVG_WIDTH,
		.inverted = o->inverted,
		.scheme = o->diff ? &flame_scheme_diff : flame_scheme_by_name(o->colors)};
}

struct flame *svg_flame(const struct profile *p, const struct export_options *o)
{
	struct flame *f = flame_new(p, &o->query,
		&(struct flame_options){.threads = o->threads, .min_share = o->min_share});

	f->diff = o->diff;
	return f;
}

struct flame *svg_reversed(const struct profile *p, const struct export_options *o)
{
	double least = o->min_share > REVERSED_SHARE ? o->min_share : REVERSED_SHARE;

	struct flame *f = flame_new(
		p, &o->query, &(struct flame_options){.reversed = true, .min_share = least});

	f->diff = o->diff;
	return f;
}

static void svg_document(struct buf *out, const struct profile *p, const struct export_options *o,
	const struct svg_head *head)
{
	struct svg_look look = svg_look_of(o);
	struct flame *f = svg_flame(p, o), *reversed = o->reverse ? svg_reversed(p, o) : NULL;
	struct buf picture = {0};
	unsigned height = svg_picture(&picture, reversed ? reversed : f, head, &look);

	buf_printf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		"viewBox=\"0 0 %u %u\" role=\"img\">\n<title>",
		look.width, height, look.width, height);
	export_xml(out, buf_str(&head->title));
	buf_adds(out, "</title>\n<desc>");
	export_xml(out, buf_str(&head->facts));
	buf_adds(out, "</desc>\n<g id=\"picture\">\n");
	buf_add(out, picture.data, picture.len);
	buf_adds(out, "</g>\n<metadata class=\"flame\">");
	svg_data(out, p, f, o, head);
	buf_adds(out, "</metadata>\n<script><![CDATA[\n");
	svg_script(out);
	buf_adds(out, "]]></script>\n</svg>\n");
	buf_done(&picture);
	flame_free(f);
	flame_free(reversed);
}

bool export_svg(struct buf *out, const struct profile *p, const struct export_options *o)
{
	struct svg_head head;

	svg_head_init(&head, p, o);
	svg_document(out, p, o, &head);
	svg_head_done(&head);
	return true;
}
