/* SPDX-License-Identifier: Apache-2.0 */
/* The threads view: what each thread or pool uses and waits for; below the list or beside it the selected one. */
#include "tui/view/threads/inside.h"

#include "base/buf.h"
#include "tui/frame/command.h"
#include "tui/screen/text.h"
#include "tui/view/pane.h"

#include <stdlib.h>

#define PANE_ROWS 6  /* the selected thread */
#define PANE_FROM 14 /* body rows from which it is shown */

static struct threads *threads_state(const struct ui *ui)
{
	return ui->state[VIEW_THREADS];
}

static void *threads_new(void)
{
	return xcalloc(1, sizeof(struct threads));
}

static void threads_free(void *state)
{
	struct threads *t = state;

	thread_rows_done(&t->rows);
	thread_hot_done(&t->hot);
	order_done(&t->order);
	free(t);
}

static struct list *threads_list(struct ui *ui)
{
	return &threads_state(ui)->list;
}

static struct order *threads_order(struct ui *ui)
{
	return &threads_state(ui)->order;
}

/* --- order ------------------------------------------------------------------------------------------- */

static void sort_item(const struct threads *t, const struct thread_row *r, struct order_item *item)
{
	item->id = r->id;
	item->name = thread_row_name(t->ui->profile, r);
	switch (t->order.sort) {
	case SORT_ALLOC:
		item->key = (double)r->alloc;
		item->count = r->alloc_count;
		break;
	case SORT_LOCK:
		item->key = thread_row_lock(&t->rows, r);
		item->count = r->lock_count;
		break;
	default:
		item->key = (double)r->cpu_ns;
		item->count = r->cpu_count;
		break;
	}
	/* Of those that use nothing: the program's first, and first of them those that are blocked. */
	item->key += (r->kind == THREAD_JAVA ? 2e-6 : 0) + (r->state == THREAD_MONITOR ? 1e-6 : 0);
}

static void order_rows(struct ui *ui, struct threads *t, bool fresh)
{
	struct order_item *items = xcalloc(t->rows.count, sizeof(*items));

	for (uint32_t i = 0; i < t->rows.count; i++)
		sort_item(t, &t->rows.list[i], &items[i]);
	t->order.by_name = t->order.sort == SORT_NAME;
	order_update(&t->order, &t->list, items, t->rows.count,
		fresh          ? ORDER_FRESH
		: ui_holds(ui) ? ORDER_HOLD
			       : ORDER_KEEP);
	free(items);
}

/* Another event: sorted by what it is about. */
static void threads_follow_event(struct ui *ui, struct threads *t)
{
	static const int sorts[EVENT_USER_FIRST] = {
		[EVENT_CPU] = SORT_CPU, [EVENT_ALLOC] = SORT_ALLOC, [EVENT_LOCK] = SORT_LOCK};

	if (t->event == ui->event)
		return;
	t->event = ui->event;
	t->order.sort = ui->event < EVENT_USER_FIRST ? sorts[ui->event] : SORT_CPU;
}

static void threads_update(struct ui *ui, bool sort)
{
	struct threads *t = threads_state(ui);

	t->ui = ui;
	threads_follow_event(ui, t);
	thread_hot_stale(&t->hot, sort);
	thread_rows_update(&t->rows, ui, t->merged);
	order_rows(ui, t, sort);
}

/* --- drawing ----------------------------------------------------------------------------------------- */

static const struct thread_row *threads_row(const struct threads *t, int index)
{
	return index >= 0 && index < (int)t->rows.count ? &t->rows.list[t->order.rows[index]]
							: NULL;
}

static const char *threads_text(void *ctx, int index)
{
	struct ui *ui = ctx;
	const struct thread_row *r = threads_row(threads_state(ui), index);

	return r ? thread_row_name(ui->profile, r) : "";
}

static void draw_row(struct ui *ui, struct area area, int row, const struct column_place *places,
	int n, int index)
{
	struct threads *t = threads_state(ui);
	const struct thread_row *r = threads_row(t, index);
	struct canvas *c = &ui->canvas;

	column_row(c, row, places, n, t, r, ui->glyphs);
	if (*ui->search && text_find(thread_row_name(ui->profile, r), ui->search))
		canvas_restyle(c, row, places[0].col, places[0].col + places[0].width, STYLE_HIT);
	canvas_list_row(c, row, area.col, area.col + area.cols, index, index == t->list.cursor);
}

static void draw_list(struct ui *ui, struct area area)
{
	struct threads *t = threads_state(ui);
	struct column_place places[COLUMN_MAX];
	struct canvas *c = &ui->canvas;
	int n = column_layout(threads_columns(ui), c->cols, area.col, area.cols, places);

	column_titles(
		c, area.row, area.col, area.col + area.cols, places, n, t->order.sort, ui->glyphs);
	list_resize(&t->list, (int)t->rows.count, area.rows - 1);
	for (int line = 0; line < t->list.rows && threads_row(t, t->list.top + line); line++)
		draw_row(ui, area, area.row + 1 + line, places, n, t->list.top + line);
}

