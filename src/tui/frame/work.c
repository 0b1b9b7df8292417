/* SPDX-License-Identifier: Apache-2.0 */
/* What is too much for one key, bit by bit: what is made ready, what is drawn meanwhile, what keys do. */
#include "tui/frame/ui.h"

#include "profile/query/filter.h"
#include "tui/frame/command.h"
#include "tui/frame/search.h"

#include <string.h>

#define SUMS 16 /* stacks that are summed up in the time in which one is made in another form */

/* What searches and filters need: the sums of the window. */
static bool prepare_search(struct ui *ui, uint64_t stamp)
{
	if (ui->job.summed || (!search_active(ui) && !search_has_search(ui)))
		return true;
	search_update(ui);
	ui->job.summed = true;
	ui->job.stamp = stamp;
	return profile_asked(ui->profile) < ui->job.slice;
}

/* Another window, which a view compares with: of that only what is made in another form is too much. */
static bool prepare_other(struct ui *ui, const struct view *v)
{
	struct profile_query q;

	return !v->other || !v->other(ui, &q) ||
	       filter_prepare_fold(ui->profile, &q, ui->job.slice);
}

bool ui_prepare(struct ui *ui, const struct view *v)
{
	struct profile_query q = ui_query(ui);
	bool ready = ui->job.ready && ui->job.ready == profile_stamp(ui->profile, &q);
	uint64_t stamp;

	/* This comes before the stamp, which begins another form. */
	if (!ready &&
		!filter_prepare(ui->profile, &q, ui->job.ticking ? UINT64_MAX : ui->job.slice) &&
		!ui->job.ticking)
		return false;
	stamp = profile_stamp(ui->profile, &q);
	ui->job.ready = stamp;
	ui->job.summed = ui->job.summed && ui->job.stamp == stamp;
	if (ui->job.ticking)
		return true;
	return prepare_search(ui, stamp) &&
	       (!v->sums || filter_prepare_sums(ui->profile, &q, ui->job.slice * SUMS)) &&
	       prepare_other(ui, v);
}

/*
 * What stands there stays, since what it was made of may not fit together now; where it is of another view or
 * size, nothing does. The mark stands on the data-quality line.
 */
void ui_draw_working(struct ui *ui)
{
	struct canvas *c = &ui->canvas;

	if (!ui->drawn) {
		canvas_clear(c);
		header_draw(ui);
		footer_draw(ui);
	}
	canvas_text(c, header_quality_row(ui), c->cols - 13, c->cols, STYLE_WARN, " working... ");
}

/* What works in every view; and to quit, where that letter cannot be meant as text. */
static bool ui_works_meanwhile(const struct ui *ui, const struct command *c)
{
	bool text = ui->job.typed_count || ui->place.prompt.label || ui->place.popup;

	return c->views == VIEWS_ALL || (!text && !strcmp(c->name, "quit"));
}

/* Views and their data belong together: what is typed while there is work to do is taken when it is done. */
unsigned ui_type_ahead(struct ui *ui, int key)
{
	int arg = 0;
	const struct command *c = command_find(ui, key, &arg);

	if (c && ui_works_meanwhile(ui, c))
		return c->run(ui, arg);
	ui_type_later(ui, key);
	return 0;
}

void ui_type_later(struct ui *ui, int key)
{
	if (ui->job.typed_count < UI_TYPED)
		ui->job.typed[ui->job.typed_count++] = key;
}
