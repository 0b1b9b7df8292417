/* SPDX-License-Identifier: Apache-2.0 */
/* The findings view: a list, worst first, and below it the evidence of the selected one. */
#include "tui/frame/findings.h"

#include "base/buf.h"
#include "tui/frame/command.h"
#include "tui/frame/events.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <string.h>

#define EARLY_MS    5000
#define ROWS_TITLES 8 /* smaller bodies have no column titles */
#define COLS_ALL    60
#define NAME_COL    1
#define SHARE_END   22
#define SINCE_END   29
#define WHAT_COL    31

struct findings_view {
	struct view_state view; /* list: the findings */
	struct page pane;       /* its list's cursor is the first visible row */
	enum view_id from;
	const struct finding_rule *rule; /* identity of the selected finding */
	uint64_t subject;
};

static void view_done(void *state)
{
	page_done(&((struct findings_view *)state)->pane);
}

static const struct finding *selected(const struct ui *ui)
{
	const struct view_state *at = ui_state(ui, VIEW_FINDINGS);
	const struct ui_findings *f = ui->findings;

	return at->list.cursor < (int)f->count ? &f->list[at->list.cursor].finding : NULL;
}

/* True when a rule is not checked for this reason. */
static bool is_skipped(const struct ui *ui, const struct finding_rule *rule, const char *reason)
{
	char why[FINDING_WHY];

	return findings_not_judged(ui->findings->rules, rule, &(int){0}, why) &&
	       !strcmp(why, reason);
}

/* A line per reason: "not checked: LOCK POOL (lock is not sampled: press 3)". */
static void add_rules_skipped(const struct ui *ui, struct page *p)
{
	const struct finding_rule *const *rule, *const *r;
	char why[FINDING_WHY];
	struct buf text = {0};
	int event;

	for (rule = finding_rules; *rule; rule++) {
		if (!findings_not_judged(ui->findings->rules, *rule, &event, why))
			continue;
		for (r = finding_rules; r < rule && !is_skipped(ui, *r, why);)
			r++;
		if (r < rule)
			continue; /* this reason has a line already */
		buf_clear(&text);
		buf_adds(&text, "not checked:");
		for (; *r; r++)
			if (is_skipped(ui, *r, why))
				buf_printf(&text, " %s", (*r)->title);
		buf_printf(&text, " (%s", why);
		if (event >= 0 && ui_has_event(ui, event) && !ui->ended)
			buf_printf(&text, ": press %d", event + 1);
		buf_adds(&text, ")");
		page_text(p, 1, 2, STYLE_DIM, buf_str(&text));
	}
	buf_done(&text);
}

/* The events that opening this view has switched on. */
static void add_events_begun(const struct ui *ui, struct page *p)
{
	bool on[EVENT_USER_FIRST];
	char text[160];

	for (int i = 0; i < EVENT_USER_FIRST; i++)
		on[i] = ui->findings->begun & 1u << i && ui->vitals->events[i].state == VITALS_ON;
	if ((!on[EVENT_LOCK] && !on[EVENT_WALL]) || ui->ended)
		return;
	snprintf(text, sizeof(text), "this view samples %s%s%s until you leave it",
		on[EVENT_LOCK] ? "locks" : "", on[EVENT_LOCK] && on[EVENT_WALL] ? " and " : "",
		on[EVENT_WALL] ? "waits" : "");
	page_text(p, 1, 2, STYLE_DIM, text);
}

