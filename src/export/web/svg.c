/* SPDX-License-Identifier: Apache-2.0 */
/* The .svg file: its header (title and facts), and its parts in order. */
#include "export/web/svg.h"

#include "export/export.h"
#include "export/text.h"

#include <string.h>
#include <time.h>

#define REVERSED_SHARE (1.0 / SVG_WIDTH) /* narrower boxes would be less than a pixel wide */

/* The joined scripts of this folder, without comments (src/export/local.mk). */
static const unsigned char script[] = {
#include "export/web/flame_js.inc"
};

void svg_script(struct buf *out)
{
	buf_add(out, script, sizeof(script));
}

struct svg_style svg_style_of(const struct export_options *o)
{
	return (struct svg_style){.width = o->width ? o->width : SVG_WIDTH,
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

/* --- the header --------------------------------------------------------------------------------------- */

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

/* Appends a separator, if needed, and `before`. */
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

	export_value(&text, unit, interval);
	char *fraction = strstr(text.data, ".00"); /* "10.00 ms": "10 ms" is shorter */
	if (fraction)
		memmove(fraction, fraction + 3, strlen(fraction + 3) + 1);
	buf_adds(out, text.data);
	buf_done(&text);
}

static void head_facts(struct buf *out, const struct profile *p, const struct export_options *o)
{
	const char *unit = profile_get_event(p, o->query.event)->unit;
	const struct export_event e = export_event_of(o, o->query.event);
	const struct export_meta *m = &o->meta;
	struct profile_sum sum = profile_sum(p, &o->query);
	time_t start = (time_t)(m->start_wall_ns / 1000000000u);
	struct buf facts = {0};
	char text[40];
	struct tm tm;

	export_count(&facts, sum.count);
	buf_adds(&facts, sum.count == 1 ? " sample" : " samples");
	export_value(head_next(&facts, ""), unit, sum.weight);
	if (e.interval) {
		head_value(head_next(&facts, "every "), unit, e.interval);
		if (e.interval_most > e.interval) {
			buf_adds(&facts, " to ");
			head_value(&facts, unit, e.interval_most);
		}
		if (e.engine && *e.engine)
			buf_printf(&facts, " (%s)", e.engine);
	}
	if (m->duration_ns)
		export_value(head_next(&facts, "in "), "ns", m->duration_ns);
	if (e.lost)
		export_count(head_next(&facts, "lost "), e.lost);
	if (m->pid > 0)
		buf_printf(head_next(&facts, "pid "), "%d", m->pid);
	head_text(&facts, "JDK ", m->jdk);
	if (m->start_wall_ns && gmtime_r(&start, &tm) &&
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &tm))
		head_text(&facts, "", text);
	head_text(&facts, "on ", m->host);
	for (int i = 0; i < m->label_count; i++)
		head_text(&facts, "", m->labels[i]);
	export_clean(out, buf_str(&facts), 0, 0);
	buf_done(&facts);
}

void svg_head_init(struct svg_head *head, const struct profile *p, const struct export_options *o)
{
	*head = (struct svg_head){.event = profile_get_event(p, o->query.event)};
	if (o->diff) {
		if (o->title)
			export_clean(&head->title, o->title, 0, 0);
		else
			buf_printf(&head->title, "%s: changes from A to B, %s", head->event->name,
				diff_modes[o->diff->mode].words);
		for (int side = 0; side < DIFF_SIDES; side++) {
			buf_printf(head_next(&head->facts, ""), "%c ", 'A' + side);
			if (o->diff->mode == DIFF_RATE) {
				export_value(&head->facts,
					profile_get_event(p, o->diff->query_all.event)->unit,
					(uint64_t)(o->diff->all.of[side] + 0.5));
				buf_adds(&head->facts, " per second, ");
			}
			export_count(&head->facts, o->diff->all.samples[side]);
			buf_printf(&head->facts, " samples, %d recording%s", o->diff->runs[side],
				plural((uint64_t)o->diff->runs[side]));
			if (o->diff->seconds[side] > 0) {
				buf_adds(&head->facts, " of ");
				export_value(&head->facts, "ns",
					(uint64_t)(o->diff->seconds[side] * 1e9));
			}
		}
		return;
	}
	head_title(&head->title, p, o);
	head_facts(&head->facts, p, o);
}

void svg_head_done(struct svg_head *head)
{
	buf_done(&head->title);
	buf_done(&head->facts);
}

/* --- the file ---------------------------------------------------------------------------------------- */

bool export_svg(struct buf *out, const struct profile *p, const struct export_options *o)
{
	struct svg_style style = svg_style_of(o);
	struct flame *f = svg_flame(p, o), *reversed = o->reverse ? svg_reversed(p, o) : NULL;
	struct buf picture = {0};
	struct svg_head head;
	unsigned height;

	svg_head_init(&head, p, o);
	height = svg_picture(&picture, reversed ? reversed : f, &head, &style);
	buf_printf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		"viewBox=\"0 0 %u %u\" role=\"img\">\n<title>",
		style.width, height, style.width, height);
	export_xml(out, buf_str(&head.title));
	buf_adds(out, "</title>\n<desc>");
	export_xml(out, buf_str(&head.facts));
	buf_adds(out, "</desc>\n<g id=\"picture\">\n");
	buf_add(out, picture.data, picture.len);
	buf_adds(out, "</g>\n<metadata class=\"flame\">");
	svg_data(out, p, f, o, &head);
	buf_adds(out, "</metadata>\n<script><![CDATA[\n");
	svg_script(out);
	buf_adds(out, "]]></script>\n</svg>\n");
	buf_done(&picture);
	flame_free(f);
	flame_free(reversed);
	svg_head_done(&head);
	return true;
}
