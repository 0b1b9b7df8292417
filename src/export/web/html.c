/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: for each event what an .svg contains, and its samples over time.
 *
 * Browsers without scripts show the picture and the hottest methods of each event. All names are
 * character data, and the content security policy forbids external resources.
 */
#include "export/web/html.h"
#include "export/export.h"
#include "export/facts.h"
#include "export/text.h"
#include "export/web/svg.h"
#include "profile/table/flat.h"

#include <stdlib.h>

#define HTML_METHODS 40 /* rows of the static table */

#define HTML_POLICY                                                                            \
	"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri " \
	"'none'; "                                                                             \
	"form-action 'none'"

void html_text(struct buf *out, const char *text)
{
	struct buf clean = {0};

	export_clean(&clean, text, 0, 0);
	export_xml(out, buf_str(&clean));
	buf_done(&clean);
}

void html_cell(struct buf *out, const char *text, bool number)
{
	buf_adds(out, number ? "<td align=\"right\">" : "<td>");
	html_text(out, text);
	buf_adds(out, "</td>");
}

static void html_percent(struct buf *out, uint64_t part, uint64_t all)
{
	struct buf text = {0};

	export_decimal(&text, flat_percent(part, all), 1);
	buf_adds(&text, " %");
	html_cell(out, text.data, true);
	buf_done(&text);
}

static void html_methods(struct buf *out, const struct profile *p, const struct export_options *o)
{
	struct profile_query q = o->query;

	q.by_weight = true;
	struct flat *flat = flat_new(p, &q);
	qsort(flat->rows, flat->count, sizeof(*flat->rows), flat_compare);
	buf_adds(out, "<table cellpadding=\"3\"><tr><th>Self</th><th>Total</th><th></th><th "
		      "align=\"left\">Method</th></tr>\n");
	for (uint32_t i = 0; i < flat->count && i < HTML_METHODS && flat->rows[i].self; i++) {
		const char *unit = profile_get_event(p, q.event)->unit;
		struct buf value = {0};

		export_value(&value, unit, flat->rows[i].self);
		buf_adds(out, "<tr>");
		html_percent(out, flat->rows[i].self, flat->sum);
		html_percent(out, flat->rows[i].total, flat->sum);
		html_cell(out, value.data, true);
		html_cell(out, profile_get_method(p, flat->rows[i].method)->full, false);
		buf_adds(out, "</tr>\n");
		buf_done(&value);
	}
	buf_adds(out, "</table>\n");
	flat_free(flat);
}

static void html_fact(void *ctx, const char *key, const char *value)
{
	struct buf *out = ctx;

	buf_adds(out, "<tr>");
	html_cell(out, key, false);
	html_cell(out, value, false);
	buf_adds(out, "</tr>\n");
}

/* Appends the static content of an event to out, and its data to data. */
static void html_event(
	struct buf *out, struct buf *data, const struct profile *p, const struct export_options *o)
{
	struct svg_style style = svg_style_of(o);
	struct flame *f = svg_flame(p, o), *reversed = o->reverse ? svg_reversed(p, o) : NULL;
	struct svg_head head;
	struct buf picture = {0};
	unsigned height;

	svg_head_init(&head, p, o);
	height = svg_picture(&picture, reversed ? reversed : f, &head, &style);
	buf_printf(out, "<svg width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" role=\"img\">\n",
		style.width, height, style.width, height);
	buf_add(out, picture.data, picture.len);
	buf_adds(out, "</svg>\n");
	html_methods(out, p, o);
	buf_adds(out, "<details><summary>About this recording</summary>\n<table>\n");
	export_facts(o, html_fact, out);
	export_event_facts(p, o, o->query.event, html_fact, out);
	buf_adds(out, "</table>\n</details>\n");
	buf_adds(data, "<div hidden class=\"flame\">");
	svg_data(data, p, f, o, &head);
	svg_slices(data, p, f, o);
	svg_pulse(data, p, f, o);
	buf_adds(data, "</div>\n");
	svg_head_done(&head);
	buf_done(&picture);
	flame_free(f);
	flame_free(reversed);
}

bool export_html(struct buf *out, const struct profile *p, const struct export_options *o)
{
	struct export_options one = *o;
	struct buf data = {0};
	int count = o->meta.event_count;
	bool named = o->meta.name && *o->meta.name;
	bool total = o->query.by_weight && !o->each;

	buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"" HTML_POLICY "\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, "
		      "initial-scale=1\">\n<title>");
	html_text(out, o->title ? o->title : named ? o->meta.name : "profile");
	buf_adds(out, "</title>\n</head>\n<body>\n<div id=\"picture\" style=\"font-family: "
		      "system-ui, sans-serif\">\n");
	for (int i = 0; i < (count ? count : 1); i++) {
		if (count) { /* widths as in a file of this event alone (cli/outputs/outputs.c) */
			one.query.event = o->meta.events[i].event;
			one.query.by_weight = total || profile_sample_weight(p, one.query.event);
		}
		html_event(out, &data, p, &one);
	}
	html_latency(out, p, o);
	buf_adds(out, "</div>\n");
	buf_add(out, buf_str(&data), data.len);
	buf_adds(out, "<script>\n");
	svg_script(out);
	buf_adds(out, "</script>\n</body>\n</html>\n");
	buf_done(&data);
	return true;
}
