/* SPDX-License-Identifier: Apache-2.0 */
/* What stands above a flame graph: its title, and what the samples are of. */
#include "export/text.h"
#include "export/web/svg.h"

#include <string.h>
#include <time.h>

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

static void head_side(struct buf *out, const struct profile *p, const struct diff *d, int side)
{
	buf_printf(head_next(out, ""), "%c ", 'A' + side);
	if (d->mode == DIFF_RATE) {
		export_value(out, profile_get_event(p, d->query_all.event)->unit,
			(uint64_t)(d->all.of[side] + 0.5));
		buf_adds(out, " a second, ");
	}
	export_count(out, d->all.samples[side]);
	buf_printf(out, " samples, %d recording%s", d->runs[side], plural((uint64_t)d->runs[side]));
	if (d->seconds[side] > 0) {
		buf_adds(out, " of ");
		export_value(out, "ns", (uint64_t)(d->seconds[side] * 1e9));
	}
}

/* Of both sides. */
static void head_diff(
	struct svg_head *head, const struct profile *p, const struct export_options *o)
{
	static const char *const modes[DIFF_MODES] = {
		"per second", "as a share of all", "as it was counted"};

	if (o->title)
		export_clean(&head->title, o->title, 0, 0);
	else
		buf_printf(&head->title, "%s: what changed from A to B, %s", head->event->name,
			modes[o->diff->mode]);
	for (int side = 0; side < DIFF_SIDES; side++)
		head_side(&head->facts, p, o->diff, side);
}

void svg_head_init(struct svg_head *head, const struct profile *p, const struct export_options *o)
{
	*head = (struct svg_head){.event = profile_get_event(p, o->query.event)};
	if (o->diff) {
		head_diff(head, p, o);
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
