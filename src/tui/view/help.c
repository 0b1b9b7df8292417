/* SPDX-License-Identifier: Apache-2.0 */
/* The help screen: the keys of the view it was called from, written from the command table. */
#include "tui/frame/ui.h"

#include "tui/frame/command.h"
#include "tui/frame/file.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <string.h>

#define KEYS_COL 9
#define TERM_COL 11

/* Terms on the screen and their explanations, per view. */
struct help_term {
	unsigned views;
	const char *term, *text;
};

#define CALLERS  VIEW_BIT(VIEW_CALLERS)
#define METHODS  VIEW_BIT(VIEW_METHODS)
#define THREADS  VIEW_BIT(VIEW_THREADS)
#define TREE     VIEW_BIT(VIEW_TREE)
#define FLAME    VIEW_BIT(VIEW_FLAME)
#define FINDINGS VIEW_BIT(VIEW_FINDINGS)
#define LATENCY  VIEW_BIT(VIEW_LATENCY)

static const struct help_term terms[] = {
	{METHODS, "SELF%", "share of samples with this method on top of the stack"},
	{METHODS, "±", "95% confidence half-width, in points; \"~1 ?\" = fewer than 10 samples"},
	{METHODS, "TOTAL%", "share with it anywhere on the stack (recursion counts once)"},
	{METHODS, "DELTA", "change in points in 20 s (30s, 1m: in one window); ~ not significant"},
	{METHODS | TREE | CALLERS | FLAME, "D", "change in points since the baseline set with B"},
	{METHODS, "AMOUNT", "weight of its own samples: time, bytes, waiting (from 100 columns)"},
	{METHODS, "CPU%", "of one core; jit, gc: JVM threads; sys: kernel time of all others"},
	{METHODS, "pauses",
		"share of the last 10 s in which garbage collection stopped the program"},
	{METHODS, "*", "pinned with P: stays on top"},
	{METHODS, "LINE", "the line with most of its own samples (from 120 columns)"},
	{METHODS, "TREND", "last 8 s, one cell per second, scaled per row; noise is drawn flat"},
	{METHODS | TREE | CALLERS, "T",
		"J compiled  i inlined  I interpreted  n native  v VM  k kernel  r request"},
	{METHODS | TREE | CALLERS, "",
		"~ compiled before jhot attached: no inlining info (\"41% no inlining info\"). "
		"To avoid this, start the JVM with -XX:+UnlockDiagnosticVMOptions "
		"-XX:+DebugNonSafepoints"},
	{METHODS | TREE | CALLERS, "", "c class  o class, allocated outside a TLAB  w waits"},
	{METHODS | TREE | CALLERS | FLAME, "",
		"[context switches]: the kernel schedules a thread on or off a core"},
	{METHODS | TREE, "explains",
		"share of the used CPU time that samples account for; the rest was used by "
		"short-lived threads, or by threads that block the signal"},
	{THREADS, "idle",
		"threads of a pool that used nothing in the window and wait for no lock; Enter "
		"expands, Esc collapses, = shows pools or each thread"},
	{THREADS, "T", "g garbage collector  c JIT compiler  v JVM thread  n native  V virtual"},
	{THREADS, "S",
		"R running  r ready  B blocked by a lock  W Object.wait  P parked  I I/O  S "
		"asleep"},
	{THREADS, "CPU%",
		"of one core, from the window's samples; now usr, sys: from the kernel, since the "
		"last refresh"},
	{THREADS, "LOCK%", "share of its time spent waiting for locks (event 3 must be on)"},
	{THREADS, "TOP",
		"where it is now, or the peer or file it waits for; dim: its most frequent frame "
		"in the window"},
	{TREE, "TOTAL%", "share of samples in this frame and its callees"},
	{TREE, "SELF%", "share of samples in this frame itself"},
	{TREE, "+ -", "collapsed / expanded; (n) hidden children"},
	{CALLERS, "SHARE", "of the samples with the method on the stack (lines: on top of it)"},
	{CALLERS, "of all", "of all samples of the window"},
	{CALLERS, "once", "each sample counts once: outermost caller, innermost callee"},
	{FLAME, "a box",
		"a frame, with its callees below it (i: above); colored by frame type: "
		"compiled and inlined Java, interpreted, native, VM, kernel; shade by name"},
	{METHODS | TREE | FLAME | CALLERS, "folded",
		"thread entry frames, and inner frames of native runs below Java where no sample "
		"ends; exported files have all frames"},
	{METHODS | TREE | FLAME | CALLERS, "K",
		"selects which frames are hidden: framework, native and kernel, all of these, or "
		"none; a run of them is one row, such as [framework frames]; which packages are "
		"frameworks is a setting"},
	{METHODS | TREE | FLAME | CALLERS, "idle",
		"in wall, threads that wait for work are hidden (a shows them): idle threads of a "
		"pool, waiting threads of the JVM; shares refer to the others"},
	{METHODS | TREE | FLAME | CALLERS, "\\ !",
		"apply to all views and exports; Esc removes the last one; =a.b.C.d: only that "
		"name"},
	{LATENCY, "calls",
		"begun per second: an estimate, ± its standard error; > a lower bound, since most "
		"calls are too short to be seen. Measured while this view is open, by polling "
		"threads inside the method, without instrumentation"},
	{LATENCY, "p50 ...",
		"duration that this share of the calls does not exceed; < below two intervals, > "
		"above the longest call that has ended"},
	{LATENCY, "states",
		"cpu; runnable: waited for a core; lock; io; sleep; wait: Object.wait; park; "
		"safepoint: stopped by the JVM, as for a collection; short waits: shorter than an "
		"interval, of unknown kind"},
	{LATENCY, "SLOWEST",
		"share of the time of the slowest 1 % of the calls; OTHERS: of the other calls"},
	{LATENCY, "±",
		"maximum error of a duration: half the gaps to the polls before and after the "
		"call"},
	{LATENCY, ">", "in progress: its duration so far"},
	{LATENCY, "i ?",
		"may be several calls: i it was inlined, ? a collection moved its objects"},
	{LATENCY, "AT FOR",
		"start and duration of a phase; dots: the call began, or ended, at some time "
		"between "
		"two polls"},
	{FINDINGS, "SHARE",
		"share of the quantity in the sentence; ± 95% confidence half-width, if known"},
	{FINDINGS, "FOR", "how long it has been present; it stays for 10 s after it was last seen"},
	{FINDINGS, "->", "the recommended next step"},
	{TREE, "(i)", "inverted: hot methods first, below each the methods that called it"},
};

