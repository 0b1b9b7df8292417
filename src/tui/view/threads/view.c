/* SPDX-License-Identifier: Apache-2.0 */
/* The threads view: usage and waits of each thread or pool, with a pane for the selected one. */
#include "tui/view/threads/inside.h"

#include "base/buf.h"
#include "tui/frame/command.h"
#include "tui/frame/search.h"
#include "tui/screen/text.h"
#include "tui/view/pane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PANE_ROWS 6  /* minimum rows of the pane */
#define PANE_FROM 14 /* body rows from which the pane is shown */

static void threads_done(void *state)
{
	struct threads *t = state;

	thread_rows_done(&t->rows);
	thread_pane_done(&t->pane);
}

#define COLUMNS_WIDEST  190
#define COLUMNS_REQUEST 100
#define COLUMNS_WIDE    76 /* minimum width of the terminal for all columns */

/* The thread, or the pool with its number of threads; of idle ones with their state: "197 idle, 3 in I/O". */
static void cell_name(const void *view, const void *row, struct column_cell *out)
{
	const struct threads *t = view;
	const struct thread_row *r = row;
	uint32_t io = r->member_states[THREAD_IO];
	char text[300], members[60] = "", name[COLUMN_TEXT];

	if (r->members > 1 && !r->idle)
		snprintf(members, sizeof(members), " (%u)", r->members);
	else if (r->members > 1 && !io)
		snprintf(members, sizeof(members), " %u idle", r->members);
	else if (r->members > 1 && io == r->members)
		snprintf(members, sizeof(members), " %u in I/O", io);
	else if (r->members > 1)
		snprintf(members, sizeof(members), " %u idle, %u in I/O", r->members - io, io);
	snprintf(text, sizeof(text), "%s%s",
		r->members > 1 && r->carries_virtual ? "virtual: " : "",
		thread_row_name(t->view.ui->profile, r));
	name_middle(
		name, sizeof(name), text, out->width - text_width(members), out->glyphs->ellipsis);
	snprintf(out->text, COLUMN_TEXT, "%s%s", name, members);
	if (r->idle)
		out->style = STYLE_DIM;
}

/* The kind of thread, blank for the program's. */
static void cell_kind(const void *view, const void *row, struct column_cell *out)
{
	static const char letters[] = {[THREAD_NATIVE] = 'n',
		[THREAD_JAVA] = ' ',
		[THREAD_COMPILER] = 'c',
		[THREAD_GC] = 'g',
		[THREAD_VM] = 'v',
		[THREAD_AGENT] = 'j',
		[THREAD_VIRTUAL] = 'V'};
	const struct thread_row *r = row;

	out->text[0] = r->carries_virtual ? 'V' : letters[r->kind];
	out->text[1] = '\0';
	out->style = r->kind == THREAD_NATIVE ? STYLE_NATIVE : STYLE_VM;
}

static void cell_state(const void *view, const void *row, struct column_cell *out)
{
	const struct thread_row *r = row;

	out->text[0] = thread_states[r->state].letter;
	out->text[1] = '\0';
	out->style = r->state == THREAD_ON_CPU    ? STYLE_GOOD
		     : r->state == THREAD_MONITOR ? STYLE_WARN
						  : STYLE_DIM;
}

static void cell_cpu(const void *view, const void *row, struct column_cell *out)
{
	const struct threads *t = view;
	const struct thread_row *r = row;

	text_percent(out->text, thread_row_cpu(&t->rows, r));
	if (!r->use[EVENT_CPU].count)
		out->style = STYLE_DIM;
}

/* Kernel figures exist only for living threads, and only for now. COLUMN_SECOND: system time instead of user time. */
static void cell_now(const void *view, const void *row, struct column_cell *out)
{
	const struct thread_row *r = row;
	double value = (double)(out->flags & COLUMN_SECOND ? r->system : r->user);

	if (r->live)
		snprintf(out->text, COLUMN_TEXT, "%.0f", value);
	else
		strcpy(out->text, "-");
	if (!r->live || value < 0.5)
		out->style = STYLE_DIM;
}

