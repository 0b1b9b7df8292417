/* SPDX-License-Identifier: Apache-2.0 */
/* Search and filters of the views. */
#include "tui/frame/search.h"

#include "base/buf.h"
#include "profile/query/filter.h"
#include "profile/query/match.h"
#include "profile/table/flat.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- state ------------------------------------------------------------------------------------------- */

struct search {
	char text[256];      /* "": no search */
	int from;            /* the cursor when / was pressed */
	unsigned undo;       /* its undo id */
	struct match *match; /* which methods match, cached for the profile */
	/* The search before the prompt was opened. */
	char before[256];
	unsigned undo_before;
	unsigned filter_undo[FILTER_TERMS]; /* the undo ids of the filter's terms */
};

void search_init(struct ui *ui, const char *const *frameworks)
{
	struct buf text = {0};

	ui->search = xcalloc(1, sizeof(*ui->search));
	ui->search->match = match_new();
	ui->scope.filter = filter_new();
	for (; *frameworks; frameworks++)
		buf_printf(&text, "%s ", *frameworks);
	filter_set_frameworks(ui->scope.filter, buf_str(&text));
	filter_set_hide(ui->scope.filter, FILTER_FOLDS); /* unless K is pressed */
	buf_done(&text);
}

void search_done(struct ui *ui)
{
	filter_free(ui->scope.filter);
	match_free(ui->search->match);
	free(ui->search);
}

void search_reset(struct ui *ui, const char *const *frameworks)
{
	unsigned hide = filter_hide(ui->scope.filter);
	bool lines = filter_lines(ui->scope.filter), io = filter_io(ui->scope.filter);

	search_done(ui);
	search_init(ui, frameworks);
	filter_set_hide(ui->scope.filter, hide);
	filter_set_lines(ui->scope.filter, lines);
	filter_set_io(ui->scope.filter, io);
}

static void search_for(struct ui *ui, const char *text)
{
	snprintf(ui->search->text, sizeof(ui->search->text), "%s", text);
	match_set(ui->search->match, ui->search->text);
	ui->search->undo = ui_undo_id(ui);
	/* The flame graph counts hits too narrow for a box only when it is rebuilt. */
	if (ui->view == VIEW_FLAME && ui->profile)
		ui_react(ui, UI_UPDATE);
	else if (!ui->job.on)
		ui_update_sums(ui);
}

bool search_is_active(const struct ui *ui)
{
	return *ui->search->text;
}

const char *search_text(const struct ui *ui)
{
	return ui->search->text;
}

struct match *search_match(const struct ui *ui)
{
	return ui->search->match;
}

int search_from(const struct ui *ui)
{
	return ui->search->from;
}

bool search_hit(const struct ui *ui, const char *name)
{
	size_t bytes;

	return *ui->search->text && match_find(name, ui->search->text, &bytes);
}

bool search_hit_method(const struct ui *ui, uint32_t method)
{
	return *ui->search->text && match_method(ui->search->match, ui->profile, method);
}

/* --- showing ----------------------------------------------------------------------------------------- */

static const struct {
	unsigned hide;
	const char *what, *brief;
} hides[] = {
	{FILTER_FOLDS, "folded: thread entry frames, native runs, waits of JVM threads", ""},
	{FILTER_FOLDS | FILTER_FRAMEWORK, "hidden: framework frames", "framework"},
	{FILTER_FOLDS | FILTER_NATIVE | FILTER_KERNEL, "hidden: native and kernel frames",
		"native kernel"},
	{FILTER_FOLDS | FILTER_FRAMEWORK | FILTER_NATIVE | FILTER_KERNEL,
		"hidden: framework, native and kernel frames", "framework native kernel"},
	{0, "all frames are shown", "all frames"},
};
#define HIDES (sizeof(hides) / sizeof(hides[0]))

static size_t hide_choice(const struct ui *ui)
{
	size_t i = 0;

	while (i + 1 < HIDES && hides[i].hide != filter_hide(ui->scope.filter))
		i++;
	return i;
}

