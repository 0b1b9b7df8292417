/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the threads view. */
#include "tui/view/threads/inside.h"

#include "tui/screen/text.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS_WIDEST 190
#define COLUMNS_WIDE   76 /* minimum width of the terminal for all columns */

/* The number of members; of idle ones with their state: "197 idle, 3 in I/O". */
static void name_members(const struct thread_row *r, char *out, size_t bytes)
{
	uint32_t io = r->member_states[THREAD_IO];

	*out = '\0';
	if (r->members < 2)
		return;
	if (!r->idle)
		snprintf(out, bytes, " (%u)", r->members);
	else if (!io)
		snprintf(out, bytes, " %u idle", r->members);
	else if (io == r->members)
		snprintf(out, bytes, " %u in I/O", io);
	else
		snprintf(out, bytes, " %u idle, %u in I/O", r->members - io, io);
}

static void cell_name(const void *view, const void *row, struct column_cell *out)
{
	const struct threads *t = view;
	const struct thread_row *r = row;
	char text[300], members[60], name[COLUMN_TEXT];

	name_members(r, members, sizeof(members));
	snprintf(text, sizeof(text), "%s%s",
		r->members > 1 && r->carries_virtual ? "virtual: " : "",
		thread_row_name(t->at.ui->profile, r));
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
	char text[TEXT_NUMBER];

	strcpy(out->text, text_percent(text, thread_row_cpu(&t->rows, r)));
	if (!r->use[EVENT_CPU].count)
		out->style = STYLE_DIM;
}

/* Kernel figures exist only for living threads, and only for now. */
static void format_now(const struct thread_row *r, float value, struct column_cell *out)
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
	format_now(row, ((const struct thread_row *)row)->user, out);
}

static void cell_system(const void *view, const void *row, struct column_cell *out)
{
	format_now(row, ((const struct thread_row *)row)->system, out);
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
	const struct profile *p = t->at.ui->profile;
	char wait[300];

	if (r->waits) {
		thread_pane_wait(t->at.ui, r, out->width, wait, sizeof(wait));
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
	{"now usr", 2, 7, 0, 46, -1, cell_user},
	{"sys", 1, 3, 0, 46, -1, cell_system},
};
#define COLUMNS_ALL(name_width)                                                                   \
	{"THREAD", 1, name_width, COLUMN_LEFT, 0, SORT_NAME, cell_name},                          \
		{"T", 1, 1, COLUMN_LEFT, 0, -1, cell_kind},                                       \
		{"S", 1, 1, COLUMN_LEFT, 0, -1, cell_state},                                      \
		{"CPU%", 1, 5, 0, 0, SORT_CPU, cell_cpu}, {"now usr", 2, 7, 0, 0, -1, cell_user}, \
		{"sys", 1, 3, 0, 0, -1, cell_system},                                             \
		{"ALLOC", 1, 7, 0, 0, SORT_ALLOC, cell_alloc},                                    \
		{"LOCK%", 1, 5, 0, 0, SORT_LOCK, cell_lock},                                      \
	{                                                                                         \
		"TOP FRAME NOW", 2, 0, COLUMN_LEFT, 0, -1, cell_top                               \
	}
static const struct column columns_wide[] = {COLUMNS_ALL(25)};
/* Long names of threads are whole. */
static const struct column columns_widest[] = {COLUMNS_ALL(34)};

/* For files that have no CPU time or no timestamps. */
static const struct column columns_shares[] = {
	{"THREAD", 1, 26, COLUMN_LEFT, 0, SORT_NAME, cell_name},
	{"T", 1, 1, COLUMN_LEFT, 0, -1, cell_kind},
	{"SHARE%", 1, 6, 0, 0, SORT_CPU, cell_cpu},
	{"MOSTLY IN", 2, 0, COLUMN_LEFT, 0, -1, cell_top},
};

struct columns threads_columns(const struct ui *ui)
{
	if (threads_shares(ui))
		return COLUMNS(columns_shares);
	if (ui->canvas.cols >= COLUMNS_WIDEST)
		return COLUMNS(columns_widest);
	return ui->canvas.cols >= COLUMNS_WIDE ? COLUMNS(columns_wide) : COLUMNS(columns_narrow);
}