static void cell_alloc(const void *view, const void *row, struct column_cell *out)
{
	const struct threads *t = view;
	const struct thread_row *r = row;
	char text[TEXT_NUMBER];

	if (!t->rows.alloc_known)
		strcpy(out->text, "-");
	else
		snprintf(out->text, COLUMN_TEXT, "%s/s",
			text_bytes(text,
				(int64_t)(r->use[EVENT_ALLOC].weight / t->rows.alloc_span_s)));
	if (!r->use[EVENT_ALLOC].weight)
		out->style = STYLE_DIM;
}

static void cell_lock(const void *view, const void *row, struct column_cell *out)
{
	const struct threads *t = view;
	const struct thread_row *r = row;

	if (!t->rows.lock_known)
		strcpy(out->text, "-");
	else
		snprintf(out->text, COLUMN_TEXT, "%.0f", thread_row_lock(&t->rows, r));
	if (!r->use[EVENT_LOCK].weight)
		out->style = STYLE_DIM;
}

static void cell_request(const void *view, const void *row, struct column_cell *out)
{
	const struct threads *t = view;
	char text[COLUMN_TEXT];

	thread_row_request(t->view.ui->profile, row, text, sizeof(text));
	name_middle(out->text, COLUMN_TEXT, text, out->width, out->glyphs->ellipsis);
}

/*
 * The method to display: for a waiting thread its innermost Java method, because the libc function that it sleeps in is
 * not informative.
 */
static uint32_t top_method(const struct profile *p, const struct thread_row *r)
{
	uint32_t stack = r->stack;

	while (r->state != THREAD_ON_CPU && stack != PROFILE_ROOT_STACK) {
		const struct profile_frame *f =
			profile_get_frame(p, profile_get_stack(p, stack).frame);

		if (frame_is_java(f->type))
			return f->method;
		stack = profile_get_stack(p, stack).parent;
	}
	return profile_get_frame(p, profile_get_stack(p, r->stack).frame)->method;
}

/* Formats "socket read 10.0.0.5:5432", or "10.0.0.5:5432" if narrow. Returns false if the target is not known. */
static bool format_io(const struct profile *p, const struct thread_row *r, struct column_cell *out)
{
	struct profile_io io;
	char text[300];

	if (r->state != THREAD_IO || !r->stack_is_now || !profile_stack_io(p, r->stack, &io))
		return false;
	snprintf(text, sizeof(text), "%s%s%s", io.what, *io.where ? " " : "", io.where);
	name_middle(out->text, COLUMN_TEXT,
		*io.where && text_width(text) > out->width ? io.where : text, out->width,
		out->glyphs->ellipsis);
	return true;
}

static void cell_top(const void *view, const void *row, struct column_cell *out)
{
	const struct threads *t = view;
	const struct thread_row *r = row;
	const struct profile *p = t->view.ui->profile;
	char wait[300];

	if (r->waits) {
		thread_pane_wait(t->view.ui, r, out->width, wait, sizeof(wait));
		name_middle(out->text, COLUMN_TEXT, wait, out->width, out->glyphs->ellipsis);
		out->style = STYLE_WARN;
		return;
	}
	if (!r->stack_count || r->stack == PROFILE_ROOT_STACK || format_io(p, r, out))
		return;
	name_fit(out->text, COLUMN_TEXT, profile_get_method(p, top_method(p, r)), out->width,
		out->width > 50 ? NAME_FULL : NAME_CLASS, out->glyphs->ellipsis);
	if (!r->stack_is_now)
		out->style = STYLE_DIM;
}

