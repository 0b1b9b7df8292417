/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: updates done in slices, and drawing and keys meanwhile. */
#include "tui/frame/ui.h"

#include "profile/query/filter.h"
#include "tui/frame/command.h"
#include "tui/frame/search.h"

#include <string.h>

#define SUMS 16 /* stacks summed up in the time that transforming one frame takes */

/* Computes the window's sums for searches and filters. Returns false if the slice is used up. */
static bool prepare_search(struct ui *ui, uint64_t stamp)
{
	if (ui->job.summed || (!search_has_filter(ui) && !search_has_search(ui)))
		return true;
	search_update(ui);
	ui->job.summed = true;
	ui->job.stamp = stamp;
	return profile_asked(ui->profile) < ui->job.slice;
}

/* Transforms the stacks of the view's second query. */
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

	/* Must precede profile_stamp, which starts the next transformation. */
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
 * Leaves the last frame in place, because the data behind it may be inconsistent now; clears it if it belongs to another
 * view or size. Shows "working..." on the data-quality line.
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

/* True for commands of every view, and for quit unless its key could be text. */
static bool command_works_while_busy(const struct ui *ui, const struct command *c)
{
	bool text = ui->job.typed_count || ui->place.prompt.label || ui->place.popup;

	return c->views == VIEWS_ALL || (!text && !strcmp(c->name, "quit"));
}

/* A key during a job: handled at once if it does not depend on the view's data, else queued. */
unsigned ui_type_ahead(struct ui *ui, int key)
{
	int arg = 0;
	const struct command *c = command_find(ui, key, &arg);

	if (c && command_works_while_busy(ui, c))
		return c->run(ui, arg);
	ui_type_later(ui, key);
	return 0;
}

void ui_type_later(struct ui *ui, int key)
{
	if (ui->job.typed_count < UI_TYPED)
		ui->job.typed[ui->job.typed_count++] = key;
}
