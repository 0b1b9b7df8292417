/* SPDX-License-Identifier: Apache-2.0 */
/* The selected thread and, where there is room, the owner of the lock that it waits for beside it. */
#include "tui/thread_pane.h"

#include "base/buf.h"
#include "base/clock.h"
#include "tui/events.h"
#include "tui/text.h"

#include <stdio.h>
#include <string.h>

#define BESIDE_COLS 110 /* from this width on the owner's stack stands beside */
#define CHAIN_MAX   6

static const char *const kinds[] = {
	[THREAD_NATIVE] = "native thread",
	[THREAD_JAVA] = "",
	[THREAD_COMPILER] = "JIT compiler",
	[THREAD_GC] = "garbage collector",
	[THREAD_VM] = "the JVM's own",
	[THREAD_AGENT] = "jhot's own",
};

/* --- what it waits for ------------------------------------------------------------------------------- */

static const char *lock_class(const struct ui *ui, const struct profile_wait *w, bool packages)
{
	const char *name = w->method == PROFILE_NONE
				   ? "a lock"
				   : profile_get_method(ui->profile, w->method)->full;
	const char *dot = strrchr(name, '.');

	return packages || !dot ? name : dot + 1;
}

void thread_pane_wait(
	const struct ui *ui, const struct thread_row *r, bool packages, char *out, size_t bytes)
{
	const struct profile_wait *w = &r->wait;

	if (w->owner == PROFILE_NONE)
		snprintf(out, bytes, "%s", lock_class(ui, w, packages));
	else
		snprintf(out, bytes, "%s, held by %s", lock_class(ui, w, packages),
			profile_get_thread(ui->profile, w->owner)->name);
}

/* "owner, which waits for next, ..." until one that does not wait, or the first again. */
static void add_chain(const struct ui *ui, const struct thread_rows *t,
	const struct profile_wait *first, struct buf *out)
{
	struct profile_wait w = *first;

	for (int i = 0; i < CHAIN_MAX && w.owner != PROFILE_NONE; i++) {
		uint32_t owner = w.owner;

		buf_printf(out, "%s%s", i ? ", which waits for " : ", held by ",
			profile_get_thread(ui->profile, owner)->name);
		if (owner == first->thread) {
			buf_adds(out, ": a deadlock");
			return;
		}
		if (!profile_wait_at(ui->profile, owner, t->to, &w) ||
			w.until_ns < t->to * NS_PER_S)
			return;
	}
}

static void draw_wait(
	struct ui *ui, int row, const struct thread_rows *t, const struct thread_row *r)
{
	uint64_t to_ns = t->to * NS_PER_S;
	struct canvas *c = &ui->canvas;
	struct buf text = {0};
	char since[TEXT_NUMBER];

	buf_printf(&text, "waits for %s 0x%llx for %s", lock_class(ui, &r->wait, true),
		(unsigned long long)r->wait.lock,
		events_value(since, &profile_events[EVENT_LOCK],
			to_ns > r->wait.since_ns ? to_ns - r->wait.since_ns : 0));
	add_chain(ui, t, &r->wait, &text);
	canvas_text(c, row, 3, c->cols - 1, STYLE_WARN, text.data);
	buf_done(&text);
}

/*
 * What one that does not wait just now waited for in the window, since most waits are short. Owners are looked at
 * now and then, so this is a share of what was seen; LOCK% has the whole.
 */
static bool draw_waited(
	struct ui *ui, int row, const struct thread_rows *t, const struct thread_row *r)
{
	uint32_t from = t->to > t->lock_span_s ? t->to - t->lock_span_s : 0;
	struct profile_waited most;
	struct canvas *c = &ui->canvas;

	if (r->members > 1 || !profile_waited(ui->profile, r->thread, from, t->to, &most))
		return false;
	canvas_printf(c, row, 3, c->cols - 1, STYLE_NORMAL,
		"waited for %s, held by %s (%.0f%% of waits seen)",
		lock_class(ui, &(struct profile_wait){.method = most.method}, false),
		most.owner == PROFILE_NONE ? "one not known"
					   : profile_get_thread(ui->profile, most.owner)->name,
		100.0 * (double)most.ns / (double)most.all_ns);
	return true;
}

/* --- states ------------------------------------------------------------------------------------------ */

/* The largest share first, as far as they fit. */
static void draw_states(struct ui *ui, int row, const struct thread_row *r)
{
	uint64_t left[THREAD_STATES], sum = 0;
	struct canvas *c = &ui->canvas;
	int col = 3;

	memcpy(left, r->wall, sizeof(left));
	for (int i = 0; i < THREAD_STATES; i++)
		sum += left[i];
	for (int done = 0; sum && done < THREAD_STATES; done++) {
		int most = 0;

		for (int i = 1; i < THREAD_STATES; i++)
			most = left[i] > left[most] ? i : most;
		if (!left[most])
			break;
		col = canvas_printf(c, row, col, c->cols - 1, STYLE_NORMAL, "%s%s %.0f%%",
			done ? ", " : "", thread_states[most].name,
			100.0 * (double)left[most] / (double)sum);
		left[most] = 0;
	}
}