static const struct column columns_narrow[] = {
	{"THREAD", 1, 0, COLUMN_LEFT, 0, SORT_NAME, cell_name},
	{"S", 1, 1, COLUMN_LEFT, 0, -1, cell_state},
	{"CPU%", 1, 5, 0, 0, SORT_CPU, cell_cpu},
	{"now usr", 2, 7, 0, 46, -1, cell_now},
	{"sys", 1, 3, COLUMN_SECOND, 46, -1, cell_now},
};
#define COLUMNS_ALL(name_width, ...)                                                             \
	{"THREAD", 1, name_width, COLUMN_LEFT, 0, SORT_NAME, cell_name},                         \
		{"T", 1, 1, COLUMN_LEFT, 0, -1, cell_kind},                                      \
		{"S", 1, 1, COLUMN_LEFT, 0, -1, cell_state},                                     \
		{"CPU%", 1, 5, 0, 0, SORT_CPU, cell_cpu}, {"now usr", 2, 7, 0, 0, -1, cell_now}, \
		{"sys", 1, 3, COLUMN_SECOND, 0, -1, cell_now},                                   \
		{"ALLOC", 1, 7, 0, 0, SORT_ALLOC, cell_alloc},                                   \
		{"LOCK%", 1, 5, 0, 0, SORT_LOCK, cell_lock}, __VA_ARGS__                         \
	{                                                                                        \
		"TOP FRAME NOW", 2, 0, COLUMN_LEFT, 0, -1, cell_top                              \
	}
/* Drawn if threads have requests. */
#define COLUMN_REQUEST {"REQUEST", 1, 20, COLUMN_LEFT, COLUMNS_REQUEST, -1, cell_request},
static const struct column columns_wide[] = {COLUMNS_ALL(25, )};
static const struct column columns_wide_requests[] = {COLUMNS_ALL(25, COLUMN_REQUEST)};
/* Wide enough for long thread names. */
static const struct column columns_widest[] = {COLUMNS_ALL(34, )};
static const struct column columns_widest_requests[] = {COLUMNS_ALL(34, COLUMN_REQUEST)};

/* For files that have no CPU time or no timestamps. */
static const struct column columns_shares[] = {
	{"THREAD", 1, 26, COLUMN_LEFT, 0, SORT_NAME, cell_name},
	{"T", 1, 1, COLUMN_LEFT, 0, -1, cell_kind},
	{"SHARE%", 1, 6, 0, 0, SORT_CPU, cell_cpu},
	{"MOSTLY IN", 2, 0, COLUMN_LEFT, 0, -1, cell_top},
};

static struct columns threads_columns(const struct ui *ui)
{
	if (threads_shares(ui))
		return COLUMNS(columns_shares);
	bool requests = ((const struct threads *)ui_state(ui, VIEW_THREADS))->rows.requests;

	if (ui->canvas->cols >= COLUMNS_WIDEST)
		return requests ? COLUMNS(columns_widest_requests) : COLUMNS(columns_widest);
	if (ui->canvas->cols < COLUMNS_WIDE)
		return COLUMNS(columns_narrow);
	return requests ? COLUMNS(columns_wide_requests) : COLUMNS(columns_wide);
}

static void threads_update(const struct ui *ui, bool sort)
{
	struct threads *t = ui_state(ui, VIEW_THREADS);
	struct order *o = &t->view.order;
	uint32_t at = 0;

	/* When another event is shown, sort by it. */
	if (t->event != ui->scope.event) {
		t->event = ui->scope.event;
		o->sort = ui->scope.event < EVENT_WALL ? ui->scope.event : SORT_CPU;
	}
	thread_pane_invalidate(&t->pane, sort);
	t->rows.opened = &t->view.trail;
	thread_rows_update(&t->rows, ui);
	o->by_name = o->sort == SORT_NAME;
	int event = o->by_name ? EVENT_CPU : o->sort;
	struct order_item *items = xcalloc(t->rows.count, sizeof(*items));
	for (uint32_t i = 0; i < t->rows.count; i++) {
		const struct thread_row *r = &t->rows.list[i];
		double key = event == EVENT_LOCK ? thread_row_lock(&t->rows, r)
						 : (double)r->use[event].weight;

		/* Ties: the program's threads first, blocked ones before others. */
		key += (r->kind == THREAD_JAVA ? 2e-6 : 0) +
		       (r->state == THREAD_MONITOR ? 1e-6 : 0);
		items[i] = (struct order_item){
			r->id, r->use[event].count, key, thread_row_name(ui->profile, r)};
	}
	order_update(o, &t->view.list, items, t->rows.count, ui_order_how(ui, sort));
	free(items);
	if (!t->wanted)
		return;
	while (at < o->count && o->ids[at] != t->wanted - 1)
		at++;
	t->wanted = 0;
	if (at < o->count)
		list_to(&t->view.list, (int)at);
	else
		t->view.warning = "the thread no longer has samples in this window";
}

