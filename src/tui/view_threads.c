/* SPDX-License-Identifier: Apache-2.0 */
/* The threads view: what each thread uses, and below the list where the selected one was. */
#include "tui/ui.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/intern.h"
#include "tui/column.h"
#include "tui/command.h"
#include "tui/order.h"
#include "tui/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PANE_ROWS 5  /* the selected thread's stack */
#define PANE_FROM 14 /* body rows from which it is shown */

enum { SORT_CPU, SORT_ALLOC, SORT_LOCK, SORT_NAME };

struct thread_row {
	uint32_t thread; /* the first of its pool */
	uint32_t name;   /* interned: also the row's identity */
	uint32_t members;
	char state;
	bool live;
	float user, system;
	uint64_t cpu_count, cpu_ns, alloc, lock_ns;
	uint32_t stack; /* its most frequent one in the window */
	uint64_t stack_count;
};

struct threads {
	const struct ui *ui;
	struct thread_row *rows;
	uint32_t count, cap;
	struct order order;
	struct intern names; /* of threads and pools; numbers stay */
	struct list list;
	uint32_t span_s;
	bool merged;
	int sort;
	int running, total;
};

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

	free(t->rows);
	order_done(&t->order);
	intern_done(&t->names);
	free(t);
}

static struct list *threads_list(struct ui *ui)
{
	return &threads_state(ui)->list;
}

/* --- gathering --------------------------------------------------------------------------------------- */

struct gather {
	struct thread_row *threads; /* per thread of the profile */
	uint32_t count;
	size_t sum_offset, count_offset; /* of the fields to add to; SIZE_MAX: none */
	bool stacks;
};

static void gather_add(void *ctx, uint32_t stack, uint32_t thread, uint64_t count, uint64_t weight)
{
	struct gather *g = ctx;
	struct thread_row *r;

	if (thread >= g->count)
		return;
	r = &g->threads[thread];
	*(uint64_t *)((char *)r + g->sum_offset) += weight;
	if (g->count_offset != SIZE_MAX)
		*(uint64_t *)((char *)r + g->count_offset) += count;
	if (g->stacks && count > r->stack_count) {
		r->stack = stack;
		r->stack_count = count;
	}
}

static void gather_events(struct ui *ui, struct gather *g)
{
	static const struct {
		int event;
		size_t sum_offset, count_offset;
	} sums[] = {
		{EVENT_CPU, offsetof(struct thread_row, cpu_ns),
			offsetof(struct thread_row, cpu_count)},
		{EVENT_ALLOC, offsetof(struct thread_row, alloc), SIZE_MAX},
		{EVENT_LOCK, offsetof(struct thread_row, lock_ns), SIZE_MAX},
	};
	struct profile_query q = ui_query(ui);

	q.thread = PROFILE_ANY_THREAD;
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		q.event = sums[i].event;
		g->sum_offset = sums[i].sum_offset;
		g->count_offset = sums[i].count_offset;
		g->stacks = q.event == EVENT_CPU;
		if (ui_has_event(ui, q.event))
			profile_each(ui->profile, &q, gather_add, g);
	}
}

static void gather_live(struct ui *ui, struct gather *g)
{
	const struct app_thread *live = NULL;
	int n = ui->ops->threads(ui->ctx, &live);

	for (int i = 0; i < n; i++) {
		struct thread_row *r;

		if (live[i].thread >= g->count)
			continue;
		r = &g->threads[live[i].thread];
		r->live = true;
		r->state = live[i].state;
		r->user = live[i].user_pct;
		r->system = live[i].system_pct;
	}
}

/* --- rows -------------------------------------------------------------------------------------------- */

static struct thread_row *row_of_name(struct threads *t, uint32_t name)
{
	for (uint32_t i = 0; t->merged && i < t->count; i++)
		if (t->rows[i].name == name)
			return &t->rows[i];
	if (t->count == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 64;
		t->rows = xreallocarray(t->rows, t->cap, sizeof(*t->rows));
	}
	t->rows[t->count] = (struct thread_row){.name = name, .thread = PROFILE_NONE, .state = '-'};
	return &t->rows[t->count++];
}

