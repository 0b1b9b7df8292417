/* SPDX-License-Identifier: Apache-2.0 */
/* The pane of the threads view: the selected thread, the owner of its lock, and its hottest methods. */
#include "tui/view/threads/inside.h"

#include "base/buf.h"
#include "base/clock.h"
#include "tui/frame/events.h"
#include "tui/frame/search.h"
#include "tui/screen/text.h"
#include "tui/view/pane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BESIDE_COLS 110 /* minimum width for two stacks side by side */
#define TITLE_REST  21  /* columns after the name */
#define CHAIN_MAX   6
#define WAIT_ROWS   4 /* limit in the side pane: chains of owners can be long */

static const char *const kinds[] = {
	[THREAD_NATIVE] = "native thread",
	[THREAD_JAVA] = "",
	[THREAD_COMPILER] = "JIT compiler",
	[THREAD_GC] = "garbage collector",
	[THREAD_VM] = "JVM thread",
	[THREAD_AGENT] = "jhot thread",
	[THREAD_VIRTUAL] = "virtual thread",
};

#define LOCK_NAME 200

static const char *lock_class(
	const struct ui *ui, const struct profile_wait *w, bool packages, char out[LOCK_NAME])
{
	if (w->method == PROFILE_NONE)
		return "a lock";
	ui_fit_method(
		ui, w->method, packages ? NAME_FULL : NAME_CLASS, LOCK_NAME - 1, out, LOCK_NAME);
	return out;
}

void thread_pane_wait(
	const struct ui *ui, const struct thread_row *r, int cols, char *out, size_t bytes)
{
	const struct profile_wait *w = &r->wait;
	char name[LOCK_NAME];
	const char *owner =
		w->owner == PROFILE_NONE ? NULL : profile_get_thread(ui->profile, w->owner)->name;

	if (!owner)
		snprintf(out, bytes, "waits: %s", lock_class(ui, w, false, name));
	else if (snprintf(out, bytes, "waits: %s, held by %s", lock_class(ui, w, false, name),
			 owner) > cols)
		snprintf(out, bytes, "by %s", owner);
}

/* "owner, which waits for next, ..." until one that does not wait, or the first again. */
static void add_chain(const struct ui *ui, const struct thread_rows *t,
	const struct profile_wait *first, struct buf *out)
{
	struct profile_wait w = *first;

	for (int i = 0; i < CHAIN_MAX && w.owner != PROFILE_NONE; i++) {
		uint32_t owner = w.owner;
		uint64_t lock = w.lock;

		buf_printf(out, "%s%s", i ? ", which waits for " : ", held by ",
			profile_get_thread(ui->profile, owner)->name);
		if (owner == first->thread) {
			buf_adds(out, ": a deadlock");
			return;
		}
		if (!profile_wait_at(ui->profile, owner, t->to, &w) ||
			w.until_ns < t->to * NS_PER_S || w.lock == lock)
			return; /* it owns that lock now: the wait is over */
	}
}

/* Shares of a thread's states, largest first; threads of a pool by current state. Returns the rows used, 0 or 1. */
static int draw_states(const struct ui *ui, struct area area, const struct thread_row *r)
{
	uint64_t left[THREAD_STATES], sum = 0;
	struct canvas *c = ui->canvas;
	int col = area.col, end = area.col + area.cols;

	if (r->members > 1) {
		for (int i = 1; i < THREAD_STATES; i++)
			if (r->member_states[i])
				col = canvas_printf(c, area.row, col, end, STYLE_NORMAL, "%s%u %s",
					col > area.col ? ", " : "", r->member_states[i],
					thread_states[i].name);
		return 1;
	}
	memcpy(left, r->wall, sizeof(left));
	for (int i = 0; i < THREAD_STATES; i++)
		sum += left[i];
	for (;;) {
		int most = 0;

		for (int i = 1; i < THREAD_STATES; i++)
			most = left[i] > left[most] ? i : most;
		if (!left[most])
			return sum > 0;
		col = canvas_printf(c, area.row, col, end, STYLE_NORMAL, "%s%s %.0f%%",
			col > area.col ? ", " : "", thread_states[most].name,
			100.0 * (double)left[most] / (double)sum);
		left[most] = 0;
	}
}

/* Returns the rows used. */
static int draw_stack(const struct ui *ui, struct area area, uint32_t stack)
{
	struct canvas *c = ui->canvas;
	int end = area.col + area.cols, i = 0;

	for (; i < area.rows && stack != PROFILE_ROOT_STACK; i++) {
		struct profile_stack s = profile_get_stack(ui->profile, stack);
		const struct profile_frame *f = profile_get_frame(ui->profile, s.frame);
		char name[512], line[32] = "";

		if (f->line > 0)
			snprintf(line, sizeof(line), "line %d", f->line);
		canvas_printf(c, area.row + i, area.col, end, theme_frame(f->type), "%c",
			frame_types[f->type].letter);
		if (!search_collapsed_name(ui, stack, f->method, name, sizeof(name)))
			ui_fit_method(ui, f->method, NAME_FULL, area.cols - 13, name, sizeof(name));
		canvas_text(c, area.row + i, area.col + 2, end, STYLE_NORMAL, name);
		canvas_right(c, area.row + i, area.col + 2, end, STYLE_DIM, line);
		stack = s.parent;
	}
	return i;
}