/* --- drawing ----------------------------------------------------------------------------------------- */

static const void *threads_row(const void *state, int index)
{
	const struct threads *t = state;

	return index >= 0 && index < (int)t->rows.count ? &t->rows.list[t->view.order.rows[index]]
							: NULL;
}

static const char *threads_text(const void *ctx, int index)
{
	const struct ui *ui = ctx;
	const struct thread_row *r = threads_row(ui_state(ui, VIEW_THREADS), index);

	return r ? thread_row_name(ui->profile, r) : "";
}

static void threads_decorate(
	const struct ui *ui, int row, const struct column_place *places, int n, const void *item)
{
	if (search_hit(ui, thread_row_name(ui->profile, item)))
		canvas_restyle(
			ui->canvas, row, places->col, places->col + places->width, STYLE_HIT);
}

static void threads_load_pane(const struct ui *ui)
{
	struct threads *t = ui_state(ui, VIEW_THREADS);
	const struct thread_row *r = threads_row(t, t->view.list.cursor);
	struct area body = ui_body(ui, VIEW_THREADS), pane;

	if (r)
		thread_pane_load(
			ui, &t->pane, &t->rows, r, pane_split(body, PANE_LIST, &body, &pane));
}

static void threads_draw(const struct ui *ui, struct area area)
{
	struct threads *t = ui_state(ui, VIEW_THREADS);
	struct area list, pane;
	bool beside = pane_split(area, PANE_LIST, &list, &pane);
	const struct thread_row *selected = threads_row(t, t->view.list.cursor);

	if (!beside) {
		/* Below the list; a thread that waits for another one needs two stacks. */
		int share =
			selected && selected->waits && selected->wait.owner != PROFILE_NONE ? 2 : 3;

		pane.rows = area.rows / share > PANE_ROWS ? area.rows / share : PANE_ROWS;
		if (area.rows < PANE_FROM)
			pane.rows = 0;
		list.rows -= pane.rows;
		pane.row += list.rows;
	}
	view_draw_rows(ui, VIEW_THREADS, list, t->rows.count);
	if (!t->rows.count && list.rows > 2)
		canvas_text(ui->canvas, list.row + 2, list.col + 2, list.col + list.cols,
			STYLE_NORMAL, "no thread has samples in this window");
	selected = threads_row(t, t->view.list.cursor);
	if (selected && beside)
		thread_pane_draw_beside(ui, pane, &t->pane, &t->rows, selected);
	else if (selected && pane.rows)
		thread_pane_draw(ui, pane, &t->pane, &t->rows, selected);
}

/* "142 threads: 9 run 2 blocked 96 parked 35 sleep" */
static void threads_quality(const struct ui *ui, struct strip *s)
{
	static const char *const words[THREAD_STATES] = {[THREAD_ON_CPU] = "run",
		[THREAD_RUNNABLE] = "ready",
		[THREAD_CARRIER] = "for carriers",
		[THREAD_MONITOR] = "blocked",
		[THREAD_IO] = "I/O",
		[THREAD_WAITING] = "wait",
		[THREAD_PARKED] = "parked",
		[THREAD_SLEEPING] = "sleep"};
	static const enum thread_state order[] = {THREAD_ON_CPU, THREAD_RUNNABLE, THREAD_MONITOR,
		THREAD_CARRIER, THREAD_IO, THREAD_WAITING, THREAD_PARKED, THREAD_SLEEPING};
	static const char *const merges[THREADS_MERGES] = {
		[THREADS_IDLE] = "idle", [THREADS_POOLS] = "pools", [THREADS_EACH] = "no"};
	const struct threads *t = ui_state(ui, VIEW_THREADS);
	struct strip_part *part;
	char number[TEXT_NUMBER];

	strip_add(s, STYLE_NORMAL, 2, "%s", text_counted(number, t->rows.threads, "thread"));
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!t->rows.states[order[i]])
			continue;
		part = strip_add(s, order[i] == THREAD_MONITOR ? STYLE_WARN : STYLE_NORMAL,
			i < 3 ? 2 : (int)i + 3, "%u %s", t->rows.states[order[i]], words[order[i]]);
		part->gap = 1;
	}
	if (t->rows.ended)
		strip_add(s, STYLE_DIM, 12, "%u ended", t->rows.ended)->gap = 1;
	strip_add(s, STYLE_NORMAL, 20, "merged: %s (=)", merges[t->rows.merge]);
}