static void add_thread(struct threads *t, uint32_t thread, const struct thread_row *from)
{
	const struct profile_thread *pt = profile_get_thread(t->ui->profile, thread);
	struct thread_row *r;
	char name[240];
	size_t len;

	if (t->merged)
		name_pool(name, sizeof(name), pt->name);
	else
		snprintf(name, sizeof(name) - 16, "%s", pt->name);
	len = strlen(name);
	/* Threads may share a name: the number behind the NUL keeps them apart. */
	if (!t->merged)
		len += 1 + (size_t)snprintf(name + len + 1, sizeof(name) - len - 1, "%u", thread);
	r = row_of_name(t, intern_put(&t->names, name, len));
	if (!r->members++)
		r->thread = thread;
	r->live |= from->live;
	r->user += from->user;
	r->system += from->system;
	r->cpu_count += from->cpu_count;
	r->cpu_ns += from->cpu_ns;
	r->alloc += from->alloc;
	r->lock_ns += from->lock_ns;
	if (from->live && r->state != 'R')
		r->state = from->state;
	if (from->stack_count > r->stack_count) {
		r->stack = from->stack;
		r->stack_count = from->stack_count;
	}
}

static double row_cpu(const struct threads *t, const struct thread_row *r)
{
	return t->span_s ? 100.0 * (double)r->cpu_ns / ((double)t->span_s * NS_PER_S) : 0;
}

static double sort_key(const struct threads *t, const struct thread_row *r)
{
	switch (t->sort) {
	case SORT_ALLOC: return (double)r->alloc;
	case SORT_LOCK: return (double)r->lock_ns;
	default: return (double)r->cpu_ns;
	}
}

static void threads_order(struct ui *ui, struct threads *t, bool fresh)
{
	struct order_item *items = xreallocarray(NULL, t->count, sizeof(*items));

	for (uint32_t i = 0; i < t->count; i++)
		items[i] = (struct order_item){t->rows[i].name, t->rows[i].cpu_count,
			sort_key(t, &t->rows[i]), intern_text(&t->names, t->rows[i].name)};
	t->order.by_name = t->sort == SORT_NAME;
	order_update(&t->order, &t->list, items, t->count,
		fresh          ? ORDER_FRESH
		: ui_holds(ui) ? ORDER_HOLD
			       : ORDER_KEEP);
	free(items);
}

static void threads_update(struct ui *ui, bool sort)
{
	struct threads *t = threads_state(ui);
	struct gather g = {.count = profile_thread_count(ui->profile)};

	t->ui = ui;
	t->span_s = timeline_span(&ui->time, ui->profile);
	t->count = 0;
	t->running = t->total = 0;
	g.threads = xcalloc(g.count, sizeof(*g.threads));
	gather_events(ui, &g);
	if (!ui->time.frozen && !ui->over)
		gather_live(ui, &g);
	for (uint32_t i = 0; i < g.count; i++) {
		if (!g.threads[i].live && !g.threads[i].cpu_count && !g.threads[i].alloc &&
			!g.threads[i].lock_ns)
			continue;
		add_thread(t, i, &g.threads[i]);
		t->total++;
		t->running += g.threads[i].live && g.threads[i].state == 'R';
	}
	free(g.threads);
	threads_order(ui, t, sort);
}

/* --- columns ----------------------------------------------------------------------------------------- */

static void cell_name(const void *view, const void *row, struct column_cell *out)
{
	const struct threads *t = view;
	const struct thread_row *r = row;
	char text[300];

	if (r->members > 1)
		snprintf(
			text, sizeof(text), "%s (%u)", intern_text(&t->names, r->name), r->members);
	else
		snprintf(text, sizeof(text), "%s", intern_text(&t->names, r->name));
	name_middle(out->text, COLUMN_TEXT, text, out->width, out->glyphs->ellipsis);
}

static void cell_state(const void *view, const void *row, struct column_cell *out)
{
	const struct thread_row *r = row;

	out->text[0] = r->state;
	out->text[1] = '\0';
	out->style = r->state == 'R' ? STYLE_GOOD : STYLE_DIM;
}

static void cell_cpu(const void *view, const void *row, struct column_cell *out)
{
	const struct thread_row *r = row;
	double cpu = row_cpu(view, r);
	char text[TEXT_NUMBER];

	strcpy(out->text, text_percent(text, cpu));
	if (!r->cpu_count)
		out->style = STYLE_DIM;
}

/* Known only for threads that live, and only now. */
static void put_now(const struct thread_row *r, float value, struct column_cell *out)
{
	if (r->live)
		snprintf(out->text, COLUMN_TEXT, "%.0f", (double)value);
	else
		strcpy(out->text, "-");
	if (!r->live || value < 0.5f)
		out->style = STYLE_DIM;
}

static void cell_user(const void *view, const void *row, struct column_cell *out)
{
	put_now(row, ((const struct thread_row *)row)->user, out);
}

static void cell_system(const void *view, const void *row, struct column_cell *out)
{
	put_now(row, ((const struct thread_row *)row)->system, out);
}