static void draw_pane(const struct ui *ui, struct area area)
{
	struct findings_view *v = ui_state(ui, VIEW_FINDINGS);
	const struct finding *f = selected(ui);
	struct page *p = &v->pane;
	char text[sizeof(f->proof)], why[FINDING_WHY];
	int event;

	page_begin(ui, p);
	if (f) {
		page_text(p, 1, 0, STYLE_STRONG, f->what);
		for (const char *line = f->proof; *line;) {
			int bytes = (int)strcspn(line, "\n"), in = (int)strspn(line, " ");

			snprintf(text, sizeof(text), "%.*s", bytes - in, line + in);
			page_text(p, 3 + in, 2, STYLE_NORMAL, text);
			line += bytes + (line[bytes] == '\n');
		}
		snprintf(text, sizeof(text), "-> %s", f->advice);
		page_text(p, 1, 3, STYLE_KEY, text);
		p->rows++;
	}
	/* The list of rules may not fit: first the events that would add to it. */
	add_events_begun(ui, p);
	add_rules_skipped(ui, p);
	if (!f) {
		/* Rules need some seconds of data after an event was switched on. */
		bool early = !ui->ended && ui->now_ms - ui->begun_ms < EARLY_MS;

		p->rows += p->rows > 0;
		page_text(p, 1, 0, STYLE_STRONG,
			early ? "nothing found yet; checking for:" : "nothing found; checked for:");
		for (const struct finding_rule *const *rule = finding_rules; *rule; rule++)
			if (!findings_not_judged(ui->findings->rules, *rule, &event, why))
				page_text(p, 3, 2, STYLE_NORMAL, (*rule)->what);
	}
	page_draw(ui, p, area);
}

static void draw_row(const struct ui *ui, int row, const struct finding *f)
{
	struct canvas *c = ui->canvas;
	char text[sizeof(f->what)] = "-", since[TEXT_NUMBER];
	int col, end = c->cols - 1;

	col = canvas_text(c, row, NAME_COL, end, findings_style(f->grade), f->rule->title) + 1;
	if (c->cols >= COLS_ALL) {
		if (f->share >= 0 && f->error >= FINDING_ERROR)
			snprintf(text, sizeof(text), "%.0f%s%.0f%%", 100 * f->share,
				ui->glyphs->plus_minus, 100 * f->error);
		else if (f->share >= 0)
			snprintf(text, sizeof(text), "%.0f%%", 100 * f->share);
		canvas_right(c, row, col, SHARE_END, STYLE_NORMAL, text);
		canvas_right(c, row, SHARE_END, SINCE_END, STYLE_NORMAL,
			text_uptime(since, (int64_t)f->since_s));
		col = WHAT_COL;
	}
	name_cut(text, sizeof(text), f->what, end - col, ui->glyphs->ellipsis);
	canvas_text(c, row, col, end, STYLE_NORMAL, text);
}

/* Keeps the cursor on the selected finding when the list is reordered. */
static void follow(const struct ui *ui)
{
	struct findings_view *v = ui_state(ui, VIEW_FINDINGS);
	const struct finding *f;

	list_resize(&v->view.list, (int)ui->findings->count, v->view.list.rows);
	for (int i = 0; !v->view.list.touched && i < (int)ui->findings->count; i++) {
		f = &ui->findings->list[i].finding;
		if (v->rule == f->rule && v->subject == f->subject && v->view.list.cursor)
			list_follow(&v->view.list, i);
	}
	v->view.list.touched = false;
	f = selected(ui);
	if (f && (v->rule != f->rule || v->subject != f->subject)) {
		v->rule = f->rule;
		v->subject = f->subject;
		v->pane.view.list.cursor = 0;
	}
}

static void view_draw(const struct ui *ui, struct area area)
{
	struct view_state *at = ui_state(ui, VIEW_FINDINGS);
	struct list *l = &at->list;
	struct canvas *c = ui->canvas;
	int row = area.row, most = area.rows / 3;

	if (!ui->profile || !ui->vitals)
		return;
	follow(ui);
	list_resize(l, (int)ui->findings->count, most < l->count ? most : l->count);
	if (area.rows >= ROWS_TITLES) {
		canvas_fill(c, row, 0, c->cols, STYLE_COLUMNS, ' ');
		canvas_text(c, row, NAME_COL, c->cols, STYLE_COLUMNS, "FINDING");
		if (c->cols >= COLS_ALL) {
			canvas_right(c, row, NAME_COL, SHARE_END, STYLE_COLUMNS, "SHARE");
			canvas_right(c, row, SHARE_END, SINCE_END, STYLE_COLUMNS, "FOR");
			canvas_text(c, row, WHAT_COL, c->cols, STYLE_COLUMNS, "WHAT");
		}
		row++;
	}
	for (int i = l->top; i < l->top + l->rows && i < l->count; i++, row++) {
		draw_row(ui, row, &ui->findings->list[i].finding);
		canvas_list_row(c, row, 0, c->cols, i, i == l->cursor);
	}
	row += area.rows >= ROWS_TITLES;
	draw_pane(ui, (struct area){row, 0, area.row + area.rows - row, area.cols});
}