/* How rows are ordered, per view. */
static const struct help_term orders[] = {
	{METHODS | THREADS | TREE, "ORDER",
		"Rows swap only when the lower one leads by more than 1 standard error, and never "
		"within 5 s of a key press. On ties the program's own rows come first."},
	{METHODS | THREADS, "", "The selected row keeps its screen line."},
	{TREE, "", "An only child is not indented."},
	{FLAME, "LAYOUT",
		"Boxes are as wide as their share, siblings in alphabetical order. They move at "
		"most every 3 s, unless one would be off by more than 2 columns."},
};

/* Writes the commands of a group. Returns the next row. */
static int write_group(const struct ui *ui, struct canvas *page, int row, enum command_group group)
{
	int col = KEYS_COL;
	bool any = false;

	for (int i = 0; i < command_count; i++) {
		const struct command *c = &commands[i];
		const char *shown = command_shown(c, ui);
		int width = text_width(shown) + 1 + (c->help ? text_width(c->help) : 0);
		bool here = c->views & VIEW_BIT(ui->under) && (!c->available || c->available(ui)) &&
			    !file_refusal(ui, c->name);

		if (c->group != group || !c->help || !here)
			continue;
		if (!any)
			canvas_text(page, row, 1, page->cols, STYLE_STRONG, command_groups[group]);
		if (any && col + width > page->cols - 1) {
			row++;
			col = KEYS_COL;
		}
		any = true;
		col = canvas_text(page, row, col, page->cols, STYLE_KEY, shown) + 1;
		col = canvas_text(page, row, col, page->cols, STYLE_LABEL, c->help) + 3;
	}
	return any ? row + 1 : row;
}

static void help_draw(const struct ui *ui, struct area area)
{
	struct page *p = ui_state(ui, VIEW_HELP);
	struct canvas *c = ui->canvas;
	const char *more = "";

	page_begin(ui, p);
	for (int group = 0; group < GROUP_COUNT; group++)
		p->rows = write_group(ui, &p->canvas, p->rows, (enum command_group)group);
	canvas_text(&p->canvas, ++p->rows, 1, c->cols, STYLE_STRONG, "SHOWN");
	p->rows++;
	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		const char *term = terms[i].term;

		if (!(terms[i].views & VIEW_BIT(ui->under)))
			continue;
		if (!strcmp(term, glyphs_utf8.plus_minus))
			term = ui->glyphs->plus_minus;
		canvas_text(&p->canvas, p->rows, 2, c->cols, STYLE_KEY, term);
		page_text(p, TERM_COL, 0, STYLE_NORMAL, terms[i].text);
	}
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (!(orders[i].views & VIEW_BIT(ui->under)))
			continue;
		if (*orders[i].term)
			canvas_text(
				&p->canvas, p->rows++, 1, c->cols, STYLE_STRONG, orders[i].term);
		page_text(p, 2, 0, STYLE_NORMAL, orders[i].text);
	}
	p->rows++;
	canvas_printf(&p->canvas, p->rows++, 1, c->cols, STYLE_DIM, "man jhot          jhot %s",
		JHOT_VERSION);
	if (page_draw(ui, p, (struct area){area.row + 2, 0, area.rows - 2, c->cols}))
		more = c->ascii ? "   Down: more" : "   ↓ more";
	canvas_fill(c, area.row, 0, c->cols, STYLE_COLUMNS, ' ');
	canvas_printf(c, area.row, 1, c->cols, STYLE_COLUMNS,
		"HELP: %s      Tab other views   any other key closes%s",
		view_table[ui->under]->name, more);
}

const struct view view_help = {
	.name = "Help",
	.bare = true,
	.bytes = sizeof(struct page),
	.done = page_done,
	.draw = help_draw,
};