static void cell_alloc(const void *view, const void *row, struct column_cell *out)
{
	const struct threads *t = view;
	const struct thread_row *r = row;
	char text[TEXT_NUMBER];

	if (!ui_has_event(t->ui, EVENT_ALLOC) || !t->span_s)
		strcpy(out->text, "-");
	else
		snprintf(out->text, COLUMN_TEXT, "%s/s",
			text_bytes(text, (int64_t)(r->alloc / t->span_s)));
	if (!r->alloc)
		out->style = STYLE_DIM;
}

static void cell_lock(const void *view, const void *row, struct column_cell *out)
{
	const struct threads *t = view;
	const struct thread_row *r = row;

	if (!ui_has_event(t->ui, EVENT_LOCK) || !t->span_s)
		strcpy(out->text, "-");
	else
		snprintf(out->text, COLUMN_TEXT, "%.0f",
			100.0 * (double)r->lock_ns / ((double)t->span_s * NS_PER_S));
	if (!r->lock_ns)
		out->style = STYLE_DIM;
}

static void cell_top(const void *view, const void *row, struct column_cell *out)
{
	const struct threads *t = view;
	const struct thread_row *r = row;
	const struct profile *p = t->ui->profile;
	uint32_t frame;

	if (!r->stack_count || r->stack == PROFILE_ROOT_STACK)
		return;
	frame = profile_get_stack(p, r->stack)->frame;
	name_fit(out->text, COLUMN_TEXT, profile_get_method(p, profile_get_frame(p, frame)->method),
		out->width, out->width > 50 ? NAME_FULL : NAME_CLASS, out->glyphs->ellipsis);
}

static const struct column columns_narrow[] = {
	{"THREAD", 1, 0, true, 0, SORT_NAME, cell_name},
	{"S", 1, 1, true, 0, -1, cell_state},
	{"CPU%", 1, 5, false, 0, SORT_CPU, cell_cpu},
	{"usr", 2, 3, false, 46, -1, cell_user},
	{"sys", 1, 3, false, 46, -1, cell_system},
};
static const struct column columns_wide[] = {
	{"THREAD", 1, 28, true, 0, SORT_NAME, cell_name},
	{"S", 1, 1, true, 0, -1, cell_state},
	{"CPU%", 1, 5, false, 0, SORT_CPU, cell_cpu},
	{"usr", 2, 3, false, 0, -1, cell_user},
	{"sys", 1, 3, false, 0, -1, cell_system},
	{"ALLOC", 2, 7, false, 0, SORT_ALLOC, cell_alloc},
	{"LOCK%", 1, 5, false, 0, SORT_LOCK, cell_lock},
	{"TOP FRAME", 2, 0, true, 0, -1, cell_top},
};
#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const struct column *table_for(const struct ui *ui, int *n)
{
	bool wide = ui->canvas.cols >= 76;

	*n = wide ? COUNT(columns_wide) : COUNT(columns_narrow);
	return wide ? columns_wide : columns_narrow;
}

/* --- drawing ----------------------------------------------------------------------------------------- */

static const struct thread_row *threads_row(const struct threads *t, int index)
{
	return index >= 0 && index < (int)t->count ? &t->rows[t->order.rows[index]] : NULL;
}

static const char *threads_text(void *ctx, int index)
{
	struct ui *ui = ctx;
	const struct thread_row *r = threads_row(threads_state(ui), index);

	return r ? intern_text(&threads_state(ui)->names, r->name) : "";
}

static void draw_stack(struct ui *ui, int row, int rows, uint32_t stack)
{
	struct canvas *c = &ui->canvas;

	for (int i = 0; i < rows && stack != PROFILE_ROOT_STACK; i++) {
		const struct profile_stack *s = profile_get_stack(ui->profile, stack);
		const struct profile_frame *f = profile_get_frame(ui->profile, s->frame);
		char name[512];

		canvas_printf(c, row + i, 3, c->cols, theme_frame(f->type), "%c",
			frame_types[f->type].letter);
		name_fit(name, sizeof(name), profile_get_method(ui->profile, f->method),
			c->cols - 20, NAME_FULL, ui->glyphs->ellipsis);
		canvas_text(c, row + i, 5, c->cols, STYLE_NORMAL, name);
		if (f->line > 0) {
			char line[32];

			snprintf(line, sizeof(line), "line %d", f->line);
			canvas_right(c, row + i, 5, c->cols - 1, STYLE_DIM, line);
		}
		stack = s->parent;
	}
}