void search_bar(const struct ui *ui, struct strip *s)
{
	char text[64];
	bool only;

	if (filter_hide(ui->scope.filter) == FILTER_FOLDS)
		strip_add(s, STYLE_NORMAL, 6, "folded (K)");
	for (int i = 0; i < filter_count(ui->scope.filter); i++) {
		const char *term = filter_term(ui->scope.filter, i, &only);

		name_cut(text, sizeof(text), term, 24, ui->glyphs->ellipsis);
		strip_add(s, STYLE_WARN, 2, " %c%s ", only ? '\\' : '!', text);
	}
	if (filter_hide(ui->scope.filter) != FILTER_FOLDS)
		strip_add(s, STYLE_WARN, 3, " K %s ", hides[hide_choice(ui)].brief);
	if (ui_hides_idle(ui) && ui->view != VIEW_THREADS)
		strip_add(s, STYLE_NORMAL, 4, "idle hidden (a)");
	if (filter_lines(ui->scope.filter))
		strip_add(s, STYLE_WARN, 3, " L lines ");
	if (filter_io(ui->scope.filter))
		strip_add(s, STYLE_WARN, 3, " O peers ");
}

void search_count(const struct ui *ui, struct strip *s, int hits, int of, const char *what)
{
	char text[80];

	name_cut(text, sizeof(text), ui->search->text + (*ui->search->text == '='), 30,
		ui->glyphs->ellipsis);
	strip_add(s, STYLE_NORMAL, 0, "%c%s: %d of %d %s", *ui->search->text == '=' ? '#' : '/',
		text, hits, of, what);
	strip_add(s, STYLE_STRONG, 1, "%.1f%% of samples",
		flat_percent(ui->sums.searched.weight, ui->sums.all.weight));
	strip_add(s, STYLE_DIM, 2, "(each counted once)");
}

void search_highlight(const struct ui *ui, int row, int col, const char *text, const char *full)
{
	size_t bytes;
	int from = 0, width = text_width(text);

	if (!search_hit(ui, full))
		return;
	const char *hit = match_find(text, ui->search->text, &bytes);
	/* If the match is in a part that is not displayed, highlight the whole text. */
	if (hit) {
		char before[512], found[512];

		snprintf(before, sizeof(before), "%.*s", (int)(hit - text), text);
		snprintf(found, sizeof(found), "%.*s", (int)bytes, hit);
		from = text_width(before);
		width = text_width(found);
	}
	canvas_restyle(ui->canvas, row, col + from, col + from + width, STYLE_HIT);
}

bool search_collapsed_name(
	const struct ui *ui, uint32_t stack, uint32_t method, char *out, size_t size)
{
	uint32_t run = filter_collapsed_frames(ui->profile, stack);

	if (!run || method == PROFILE_NONE)
		return false;
	const char *name = profile_get_method(ui->profile, method)->full;
	/* "[framework frames]" */
	snprintf(out, size, "%s %u %.*s", ui->glyphs->ellipsis, run,
		(int)strcspn(name + 1, "]") - (run == 1), name + 1);
	return true;
}

/* --- searching --------------------------------------------------------------------------------------- */

/* Moves to the next hit in a direction, or with 0 to the first one from where the search began. */
static bool find_from(struct ui *ui, int direction)
{
	const struct view *v = ui_view(ui);
	struct list *list = ui_list(ui);

	if (v->find)
		return v->find(ui, direction);
	int at = list_find(list, v->text, ui, ui->search->text,
		direction ? list->cursor + direction : ui->search->from, direction ? direction : 1);
	if (at < 0)
		return false;
	list_to(list, at);
	return true;
}

static void find_anchor(struct ui *ui, bool set)
{
	struct list *list = ui_list(ui);

	if (set)
		ui->search->from = list->cursor;
	else
		list_to(list, ui->search->from);
	if (ui_view(ui)->anchor)
		ui_view(ui)->anchor(ui, set);
}

static void find_change(struct ui *ui)
{
	search_for(ui, ui->prompt.text);
	if (!*ui->search->text || !find_from(ui, 0))
		find_anchor(ui, false);
	ui_react(ui, UI_FREEZE_ORDER);
}