static void threads_detail(const struct ui *ui, struct strip *s)
{
	struct threads *t = ui_state(ui, VIEW_THREADS);
	const struct thread_row *r = threads_row(t, t->view.list.cursor);
	char count[TEXT_NUMBER];

	if (!r)
		return;
	strip_add(s, STYLE_STRONG, 0, "%s", thread_row_name(ui->profile, r));
	strip_add(s, STYLE_NORMAL, 2, "%s",
		text_counted(count, (int64_t)r->use[EVENT_CPU].count,
			threads_shares(ui) ? "sample" : "cpu sample"));
	strip_add(s, STYLE_DIM, 1, "%d of %d", t->view.list.cursor + 1, t->view.list.count)->right =
		true;
}

static void threads_notice(const struct ui *ui, struct strip *s)
{
	struct threads *t = ui_state(ui, VIEW_THREADS);

	if (search_is_active(ui))
		strip_add(s, STYLE_NORMAL, 0, "/%s: %d of %d", search_text(ui),
			list_count_hits(&t->view.list, threads_text, ui, search_text(ui)),
			t->view.list.count);
}

/* --- commands ---------------------------------------------------------------------------------------- */

unsigned threads_merge(struct ui *ui, int arg)
{
	struct threads *t = ui_state(ui, VIEW_THREADS);

	t->rows.merge = (enum thread_merge)((t->rows.merge + 1) % THREADS_MERGES);
	t->view.trail.depth = 0;
	return UI_SORT;
}

static void threads_open(struct ui *ui, struct threads *t, uint32_t thread)
{
	if (t->rows.merge == THREADS_POOLS)
		t->rows.merge = THREADS_EACH;
	if (t->rows.merge == THREADS_IDLE)
		trail_push(ui, &t->view.trail, profile_get_thread(ui->profile, thread)->pool);
	t->wanted = thread + 1;
}

static void threads_back(struct ui *ui)
{
	struct threads *t = ui_state(ui, VIEW_THREADS);

	t->view.trail.depth--;
}

void threads_select(struct ui *ui, uint32_t thread)
{
	ui_show(ui, VIEW_THREADS);
	threads_open(ui, ui_state(ui, VIEW_THREADS), thread);
}

unsigned threads_only(struct ui *ui, int arg)
{
	struct threads *t = ui_state(ui, VIEW_THREADS);
	const struct thread_row *r = threads_row(t, t->view.list.cursor);

	if (!r)
		return 0;
	if (r->idle && r->members > 1) {
		threads_open(ui, t, r->thread);
		return UI_SORT;
	}
	if (r->members > 1)
		ui_restrict(ui, PROFILE_ANY_THREAD, r->pool);
	else
		ui_restrict(ui, r->thread, 0);
	ui_show(ui, VIEW_METHODS);
	ui_say(ui, "showing only %s; Esc shows all threads", thread_row_name(ui->profile, r));
	return UI_SORT;
}

static void threads_selected_thread(const struct ui *ui, uint32_t *thread, uint32_t *pool)
{
	struct threads *t = ui_state(ui, VIEW_THREADS);
	const struct thread_row *r = t ? threads_row(t, t->view.list.cursor) : NULL;

	if (r && r->idle)
		return;
	if (r && r->members > 1)
		*pool = profile_get_thread(ui->profile, r->thread)->pool;
	else if (r)
		*thread = r->thread;
}

const struct view view_threads = {
	.name = "Threads view",
	.tab = "Threads",
	.bytes = sizeof(struct threads),
	.done = threads_done,
	.update = threads_update,
	.load_pane = threads_load_pane,
	.draw = threads_draw,
	.quality = threads_quality,
	.detail = threads_detail,
	.notice = threads_notice,
	.text = threads_text,
	.back = threads_back,
	.selected_thread = threads_selected_thread,
	.columns = threads_columns,
	.row = threads_row,
	.decorate = threads_decorate,
};