static void draw_pane(struct ui *ui, struct area area)
{
	struct threads *t = threads_state(ui);
	const struct thread_row *r = threads_row(t, t->list.cursor);
	struct canvas *c = &ui->canvas;
	const struct profile_thread *pt;
	int col;

	if (!r)
		return;
	pt = profile_get_thread(ui->profile, r->thread);
	canvas_fill(c, area.row, 1, c->cols - 1, STYLE_TREE, '-');
	col = canvas_printf(c, area.row, 4, c->cols - 20, STYLE_STRONG, " %s ",
		intern_text(&t->names, r->name));
	if (r->members > 1)
		canvas_printf(
			c, area.row, col, c->cols - 2, STYLE_NORMAL, " %u threads ", r->members);
	else
		canvas_printf(c, area.row, col, c->cols - 2, STYLE_NORMAL, " tid %d ", pt->tid);
	if (r->stack_count)
		draw_stack(ui, area.row + 1, area.rows - 1, r->stack);
	else
		canvas_text(c, area.row + 1, 3, c->cols, STYLE_DIM, "no samples in this window");
}

static void threads_draw(struct ui *ui, struct area area)
{
	struct threads *t = threads_state(ui);
	struct column_place places[COLUMN_MAX];
	struct canvas *c = &ui->canvas;
	int pane = area.rows < PANE_FROM       ? 0
		   : area.rows / 3 > PANE_ROWS ? area.rows / 3
					       : PANE_ROWS,
	    n;
	const struct column *table = table_for(ui, &n);

	n = column_layout(table, n, c->cols, area.col, area.cols, places);
	column_titles(c, area.row, area.col, area.col + area.cols, places, n, t->sort, ui->glyphs);
	list_resize(&t->list, (int)t->count, area.rows - 1 - pane);
	for (int line = 0; line < t->list.rows; line++) {
		const struct thread_row *r = threads_row(t, t->list.top + line);
		int row = area.row + 1 + line;

		if (!r)
			break;
		column_row(c, row, places, n, t, r, ui->glyphs);
		if (*ui->search && text_find(intern_text(&t->names, r->name), ui->search))
			canvas_restyle(
				c, row, places[0].col, places[0].col + places[0].width, STYLE_HIT);
		canvas_list_row(c, row, area.col, area.col + area.cols, t->list.top + line,
			t->list.top + line == t->list.cursor);
	}
	if (pane)
		draw_pane(ui, (struct area){area.row + area.rows - pane, 0, pane, area.cols});
}

static void threads_quality(struct ui *ui, struct strip *s)
{
	const struct threads *t = threads_state(ui);

	if (ui->time.frozen || ui->over)
		strip_add(s, STYLE_NORMAL, 10, "%d threads", t->total);
	else
		strip_add(s, STYLE_NORMAL, 10, "%d threads %d run", t->total, t->running);
	strip_add(s, STYLE_NORMAL, 20, "merged: %s (=)", t->merged ? "pools" : "no");
}

static void threads_detail(struct ui *ui, struct strip *s)
{
	struct threads *t = threads_state(ui);
	const struct thread_row *r = threads_row(t, t->list.cursor);

	if (!r)
		return;
	strip_add(s, STYLE_STRONG, 0, "%s", intern_text(&t->names, r->name));
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

unsigned threads_sort_step(struct ui *ui, int direction)
{
	struct threads *t = threads_state(ui);
	int n;
	const struct column *table = table_for(ui, &n);

	t->sort = column_sort_step(table, n, ui->canvas.cols, t->sort, direction);
	return UI_SORT;
}

unsigned threads_reverse(struct ui *ui, int arg)
{
	struct threads *t = threads_state(ui);

	t->order.reverse = !t->order.reverse;
	return UI_SORT;
}

static unsigned threads_sort_by(struct ui *ui, int order)
{
	struct threads *t = threads_state(ui);

	if (t->sort == order)
		return threads_reverse(ui, 0);
	t->sort = order;
	t->order.reverse = false;
	return UI_SORT;
}

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
	if (r->members > 1) {
		ui_say(ui, STYLE_WARN, UI_MESSAGE_MS,
			"these are %u threads: = shows them one by one", r->members);
		return 0;
	}
	ui->thread = r->thread;
	ui_show(ui, VIEW_METHODS);
	ui_say(ui, STYLE_NORMAL, UI_MESSAGE_MS, "only %s from now on; Esc shows all threads again",
		intern_text(&t->names, r->name));
	return UI_SORT;
}

const char *threads_selected(struct ui *ui)
{
	struct threads *t = threads_state(ui);

	return threads_row(t, t->list.cursor) ? threads_text(ui, t->list.cursor) : NULL;
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
	.sort_by = threads_sort_by,
};