static void find_done(struct ui *ui, bool accepted)
{
	if (!accepted) {
		search_for(ui, ui->search->before);
		ui->search->undo = ui->search->undo_before;
		find_anchor(ui, false);
	} else if (*ui->search->text && !find_from(ui, 0)) {
		ui_warn(ui, "no match for \"%s\"", ui->search->text);
	}
}

unsigned search_prompt(struct ui *ui, int arg)
{
	memcpy(ui->search->before, ui->search->text, sizeof(ui->search->text));
	ui->search->undo_before = ui->search->undo;
	search_for(ui, "");
	find_anchor(ui, true);
	ui_prompt(ui, "find: ", "", find_change, find_done);
	return UI_FREEZE_ORDER;
}

unsigned search_next(struct ui *ui, int direction)
{
	if (!find_from(ui, direction))
		ui_warn(ui, "no match for \"%s\"", ui->search->text);
	return UI_FREEZE_ORDER;
}

unsigned search_same(struct ui *ui, int arg)
{
	const char *name = ui_selected(ui);
	char text[sizeof(ui->search->text)];

	if (!name)
		return 0;
	snprintf(text, sizeof(text), "=%s", name);
	search_for(ui, text);
	find_from(ui, 1);
	return UI_FREEZE_ORDER;
}

/* --- filtering --------------------------------------------------------------------------------------- */

static void filter_done(struct ui *ui, bool accepted)
{
	const struct ui_prompt *p = &ui->prompt;

	if (!accepted || !*p->text)
		return;
	if (!filter_push(ui->scope.filter, p->arg, p->text)) {
		ui_warn(ui, "at most %d filters; Esc removes the last one", FILTER_TERMS);
		return;
	}
	ui->search->filter_undo[filter_count(ui->scope.filter) - 1] = ui_undo_id(ui);
	ui_react(ui, UI_SORT | UI_FREEZE_ORDER);
	if (!ui->job.on && !ui->sums.all.count)
		ui_warn(ui, "no sample of this window matches; Esc removes the filter");
}

unsigned search_filter(struct ui *ui, int only)
{
	ui_prompt(ui, only ? "only stacks with: " : "hide stacks with: ", ui->search->text, NULL,
		filter_done);
	ui->prompt.arg = only;
	return 0;
}

unsigned search_hide(struct ui *ui, int arg)
{
	size_t next = (hide_choice(ui) + 1) % HIDES;

	filter_set_hide(ui->scope.filter, hides[next].hide);
	ui_say(ui, "%s", hides[next].what);
	return UI_SORT;
}

unsigned search_lines(struct ui *ui, int arg)
{
	bool on = !filter_lines(ui->scope.filter);

	filter_set_lines(ui->scope.filter, on);
	ui_say(ui, on ? "by line: Class.method:line" : "by method");
	return UI_SORT;
}

unsigned search_idle(struct ui *ui, int arg)
{
	ui->scope.idle = !ui->scope.idle;
	ui_say(ui,
		ui->scope.idle ? "idle threads are shown" : "hidden: threads that wait for work");
	return UI_SORT;
}

unsigned search_io(struct ui *ui, int arg)
{
	bool on = !filter_io(ui->scope.filter);

	filter_set_io(ui->scope.filter, on);
	ui_say(ui, on ? "I/O waits by peer and file" : "I/O waits by method");
	return UI_SORT;
}

static unsigned filter_undo_id(const struct ui *ui)
{
	int n = filter_count(ui->scope.filter);

	return n ? ui->search->filter_undo[n - 1] : 0;
}

unsigned search_undo_id(const struct ui *ui)
{
	unsigned filter = filter_undo_id(ui);

	return *ui->search->text && ui->search->undo > filter ? ui->search->undo : filter;
}

void search_back(struct ui *ui)
{
	if (*ui->search->text && ui->search->undo > filter_undo_id(ui)) {
		search_for(ui, "");
		return;
	}
	filter_pop(ui->scope.filter);
	ui_react(ui, UI_SORT);
}