/* Of a pool: how many of its threads are in which state now. */
static void draw_members(struct ui *ui, int row, const struct thread_row *r)
{
	struct canvas *c = &ui->canvas;
	int col = 3;

	for (int i = 1; i < THREAD_STATES; i++) {
		if (!r->member_states[i])
			continue;
		col = canvas_printf(c, row, col, c->cols - 1, STYLE_NORMAL, "%s%u %s",
			col > 3 ? ", " : "", r->member_states[i], thread_states[i].name);
	}
}

/* --- stacks ------------------------------------------------------------------------------------------ */

static void draw_stack(struct ui *ui, struct area area, uint32_t stack)
{
	struct canvas *c = &ui->canvas;
	int end = area.col + area.cols;

	for (int i = 0; i < area.rows && stack != PROFILE_ROOT_STACK; i++) {
		struct profile_stack s = profile_get_stack(ui->profile, stack);
		const struct profile_frame *f = profile_get_frame(ui->profile, s.frame);
		char name[512], line[32] = "";

		if (f->line > 0)
			snprintf(line, sizeof(line), "line %d", f->line);
		canvas_printf(c, area.row + i, area.col, end, theme_frame(f->type), "%c",
			frame_types[f->type].letter);
		name_fit(name, sizeof(name), profile_get_method(ui->profile, f->method),
			area.cols - 13, NAME_FULL, ui->glyphs->ellipsis);
		canvas_text(c, area.row + i, area.col + 2, end, STYLE_NORMAL, name);
		canvas_right(c, area.row + i, area.col + 2, end, STYLE_DIM, line);
		stack = s.parent;
	}
}

static const struct thread_row *row_of_thread(const struct thread_rows *t, uint32_t thread)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->list[i].members == 1 && t->list[i].thread == thread)
			return &t->list[i];
	return NULL;
}

static void draw_owner(struct ui *ui, struct area area, const struct thread_rows *t, uint32_t owner)
{
	const struct thread_row *r = row_of_thread(t, owner);
	struct canvas *c = &ui->canvas;

	canvas_printf(c, area.row, area.col, area.col + area.cols, STYLE_STRONG, "%s  %s",
		profile_get_thread(ui->profile, owner)->name,
		r ? thread_states[r->state].name : "");
	area.row++;
	area.rows--;
	if (r && r->stack_count)
		draw_stack(ui, area, r->stack);
	else
		canvas_text(c, area.row, area.col, area.col + area.cols, STYLE_DIM,
			"no samples in this window");
}

/* --- all --------------------------------------------------------------------------------------------- */

static void draw_title(struct ui *ui, int row, const struct thread_row *r)
{
	const struct profile_thread *pt = profile_get_thread(ui->profile, r->thread);
	struct canvas *c = &ui->canvas;
	int col;

	canvas_fill(c, row, 1, c->cols - 1, STYLE_TREE, '-');
	col = canvas_printf(
		c, row, 4, c->cols - 20, STYLE_STRONG, " %s ", thread_row_name(ui->profile, r));
	if (r->members > 1)
		col = canvas_printf(
			c, row, col, c->cols - 2, STYLE_NORMAL, " %u threads ", r->members);
	else
		col = canvas_printf(c, row, col, c->cols - 2, STYLE_NORMAL, " tid %d ", pt->tid);
	if (r->carries_virtual)
		col = canvas_text(c, row, col, c->cols - 2, STYLE_NORMAL, " runs virtual threads ");
	if (*kinds[r->kind])
		col = canvas_printf(c, row, col, c->cols - 2, STYLE_NORMAL, " %s ", kinds[r->kind]);
	if (r->stack_count && !r->stack_is_now)
		canvas_text(c, row, col, c->cols - 2, STYLE_DIM, " its most frequent stack ");
}

static bool has_states(const struct thread_row *r)
{
	uint64_t any = 0;

	for (int i = 0; i < THREAD_STATES; i++)
		any |= r->wall[i];
	return any != 0;
}

void thread_pane_draw(
	struct ui *ui, struct area area, const struct thread_rows *t, const struct thread_row *r)
{
	bool beside = r->waits && r->wait.owner != PROFILE_NONE && area.cols >= BESIDE_COLS;
	struct area stack = {area.row + 1, 3, area.rows - 1, area.cols - 4};

	draw_title(ui, area.row, r);
	if (r->waits)
		draw_wait(ui, stack.row, t, r);
	else if (r->members > 1)
		draw_members(ui, stack.row, r);
	else if (has_states(r))
		draw_states(ui, stack.row, r);
	if (r->waits || r->members > 1 || has_states(r)) {
		stack.row++;
		stack.rows--;
	}
	if (!r->waits && draw_waited(ui, stack.row, t, r)) {
		stack.row++;
		stack.rows--;
	}
	if (beside) {
		struct area owner = stack;

		stack.cols = area.cols / 2 - 4;
		owner.col = area.cols / 2 + 1;
		owner.cols = area.cols - owner.col - 1;
		draw_owner(ui, owner, t, r->wait.owner);
	}
	if (r->stack_count)
		draw_stack(ui, stack, r->stack);
	else
		canvas_text(&ui->canvas, stack.row, stack.col, stack.col + stack.cols, STYLE_DIM,
			"no samples in this window");
}