/* Draws the stack of a row, or why there is none; r NULL: the thread has no row. Returns the rows used. */
static int draw_place(const struct ui *ui, struct area area, const struct thread_row *r)
{
	const struct profile *p = ui->profile;
	uint32_t java;

	if (r && r->stack_count) {
		/*
		 * A waiting thread's stack starts at its innermost Java frame: the native frames called from there are
		 * all alike.
		 */
		java = r->waits ? r->stack : PROFILE_ROOT_STACK;
		while (java != PROFILE_ROOT_STACK &&
			!frame_is_java(
				profile_get_frame(p, profile_get_stack(p, java).frame)->type))
			java = profile_get_stack(p, java).parent;
		return draw_stack(ui, area, java != PROFILE_ROOT_STACK ? java : r->stack);
	}
	canvas_text(ui->canvas, area.row, area.col, area.col + area.cols, STYLE_DIM,
		ui->vitals->events[EVENT_WALL].state == VITALS_ON
			? "no samples in this window"
			: "no samples in this window; event 4 also samples threads that wait");
	return 1;
}

/* Draws the owner of a lock and its stack. Returns the rows used. */
static int draw_owner(
	const struct ui *ui, struct area area, const struct thread_rows *t, uint32_t owner)
{
	const struct thread_row *r = NULL;
	struct canvas *c = ui->canvas;

	for (uint32_t i = 0; i < t->count && !r; i++)
		if (t->list[i].members == 1 && t->list[i].thread == owner)
			r = &t->list[i];
	canvas_printf(c, area.row, area.col, area.col + area.cols, STYLE_STRONG, "%s  %s",
		profile_get_thread(ui->profile, owner)->name,
		r ? thread_states[r->state].name : "");
	return 1 +
	       draw_place(ui, (struct area){area.row + 1, area.col, area.rows - 1, area.cols}, r);
}

void thread_pane_done(struct thread_pane *p)
{
	pane_table_done(&p->hot);
}

void thread_pane_invalidate(struct thread_pane *p, bool sort)
{
	p->loaded = false;
	p->sort = p->sort || sort;
}

/* The owners are polled, so the share refers to the waits observed; LOCK% covers all of them. */
static void load_waits(const struct ui *ui, struct thread_pane *p, const struct thread_rows *t,
	const struct thread_row *r)
{
	uint64_t to_ns = t->to * NS_PER_S;
	struct profile_waited most;
	struct buf text = {0};
	char since[TEXT_NUMBER], name[LOCK_NAME];

	p->waits[0] = p->waited[0] = '\0';
	if (r->waits) {
		uint64_t ns = to_ns > r->wait.since_ns ? to_ns - r->wait.since_ns : 0;

		buf_printf(&text, "waits %s%s for %s", r->wait.at_least ? "at least " : "",
			events_value(since, &profile_events[EVENT_LOCK], r->wait.before_ns + ns),
			lock_class(ui, &r->wait, true, name));
		add_chain(ui, t, &r->wait, &text);
		snprintf(p->waits, sizeof(p->waits), "%s (0x%llx)", buf_str(&text),
			(unsigned long long)r->wait.lock);
		buf_done(&text);
	} else if (r->members == 1 &&
		   profile_waited(ui->profile, r->thread, t->from, t->to, &most)) {
		/* Most waits are short, so the thread rarely waits at this moment. */
		snprintf(p->waited, sizeof(p->waited),
			"waited for %s, held by %s (%.0f%% of waits seen)",
			lock_class(ui, &(struct profile_wait){.method = most.method}, false, name),
			most.owner == PROFILE_NONE
				? "an unknown thread"
				: profile_get_thread(ui->profile, most.owner)->name,
			100.0 * (double)most.ns / (double)most.all_ns);
	}
}

void thread_pane_load(const struct ui *ui, struct thread_pane *p, const struct thread_rows *t,
	const struct thread_row *r, bool beside)
{
	if (p->loaded && p->id == r->id)
		return;
	load_waits(ui, p, t, r);
	pane_table_clear(&p->hot);
	if (beside && !r->idle) { /* idle threads have no samples */
		struct profile_query q = ui_query(ui);

		q.thread = r->members > 1 ? PROFILE_ANY_THREAD : r->thread;
		q.pool = r->members > 1 ? r->pool : 0;
		q.without_idle = false;
		struct flat *f = flat_new(ui->profile, &q);
		struct pane_row *rows = xreallocarray(NULL, (size_t)f->count + 1, sizeof(*rows));
		for (uint32_t i = 0; i < f->count; i++)
			rows[i] = (struct pane_row){f->rows[i].method, f->rows[i].type,
				f->rows[i].self_count, f->rows[i].self, f->rows[i].total};
		pane_table_set(
			&p->hot, rows, f->count, ui_order_how(ui, p->sort || p->id != r->id));
		p->hot.whole = p->hot.sum = f->sum;
		flat_free(f);
	}
	p->id = r->id;
	p->loaded = true;
	p->sort = false;
}