/* Rows of the pane below the list. */
static int rows_below(struct area area)
{
	if (area.rows < PANE_FROM)
		return 0;
	return area.rows / 3 > PANE_ROWS ? area.rows / 3 : PANE_ROWS;
}

static void threads_draw(struct ui *ui, struct area area)
{
	struct threads *t = threads_state(ui);
	struct area list, pane;
	bool beside = pane_split(area, PANE_LIST, &list, &pane);
	const struct thread_row *selected;

	if (!beside) {
		pane.rows = rows_below(area);
		list.rows -= pane.rows;
		pane.row += list.rows;
	}
	draw_list(ui, list);
	selected = threads_row(t, t->list.cursor);
	if (selected && beside)
		thread_pane_draw_beside(ui, pane, &t->rows, selected, &t->hot);
	else if (selected && pane.rows)
		thread_pane_draw(ui, pane, &t->rows, selected);
}

/* "142 threads: 9 run 2 blocked 96 parked 35 sleep" */
static void threads_quality(struct ui *ui, struct strip *s)
{
	static const char *const words[THREAD_STATES] = {[THREAD_ON_CPU] = "run",
		[THREAD_RUNNABLE] = "ready",
		[THREAD_MONITOR] = "blocked",
		[THREAD_IO] = "I/O",
		[THREAD_WAITING] = "wait",
		[THREAD_PARKED] = "parked",
		[THREAD_SLEEPING] = "sleep"};
	static const enum thread_state order[] = {THREAD_ON_CPU, THREAD_RUNNABLE, THREAD_MONITOR,
		THREAD_IO, THREAD_WAITING, THREAD_PARKED, THREAD_SLEEPING};
	const struct threads *t = threads_state(ui);
	struct strip_part *part;

	strip_add(s, STYLE_NORMAL, 2, "%u threads", t->rows.threads);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!t->rows.states[order[i]])
			continue;
		part = strip_add(s, order[i] == THREAD_MONITOR ? STYLE_WARN : STYLE_NORMAL,
			i < 3 ? 2 : (int)i + 3, "%u %s", t->rows.states[order[i]], words[order[i]]);
		part->gap = 1;
	}
	strip_add(s, STYLE_NORMAL, 20, "merged: %s (=)", t->merged ? "pools" : "no");
}

static void threads_detail(struct ui *ui, struct strip *s)
{
	struct threads *t = threads_state(ui);
	const struct thread_row *r = threads_row(t, t->list.cursor);

	if (!r)
		return;
	strip_add(s, STYLE_STRONG, 0, "%s", thread_row_name(ui->profile, r));
	strip_add(s, STYLE_NORMAL, 2, "%llu cpu samples", (unsigned long long)r->cpu_count);
	strip_add(s, STYLE_DIM, 1, "%d of %d", t->list.cursor + 1, t->list.count)->right = true;
}

static void threads_notice(struct ui *ui, struct strip *s)
{
	struct threads *t = threads_state(ui);

	if (*ui->search)
		strip_add(s, STYLE_NORMAL, 0, "/%s: %d of %d", ui->search,
			list_count_hits(&t->list, threads_text, ui, ui->search), t->list.count);
}

/* --- commands ---------------------------------------------------------------------------------------- */

unsigned threads_merge(struct ui *ui, int arg)
{
	struct threads *t = threads_state(ui);

	t->merged = !t->merged;
	return UI_SORT;
}

unsigned threads_only(struct ui *ui, int arg)
{
	struct threads *t = threads_state(ui);
	const struct thread_row *r = threads_row(t, t->list.cursor);

	if (!r)
		return 0;
	if (r->members > 1)
		ui_only(ui, PROFILE_ANY_THREAD, r->pool);
	else
		ui_only(ui, r->thread, 0);
	ui_show(ui, VIEW_METHODS);
	ui_say(ui, STYLE_NORMAL, UI_MESSAGE_MS, "only %s from now on; Esc shows all threads again",
		thread_row_name(ui->profile, r));
	return UI_SORT;
}

void threads_chosen(struct ui *ui, uint32_t *thread, uint32_t *pool)
{
	struct threads *t = threads_state(ui);
	const struct thread_row *r = t ? threads_row(t, t->list.cursor) : NULL;

	if (r && r->members > 1)
		*pool = profile_get_thread(ui->profile, r->thread)->pool;
	else if (r)
		*thread = r->thread;
}

const struct view view_threads = {
	.name = "Threads view",
	.tab = "Threads",
	.new = threads_new,
	.free = threads_free,
	.update = threads_update,
	.draw = threads_draw,
	.quality = threads_quality,
	.detail = threads_detail,
	.notice = threads_notice,
	.list = threads_list,
	.text = threads_text,
	.order = threads_order,
	.columns = threads_columns,
};
