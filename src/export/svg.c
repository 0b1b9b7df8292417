/* SPDX-License-Identifier: Apache-2.0 */
/* The flame-graph file: header, picture, data, script. */
#include "export/svg.h"

#include "export/export.h"
#include "export/text.h"

#include <string.h>
#include <time.h>

/* src/export/web/flame.js, without its comments (src/export/local.mk). */
static const unsigned char svg_script[] = {
#include "export/web/flame_js.inc"
};

static const char *const event_titles[PROFILE_EVENTS] = {
	[EVENT_CPU] = "CPU time",
	[EVENT_ALLOC] = "allocated memory",
	[EVENT_LOCK] = "lock contention",
	[EVENT_WALL] = "wall-clock time",
};

static void head_title(struct buf *out, const struct profile *p, const struct export_options *o)
{
	const char *event = event_titles[o->query.event];
	struct buf text = {0};

	if (o->title) {
		export_clean(out, o->title, 0, 0);
		return;
	}
	buf_printf(&text, "%s: %s", o->meta.name && *o->meta.name ? o->meta.name : "profile",
		event ? event : profile_get_event(p, o->query.event)->name);
	export_clean(out, buf_str(&text), 0, 0);
	buf_done(&text);
}

/* Where the next fact goes. */
static struct buf *head_next(struct buf *out, const char *before)
{
	if (out->len)
		buf_adds(out, " \xc2\xb7 ");
	buf_adds(out, before);
	return out;
}

static void head_text(struct buf *out, const char *before, const char *text)
{
	if (text && *text)
		export_clean(head_next(out, before), text, 0, 0);
}

static void head_value(struct buf *out, const char *unit, uint64_t interval)
{
	struct buf text = {0};
	char *fraction;

	export_value(&text, unit, interval);
	fraction = strstr(text.data, ".00"); /* "10.00 ms" says less than "10 ms" */
	if (fraction)
		memmove(fraction, fraction + 3, strlen(fraction + 3) + 1);
	buf_adds(out, text.data);
	buf_done(&text);
}

static void head_interval(struct buf *out, const struct export_event *e, const char *unit)
{
	head_value(out, unit, e->interval);
	if (e->interval_most > e->interval) {
		buf_adds(out, " to ");
		head_value(out, unit, e->interval_most);
	}
	if (e->engine && *e->engine)
		buf_printf(out, " (%s)", e->engine);
}

static void head_time(struct buf *out, uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000u);
	char text[40];
	struct tm tm;

	if (wall_ns && gmtime_r(&seconds, &tm) &&
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &tm))
		head_text(out, "", text);
}

static void head_facts(struct buf *out, const struct profile *p, const struct export_options *o)
{
	const char *unit = profile_get_event(p, o->query.event)->unit;
	const struct export_event e = export_event_of(o, o->query.event);
	const struct export_meta *m = &o->meta;
	struct profile_sum sum = profile_sum(p, &o->query);
	struct buf facts = {0};

	export_count(&facts, sum.count);
	buf_adds(&facts, sum.count == 1 ? " sample" : " samples");
	export_value(head_next(&facts, ""), unit, sum.weight);
	if (e.interval)
		head_interval(head_next(&facts, "every "), &e, unit);
	if (m->duration_ns)
		export_value(head_next(&facts, "in "), "ns", m->duration_ns);
	if (e.lost)
		export_count(head_next(&facts, "lost "), e.lost);
	if (m->pid > 0)
		buf_printf(head_next(&facts, "pid "), "%d", m->pid);
	head_text(&facts, "JDK ", m->jdk);
	head_time(&facts, m->start_wall_ns);
	head_text(&facts, "on ", m->host);
	for (int i = 0; i < m->label_count; i++)
		head_text(&facts, "", m->labels[i]);
	export_clean(out, buf_str(&facts), 0, 0);
	buf_done(&facts);
}

static void svg_document(struct buf *out, const struct flame *f, const struct export_options *o,
	const struct svg_head *head)
{
	struct buf picture = {0};
	unsigned height;

	svg_picture(&picture, f, head, &height);
	buf_printf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\" height=\"%u\" "
		"viewBox=\"0 0 1200 %u\" role=\"img\">\n<title>",
		height, height);
	export_xml(out, buf_str(&head->title));
	buf_adds(out, "</title>\n<desc>");
	export_xml(out, buf_str(&head->facts));
	buf_adds(out, "</desc>\n");
	buf_add(out, picture.data, picture.len);
	buf_adds(out, "<metadata id=\"flame\">");
	svg_data(out, f, o, head);
	buf_adds(out, "</metadata>\n<script><![CDATA[\n");
	buf_add(out, svg_script, sizeof(svg_script));
	buf_adds(out, "]]></script>\n</svg>\n");
	buf_done(&picture);
}

void export_svg(struct buf *out, const struct profile *p, const struct export_options *o)
{
	struct svg_head head = {0};
	struct flame *f;

	head.event = profile_get_event(p, o->query.event);
	head_title(&head.title, p, o);
	head_facts(&head.facts, p, o);
	f = flame_new(p, &o->query, o->threads);
	svg_document(out, f, o, &head);
	flame_free(f);
	buf_done(&head.title);
	buf_done(&head.facts);
}