static void draw_title(const struct ui *ui, struct area area, const struct thread_row *r)
{
	const struct profile_thread *pt = profile_get_thread(ui->profile, r->thread);
	struct canvas *c = ui->canvas;
	int row = area.row, end = area.col + area.cols - 1, col = area.col + 4;
	char name[300], label[PROFILE_LABEL];

	canvas_fill(c, row, area.col + 1, end, STYLE_TREE, '-');
	name_middle(name, sizeof(name), thread_row_name(ui->profile, r), end - col - TITLE_REST,
		ui->glyphs->ellipsis);
	col = canvas_printf(c, row, col, end - 1, STYLE_STRONG, " %s ", name);
	if (r->members > 1)
		col = canvas_printf(c, row, col, end - 1, STYLE_NORMAL, " %u threads ", r->members);
	else if (*profile_thread_label(pt, "tid ", label))
		col = canvas_printf(c, row, col, end - 1, STYLE_NORMAL, " %s ", label);
	if (r->members == 1 && pt->carrier)
		col = canvas_printf(
			c, row, col, end - 1, STYLE_NORMAL, " carrier: tid %d ", pt->carrier);
	if (r->carries_virtual)
		col = canvas_text(c, row, col, end - 1, STYLE_NORMAL, " runs virtual threads ");
	if (*kinds[r->kind])
		col = canvas_printf(c, row, col, end - 1, STYLE_NORMAL, " %s ", kinds[r->kind]);
	if (r->stack_count && !r->stack_is_now)
		canvas_text(c, row, col, end - 1, STYLE_DIM, " its most frequent stack ");
}

static void area_drop(struct area *area, int rows)
{
	area->row += rows;
	area->rows -= rows;
}

/* Draws title, states and waits, the latter in at most wait_rows. Returns the area left for stacks. */
static struct area draw_head(const struct ui *ui, struct area area, const struct thread_pane *p,
	const struct thread_row *r, int wait_rows)
{
	struct area in = {area.row + 1, area.col + 3, area.rows - 1, area.cols - 4};
	struct area wait = {in.row, in.col, wait_rows, in.cols};
	struct canvas *c = ui->canvas;

	draw_title(ui, area, r);
	if (r->waits) {
		area_drop(&in, canvas_wrapped(c, wait, 0, STYLE_WARN, p->waits) - in.row);
		return in;
	}
	area_drop(&in, draw_states(ui, in, r));
	if (*p->waited) {
		canvas_text(c, in.row, in.col, in.col + in.cols, STYLE_NORMAL, p->waited);
		area_drop(&in, 1);
	}
	return in;
}

void thread_pane_draw(const struct ui *ui, struct area area, const struct thread_pane *p,
	const struct thread_rows *t, const struct thread_row *r)
{
	bool owned = r->waits && r->wait.owner != PROFILE_NONE;
	struct area stack = draw_head(ui, area, p, r, area.rows - 3), owner = stack;

	if (owned && area.cols < BESIDE_COLS) {
		stack.rows = (stack.rows - 1) / 2;
		area_drop(&owner, draw_place(ui, stack, r));
		draw_owner(ui, owner, t, r->wait.owner);
		return;
	}
	if (owned) {
		stack.cols = area.cols / 2 - 4;
		owner.col = area.cols / 2 + 1;
		owner.cols = area.cols - owner.col - 1;
		draw_owner(ui, owner, t, r->wait.owner);
	}
	draw_place(ui, stack, r);
}

void thread_pane_draw_beside(const struct ui *ui, struct area area, const struct thread_pane *p,
	const struct thread_rows *t, const struct thread_row *r)
{
	static const struct pane_titles titles = {"HOTTEST METHODS", "SELF", "TOTAL"};
	struct area left = draw_head(ui, area, p, r, WAIT_ROWS), stack = left;
	bool owned = r->waits && r->wait.owner != PROFILE_NONE;

	stack.rows = left.rows / (owned ? 3 : 2);
	area_drop(&left, draw_place(ui, stack, r) + 1);
	stack.row = left.row;
	if (owned)
		area_drop(&left, draw_owner(ui, stack, t, r->wait.owner) + 1);
	if (left.rows < 2 || !p->hot.rows)
		return;
	pane_table_draw(
		ui, (struct area){left.row, area.col, left.rows, area.cols}, &titles, &p->hot);
	if (!p->hot.count)
		canvas_text(ui->canvas, left.row + 1, area.col + 2, area.col + area.cols, STYLE_DIM,
			"no samples of this event in this window");
}