/* Names the view that Enter opens. */
static void view_detail(const struct ui *ui, struct strip *s)
{
	const struct view_state *at = ui_state(ui, VIEW_FINDINGS);
	const struct finding *f = selected(ui);

	if (!f || !ui->profile)
		return;
	strip_add(s, STYLE_DIM, 1, "%d of %u", at->list.cursor + 1, ui->findings->count)->right =
		true;
	if (f->thread != PROFILE_NONE)
		strip_add(s, STYLE_NORMAL, 0, "%s: thread %s", ui->glyphs->enter,
			profile_get_thread(ui->profile, f->thread)->name);
	else if (f->method != PROFILE_NONE)
		strip_add(s, STYLE_NORMAL, 0, "%s: %s", ui->glyphs->enter,
			profile_get_method(ui->profile, f->method)->full);
	else if (f->event >= 0)
		strip_add(s, STYLE_NORMAL, 0, "%s: methods by %s", ui->glyphs->enter,
			profile_events[f->event].name);
}

static void view_notice(const struct ui *ui, struct strip *s)
{
	const struct findings_view *v = ui_state(ui, VIEW_FINDINGS);

	if (v->pane.view.list.cursor < v->pane.view.list.count - 1)
		strip_add(s, STYLE_DIM, 0, "%s more below: PgDn", ui->glyphs->down)->right = true;
}

unsigned findings_show(struct ui *ui, int arg)
{
	const struct findings_view *v = ui_state(ui, VIEW_FINDINGS);
	enum view_id from = ui->view;

	ui_show(ui, from == VIEW_FINDINGS ? v->from : VIEW_FINDINGS);
	if (from == VIEW_FINDINGS)
		return UI_UPDATE;
	/* arg 1: returning from a finding; Esc still leads to the original view. */
	if (!arg)
		((struct findings_view *)ui_state(ui, VIEW_FINDINGS))->from = from;
	findings_open(ui);
	return UI_UPDATE;
}

unsigned findings_scroll(struct ui *ui, int direction)
{
	struct findings_view *v = ui_state(ui, VIEW_FINDINGS);

	list_step(&v->pane.view.list, direction < 0 ? LIST_PAGE_UP : LIST_PAGE_DOWN);
	return 0;
}

unsigned findings_go(struct ui *ui, int arg)
{
	const struct finding *at = selected(ui);

	if (!at)
		return 0;
	struct finding f = *at;
	if (f.event < 0 && f.thread == PROFILE_NONE && f.method == PROFILE_NONE) {
		ui_say(ui, "there are no further details");
		return 0;
	}
	/* If the event cannot be shown, events_show has shown a message or a warning. */
	if (f.event >= 0 && !events_show(ui, f.event) && ui->scope.event != f.event)
		return 0;
	if (f.thread != PROFILE_NONE)
		threads_select(ui, f.thread);
	else if (f.method != PROFILE_NONE)
		methods_select(ui, f.method);
	else
		ui_show(ui, VIEW_METHODS);
	ui->found = ui->view;
	ui->found_undo = ui_undo_id(ui);
	return UI_SORT;
}

const struct view view_findings = {
	.name = "Findings",
	.bytes = sizeof(struct findings_view),
	.done = view_done,
	.draw = view_draw,
	.detail = view_detail,
	.notice = view_notice,
};
