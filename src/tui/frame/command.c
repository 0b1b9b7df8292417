/* SPDX-License-Identifier: Apache-2.0 */
/* The command table, and the commands that do not belong to one view. */
#include "tui/frame/command.h"

#include "tui/frame/compare.h"
#include "tui/frame/config.h"
#include "tui/frame/events.h"
#include "tui/frame/file.h"
#include "tui/frame/output.h"
#include "tui/frame/search.h"
#include "tui/screen/list.h"

#include <stdio.h>

const char *const command_groups[GROUP_COUNT] = {
	[GROUP_EVENTS] = "EVENTS",
	[GROUP_VIEWS] = "VIEWS",
	[GROUP_MOVE] = "MOVE",
	[GROUP_SHOW] = "SHOW",
	[GROUP_TREE] = "TREE",
	[GROUP_TIME] = "TIME",
	[GROUP_FIND] = "FIND",
	[GROUP_OUTPUT] = "OUTPUT",
	[GROUP_OTHER] = "OTHER",
};

/* --- events, views ----------------------------------------------------------------------------------- */

#define HAS_EVENT(e)                                       \
	static bool has_event_##e(const struct ui *ui)     \
	{                                                  \
		return ui->profile && ui_has_event(ui, e); \
	}
HAS_EVENT(0)
HAS_EVENT(1)
HAS_EVENT(2)
HAS_EVENT(3)

static unsigned view_show(struct ui *ui, int view)
{
	if ((int)ui->view == view)
		return 0;
	ui_show(ui, (enum view_id)view);
	return UI_UPDATE;
}

/* Shows the next view with a tab; in help, the help of the next view. */
static unsigned view_cycle(struct ui *ui, int direction)
{
	bool help = ui->view == VIEW_HELP;
	int at = (int)ui_view_id(ui);

	do
		at = (at + direction + VIEW_COUNT) % VIEW_COUNT;
	while (!view_table[at]->tab);
	ui_show(ui, (enum view_id)at);
	if (help)
		ui_show(ui, VIEW_HELP);
	return UI_UPDATE;
}

static unsigned help_show(struct ui *ui, int arg)
{
	ui_show(ui, ui->view == VIEW_HELP ? ui->under : VIEW_HELP);
	return 0;
}

static unsigned jvm_other(struct ui *ui, int arg)
{
	/* Sampling continues, so Esc can return to the session. */
	ui->message.shown = false;
	ui_show(ui, VIEW_PICKER);
	return UI_UPDATE;
}

static unsigned method_callers(struct ui *ui, int arg)
{
	uint32_t method = ui_view(ui)->selected_method(ui);

	if (method == PROFILE_NONE)
		return 0;
	callers_of_method(ui, method);
	return UI_SORT;
}

static unsigned method_latency(struct ui *ui, int arg)
{
	return latency_of_method(ui, ui_view(ui)->selected_method(ui));
}

/* --- moving ------------------------------------------------------------------------------------------ */

static unsigned move(struct ui *ui, int step)
{
	list_step(ui_list(ui), (enum list_step)step);
	return UI_FREEZE_ORDER;
}

/* --- order ------------------------------------------------------------------------------------------- */

static unsigned sort_step(struct ui *ui, int direction)
{
	struct order *o = &ui->states[ui->view]->order;

	o->sort = column_sort_step(ui_view(ui)->columns(ui), ui->canvas->cols, o->sort, direction);
	return UI_SORT;
}

static unsigned sort_reverse(struct ui *ui, int arg)
{
	struct order *o = &ui->states[ui->view]->order;

	o->reverse = !o->reverse;
	return UI_SORT;
}

/* --- time -------------------------------------------------------------------------------------------- */

static unsigned window_step(struct ui *ui, int direction)
{
	int *window = latency_window(ui);

	if (*window + direction < 0 || *window + direction >= TIMELINE_WINDOWS)
		return 0;
	*window += direction;
	return UI_SORT;
}

static unsigned freeze(struct ui *ui, int arg)
{
	timeline_freeze(&ui->scope.time, ui->profile, !ui->scope.time.frozen);
	ui->newer = 0;
	ui->newer_ms = ui->now_ms;
	return UI_UPDATE;
}

static unsigned second_step(struct ui *ui, int seconds)
{
	/* A stepped clock advances only here. */
	if (!ui->scope.time.frozen && ui->options->clock_step && seconds > 0 && ui->ops->step) {
		if (!ui->ops->step(ui->ctx))
			ui_warn(ui, "the recording ends here");
		ui_tick(ui, ui->now_ms + 1000);
		return 0;
	}
	if (!ui->scope.time.frozen)
		freeze(ui, 0);
	if (!timeline_step(&ui->scope.time, ui->profile, seconds * file_step(ui)))
		ui_warn(ui, "there are no %s seconds", seconds < 0 ? "earlier" : "later");
	ui->newer = 0;
	return UI_UPDATE;
}

/* True when the session was lost although its JVM still runs and no other profiler has taken over. */
static bool can_attach_again(const struct ui *ui)
{
	return ui->ended && ui->error.kind == ERR_FAILED && ui->ops->attach && ui->vitals;
}

static unsigned restart(struct ui *ui, int arg)
{
	if (can_attach_again(ui)) {
		ui->attach_pid = ui->vitals->pid;
		return 0;
	}
	if (ui->view == VIEW_LATENCY)
		return latency_restart(ui);
	ui->scope.time.since_before = ui->scope.time.since;
	ui->scope.time.since = profile_info(ui->profile).now;
	profile_anchor(
		ui->profile, ui->scope.event, ui->scope.time.since, ui->scope.time.since_before);
	timeline_freeze(&ui->scope.time, ui->profile, false);
	ui_say(ui, "restarted; U brings the earlier samples back");
	return UI_SORT;
}

static bool is_restarted(const struct ui *ui)
{
	return ui->scope.time.since != ui->scope.time.since_before;
}

static unsigned restart_undo(struct ui *ui, int arg)
{
	ui->scope.time.since = ui->scope.time.since_before;
	return UI_SORT;
}

static unsigned delay_step(struct ui *ui, int arg)
{
	static const uint64_t delays_ms[] = {1000, 2000, 5000, 10000};
	size_t next = 0;

	while (next < 3 && delays_ms[next] <= ui->interval_ms)
		next++;
	ui->interval_ms = ui->interval_ms >= 10000 ? 1000 : delays_ms[next];
	ui_say(ui, "refresh every %u s", (unsigned)ui->interval_ms / 1000);
	return 0;
}

/* --- undoing ----------------------------------------------------------------------------------------- */

/*
 * Esc undoes the latest of search, filter, zoom, restriction to a thread, and going to a finding: the one
 * with the highest undo id. Then it returns to the list of instances, if there is one. It never quits.
 */
static unsigned back(struct ui *ui, int arg)
{
	const struct view *v = ui_view(ui);
	unsigned found = ui_found_undo(ui), filters = search_undo_id(ui);
	unsigned view = v->undo_id ? v->undo_id(ui) : trail_undo(&ui->states[ui->view]->trail);
	unsigned only = ui_is_restricted(ui) ? ui->scope.only_undo : 0;
	unsigned last = found > filters ? found : filters;

	last = view > last ? view : last;
	last = only > last ? only : last;
	if (!last)
		return ui->options->instances ? jvm_other(ui, 0) : 0;
	if (last == found) {
		ui->found_undo = 0;
		return findings_show(ui, 1);
	}
	if (last == filters) {
		search_back(ui);
		return UI_FREEZE_ORDER;
	}
	if (last == view) {
		v->back(ui);
		return UI_UPDATE;
	}
	ui_restrict(ui, PROFILE_ANY_THREAD, 0);
	return UI_SORT;
}

/* --- the rest ---------------------------------------------------------------------------------------- */

static unsigned name_style_step(struct ui *ui, int arg)
{
	static const char *const what[NAME_STYLES] = {
		"full names", "names without packages", "method names only"};

	ui->names = (enum name_style)((ui->names + 1) % NAME_STYLES);
	ui_say(ui, "%s", what[ui->names]);
	return UI_UPDATE | UI_FREEZE_ORDER;
}

static unsigned react(struct ui *ui, int reaction)
{
	return (unsigned)reaction;
}

static unsigned mouse_switch(struct ui *ui, int arg)
{
	ui->mouse = !ui->mouse;
	ui_say(ui, "%s",
		ui->mouse ? "mouse on: a click selects, the wheel scrolls; M turns it off"
			  : "mouse off: clicks and wheel go to the terminal");
	return UI_MOUSE;
}

static bool not_over(const struct ui *ui)
{
	return !ui->ended;
}

bool command_can_restart(const struct ui *ui)
{
	return not_over(ui) || can_attach_again(ui);
}

/* --- the table --------------------------------------------------------------------------------------- */

#define METHODS  VIEW_BIT(VIEW_METHODS)
#define THREADS  VIEW_BIT(VIEW_THREADS)
#define TREE     VIEW_BIT(VIEW_TREE)
#define FLAME    VIEW_BIT(VIEW_FLAME)
#define CALLERS  VIEW_BIT(VIEW_CALLERS)
#define LATENCY  VIEW_BIT(VIEW_LATENCY)
#define INFO     VIEW_BIT(VIEW_INFO)
#define FINDINGS VIEW_BIT(VIEW_FINDINGS)
#define HELP     VIEW_BIT(VIEW_HELP)
#define PICKER   VIEW_BIT(VIEW_PICKER)
#define ERROR    VIEW_BIT(VIEW_ERROR)

/* clang-format off */
const struct command commands[] = {
	{"cpu",   {{'1', EVENT_CPU}},   "1", NULL, "cpu",   NULL, 0, GROUP_EVENTS, VIEWS_DATA | FINDINGS, events_show, has_event_0},
	{"alloc", {{'2', EVENT_ALLOC}}, "2", NULL, "alloc", NULL, 0, GROUP_EVENTS, VIEWS_DATA | FINDINGS, events_show, has_event_1},
	{"lock",  {{'3', EVENT_LOCK}},  "3", NULL, "lock",  NULL, 0, GROUP_EVENTS, VIEWS_DATA | FINDINGS, events_show, has_event_2},
	{"wall",  {{'4', EVENT_WALL}},  "4", NULL, "wall",  NULL, 0, GROUP_EVENTS, VIEWS_DATA | FINDINGS, events_show, has_event_3},
	{"perf-event", {{'5', EVENT_USER_FIRST}, {'6', EVENT_USER_FIRST + 1}, {'7', EVENT_USER_FIRST + 2}, {'8', EVENT_USER_FIRST + 3}}, "5-8", NULL, "perf events", NULL, 0, GROUP_EVENTS, VIEWS_DATA | FINDINGS, events_show, events_has_user},
	{"events", {{'e', 0}}, "e", NULL, "interval, engine, off, more", NULL, 0, GROUP_EVENTS, VIEWS_DATA | FINDINGS, events_menu, NULL},

	{"methods", {{'m', VIEW_METHODS}}, "m", NULL, "methods", NULL, 0, GROUP_VIEWS, INFO | FINDINGS | LATENCY | VIEWS_DATA, view_show, NULL},
	{"threads", {{'t', VIEW_THREADS}, {'H', VIEW_THREADS}}, "t", NULL, "threads", "threads", 60, GROUP_VIEWS, INFO | FINDINGS | LATENCY | (VIEWS_DATA & ~THREADS), view_show, NULL},
	{"tree", {{'T', VIEW_TREE}}, "T", NULL, "tree", "tree", 61, GROUP_VIEWS, INFO | FINDINGS | LATENCY | (VIEWS_DATA & ~TREE & ~CALLERS), view_show, NULL},
	{"tree-callers", {{'T', 0}}, "T", NULL, "tree of all callers", "tree of callers", 12, GROUP_VIEWS, CALLERS, callers_tree, NULL},
	{"flame", {{'f', VIEW_FLAME}}, "f", NULL, "flame graph", "flame", 61, GROUP_VIEWS, INFO | FINDINGS | LATENCY | (VIEWS_DATA & ~FLAME), view_show, NULL},
	{"next-view", {{TKEY_TAB, 1}, {TKEY_BACK_TAB, -1}}, "Tab", NULL, "next view", "next view", 62, GROUP_VIEWS, VIEWS_DATA | LATENCY | INFO | FINDINGS | HELP, view_cycle, NULL},
	{"callers", {{TKEY_ENTER, 0}, {'b', 0}}, "⏎", "Enter", "callers/callees", "callers", 10, GROUP_VIEWS, METHODS, method_callers, NULL},
	{"tree-callers-of", {{'b', 0}}, "b", NULL, "callers/callees", "callers", 34, GROUP_VIEWS, TREE, method_callers, NULL},
	{"walk", {{TKEY_ENTER, 0}}, "⏎", "Enter", "go to that method", "go there", 10, GROUP_VIEWS, CALLERS, callers_walk, NULL},
	{"walk-back", {{TKEY_ESC, 0}}, "Esc", NULL, "back to the previous method", "back", 11, GROUP_VIEWS, CALLERS, back, NULL},
	{"only-thread", {{TKEY_ENTER, 0}}, "⏎", "Enter", "only this thread or pool", "only this", 10, GROUP_VIEWS, THREADS, threads_only, NULL},
	{"flame-callers", {{'b', 0}}, "b", NULL, "callers/callees", "callers", 13, GROUP_VIEWS, FLAME, method_callers, NULL},
	{"latency", {{'l', 0}}, "l", NULL, "latency of its calls", "latency", 11, GROUP_VIEWS, METHODS, method_latency, NULL},
	{"callers-latency", {{'l', 0}}, "l", NULL, "latency of its calls", "latency", 13, GROUP_VIEWS, CALLERS, method_latency, NULL},
	{"latency-call", {{TKEY_ENTER, 0}}, "⏎", "Enter", "timeline of this call", "timeline", 10, GROUP_VIEWS, LATENCY, latency_open, latency_can_open},
	{"latency-back", {{TKEY_ESC, 0}, {'q', 0}}, "Esc", NULL, "back; also q", "back", 11, GROUP_VIEWS, LATENCY, latency_back, NULL},
	{"latency-tree", {{'D', 0}}, "D", NULL, "call tree of these calls and of the others", "difference", 12, GROUP_VIEWS, LATENCY, latency_tree, latency_has_calls},
	{"findings", {{'w', 0}}, "w", NULL, "findings", NULL, 0, GROUP_VIEWS, VIEWS_DATA | LATENCY | INFO, findings_show, NULL},
	{"findings-go", {{TKEY_ENTER, 0}}, "⏎", "Enter", "go to its event, thread or method", "go there", 10, GROUP_VIEWS, FINDINGS, findings_go, NULL},
	{"findings-back", {{TKEY_ESC, 0}, {'w', 0}}, "Esc", NULL, "back", "back", 11, GROUP_VIEWS, FINDINGS, findings_show, NULL},

	{"up",   {{TKEY_UP, LIST_UP}, {'k', LIST_UP}}, "↑ k", "Up k", "up", NULL, 0, GROUP_MOVE, VIEWS_LIST | LATENCY | INFO | FINDINGS | HELP, move, NULL},
	{"down", {{TKEY_DOWN, LIST_DOWN}, {'j', LIST_DOWN}}, "↓ j", "Down j", "down", NULL, 0, GROUP_MOVE, VIEWS_LIST | LATENCY | INFO | FINDINGS | HELP, move, NULL},
	{"page", {{TKEY_PAGE_UP, LIST_PAGE_UP}, {TKEY_PAGE_DOWN, LIST_PAGE_DOWN}, {TKEY_CTRL('b'), LIST_PAGE_UP}, {TKEY_CTRL('f'), LIST_PAGE_DOWN}},
		"PgUp PgDn ^B ^F", NULL, "page", NULL, 0, GROUP_MOVE, VIEWS_LIST | LATENCY | INFO | HELP, move, NULL},
	{"half-page", {{TKEY_CTRL('u'), LIST_HALF_UP}, {TKEY_CTRL('d'), LIST_HALF_DOWN}}, "^U ^D", NULL, "half a page", NULL, 0, GROUP_MOVE, VIEWS_LIST | LATENCY | INFO | HELP, move, NULL},
	{"findings-scroll", {{TKEY_PAGE_UP, -1}, {TKEY_PAGE_DOWN, 1}, {TKEY_CTRL('b'), -1}, {TKEY_CTRL('f'), 1}, {TKEY_CTRL('u'), -1}, {TKEY_CTRL('d'), 1}},
		"PgUp PgDn", NULL, "scroll the evidence", "evidence", 12, GROUP_MOVE, FINDINGS, findings_scroll, NULL},
	{"ends", {{'g', LIST_HOME}, {'G', LIST_END}, {TKEY_HOME, LIST_HOME}, {TKEY_END, LIST_END}}, "g G", NULL, "top, end", NULL, 0, GROUP_MOVE, VIEWS_LIST | LATENCY | INFO | FINDINGS | HELP, move, NULL},
	{"flame-move", {{TKEY_UP, FLAME_TO_ROOT}, {'k', FLAME_TO_ROOT}, {TKEY_DOWN, FLAME_TO_LEAF}, {'j', FLAME_TO_LEAF}},
		"↑↓ k j", "Up Down k j", "caller, callee", NULL, 0, GROUP_MOVE, FLAME, flame_move, NULL},
	{"flame-side", {{TKEY_LEFT, FLAME_LEFT}, {'h', FLAME_LEFT}, {TKEY_RIGHT, FLAME_RIGHT}, {'l', FLAME_RIGHT}},
		"←→ h l", "<- -> h l", "left, right", NULL, 0, GROUP_MOVE, FLAME, flame_move, NULL},
	{"choose-move", {{TKEY_UP, LIST_UP}, {TKEY_DOWN, LIST_DOWN}, {TKEY_PAGE_UP, LIST_PAGE_UP}, {TKEY_PAGE_DOWN, LIST_PAGE_DOWN}, {TKEY_HOME, LIST_HOME}},
		"↑↓", "Up Down", NULL, " choose", 1, GROUP_MOVE, PICKER, move, NULL},

	{"latency-range", {{'<', -1}, {'>', 1}}, "< >", NULL, "range of durations", "range", 13, GROUP_SHOW, LATENCY, latency_range, latency_has_range},
	{"sort", {{'<', -1}, {'>', 1}}, "< >", NULL, "sort column", "sort", 30, GROUP_SHOW, METHODS, sort_step, NULL},
	{"reverse", {{'R', 0}}, "R", NULL, "reverse", NULL, 0, GROUP_SHOW, METHODS, sort_reverse, NULL},
	{"self-total", {{'s', 0}}, "s", NULL, "self/total", "self/total", 50, GROUP_SHOW, METHODS, methods_self_total, NULL},
	{"sort-threads", {{'<', -1}, {'>', 1}}, "< >", NULL, "sort column", "sort", 30, GROUP_SHOW, THREADS, sort_step, NULL},
	{"reverse-threads", {{'R', 0}}, "R", NULL, "reverse", NULL, 0, GROUP_SHOW, THREADS, sort_reverse, NULL},
	{"merge", {{'=', 0}}, "=", NULL, "merge pool threads", " merge pools", 20, GROUP_SHOW, THREADS, threads_merge, NULL},
	{"names", {{'p', 0}}, "p", NULL, "name style", NULL, 0, GROUP_SHOW, METHODS | TREE | FLAME | CALLERS | LATENCY, name_style_step, NULL},
	{"lines", {{'L', 0}}, "L", NULL, "by line", NULL, 0, GROUP_SHOW, VIEWS_DATA & ~THREADS, search_lines, NULL},
	{"hide-frames", {{'K', 0}}, "K", NULL, "fold or hide framework, native, kernel frames", NULL, 0, GROUP_SHOW, VIEWS_DATA, search_hide, NULL},
	{"idle", {{'a', 0}}, "a", NULL, "wall: show or hide idle threads", "idle", 17, GROUP_SHOW, VIEWS_DATA & ~THREADS, search_idle, ui_may_hide_idle},
	{"peers", {{'O', 0}}, "O", NULL, "by peer, file", NULL, 0, GROUP_SHOW, VIEWS_DATA & ~THREADS, search_io, has_event_3},
	{"holders", {{'o', 0}}, "o", NULL, "lock: holders/waiters", "holders", 16, GROUP_SHOW, VIEWS_DATA & ~THREADS, events_holders, events_has_holders},
	{"pin", {{'P', 0}}, "P", NULL, "pin row", NULL, 0, GROUP_SHOW, METHODS, methods_pin, NULL},

	{"open", {{TKEY_RIGHT, 1}, {'+', 1}, {'l', 1}}, "→ +", "-> +", "expand", "expand", 10, GROUP_TREE, TREE, tree_open, NULL},
	{"close", {{TKEY_LEFT, 0}, {'-', 0}, {'h', 0}}, "← -", "<- -", "collapse", "collapse", 11, GROUP_TREE, TREE, tree_open, NULL},
	{"open-all", {{'*', 0}}, "*", NULL, "all below", " all", 14, GROUP_TREE, TREE, tree_open_all, NULL},
	{"hot-path", {{'E', 0}}, "E", NULL, "hot path", "hot path", 12, GROUP_TREE, TREE, tree_hot_path, NULL},
	{"invert", {{'i', 0}}, "i", NULL, "invert", "invert", 13, GROUP_TREE, TREE, tree_invert, NULL},
	{"hide-below", {{'%', 0}}, "%", NULL, "hide below 0.1 0.5 1 2 5 %", "hide below", 35, GROUP_TREE, TREE, tree_hide_below, NULL},
	{"zoom", {{TKEY_ENTER, 1}}, "⏎", "Enter", "zoom", "zoom", 15, GROUP_TREE, TREE, tree_zoom, NULL},
	{"unzoom", {{'u', 0}}, "u", NULL, "zoom out", "up", 16, GROUP_TREE, TREE, tree_zoom, NULL},
	{"tree-threads", {{'=', 0}}, "=", NULL, "by thread", NULL, 0, GROUP_TREE, TREE, tree_threads, NULL},
	{"flame-zoom", {{TKEY_ENTER, 1}}, "⏎", "Enter", "zoom", "zoom", 10, GROUP_TREE, FLAME, flame_zoom, NULL},
	{"flame-unzoom", {{'u', 0}}, "u", NULL, "zoom out", "zoom out", 11, GROUP_TREE, FLAME, flame_zoom, NULL},
	{"flame-flip", {{'i', 0}}, "i", NULL, "flip: root at the top or at the bottom", "flip", 12, GROUP_TREE, FLAME, flame_flip, NULL},

	{"window", {{'[', -1}, {']', 1}}, "[ ]", NULL, "window 1s 5s 10s 30s 1m all", "window", 25, GROUP_TIME, VIEWS_DATA | LATENCY | FINDINGS, window_step, NULL},
	{"freeze", {{' ', 0}, {'z', 0}, {'Z', 0}}, "space", NULL, "freeze", "freeze", 22, GROUP_TIME, VIEWS_DATA | LATENCY | FINDINGS, freeze, NULL},
	{"step", {{',', -1}, {'.', 1}}, ", .", NULL, "step 1s", NULL, 0, GROUP_TIME, VIEWS_DATA | LATENCY | FINDINGS, second_step, NULL},
	{"restart", {{'r', 0}}, "r", NULL, "restart", NULL, 0, GROUP_TIME, VIEWS_DATA | LATENCY, restart, command_can_restart},
	{"undo-restart", {{'U', 0}}, "U", NULL, "undo restart", NULL, 0, GROUP_TIME, VIEWS_DATA, restart_undo, is_restarted},
	{"delay", {{'d', 0}}, "d", NULL, "refresh 1 2 5 10s", NULL, 0, GROUP_TIME, VIEWS_DATA, delay_step, not_over},

	{"baseline", {{'B', 0}}, "B", NULL, "set baseline", NULL, 0, GROUP_TIME, VIEWS_DATA, compare_set, NULL},
	{"diff", {{'D', 0}}, "D", NULL, "compare with it", NULL, 0, GROUP_TIME, VIEWS_DATA & ~THREADS, compare_toggle, NULL},

	{"find", {{'/', 0}}, "/", NULL, "find", "find", 18, GROUP_FIND, VIEWS_DATA, search_prompt, NULL},
	{"find-next", {{'n', 1}, {'N', -1}}, "n N", NULL, "next/previous", "next", 19, GROUP_FIND, VIEWS_DATA, search_next, search_is_active},
	{"find-same", {{'#', 0}}, "#", NULL, "frames like this", NULL, 0, GROUP_FIND, VIEWS_DATA & ~THREADS, search_same, NULL},
	{"only", {{'\\', 1}, {'&', 1}}, "\\", NULL, "only stacks with a name", "filter", 21, GROUP_FIND, VIEWS_DATA, search_filter, NULL},
	{"hide", {{'!', 0}}, "!", NULL, "hide stacks with a name", NULL, 0, GROUP_FIND, VIEWS_DATA, search_filter, NULL},
	{"back", {{TKEY_ESC, 0}}, "Esc", NULL, "undo search, filter, zoom, thread; back to the findings", NULL, 0, GROUP_FIND, VIEWS_DATA & ~CALLERS, back, NULL},
	{"back-picker", {{TKEY_ESC, 0}}, "Esc", NULL, NULL, "back", 12, GROUP_FIND, PICKER, picker_back, picker_has_back},

	{"export", {{'x', 0}}, "x", NULL, "export to a file", "export", 40, GROUP_OUTPUT, VIEWS_DATA, output_dialog, NULL},
	{"latency-export", {{'x', 0}}, "x", NULL, "export the stacks of these calls", "export", 40, GROUP_OUTPUT, LATENCY, output_dialog, latency_has_range},
	{"save", {{'S', 0}}, "S", NULL, "save all (.jhot)", NULL, 0, GROUP_OUTPUT, VIEWS_DATA, output_save, NULL},
	{"copy", {{'y', 0}}, "y", NULL, "copy name", NULL, 0, GROUP_OUTPUT, VIEWS_DATA, output_copy, NULL},

	{"attach", {{TKEY_ENTER, 0}}, "⏎", "Enter", NULL, " attach", 11, GROUP_OTHER, PICKER, picker_choose, NULL},
	{"retry", {{'r', 0}}, "r", NULL, NULL, "retry", 10, GROUP_OTHER, ERROR, error_retry, NULL},
	{"details", {{'d', 0}}, "d", NULL, NULL, "details", 12, GROUP_OTHER, ERROR, error_details, NULL},
	{"copy-command", {{'y', 0}}, "y", NULL, NULL, "copy command 1", 13, GROUP_OTHER, ERROR, error_copy, NULL},
	{"error-back", {{TKEY_ESC, 0}}, "Esc", NULL, NULL, "back", 14, GROUP_OTHER, ERROR, error_back, error_has_back},
	{"other-jvm", {{'c', 0}}, "c", NULL, "other JVM", "choose another JVM", 11, GROUP_OTHER, ERROR, jvm_other, NULL},
	{"info", {{'I', 0}}, "I", NULL, "JVM info", NULL, 0, GROUP_OTHER, VIEWS_DATA | LATENCY | INFO, info_show, NULL},
	{"info-back", {{TKEY_ESC, 0}}, "Esc", NULL, "back", "back", 10, GROUP_VIEWS, INFO, info_show, NULL},
	{"other", {{'c', 0}}, "c", NULL, "other JVM", NULL, 0, GROUP_OTHER, VIEWS_DATA | LATENCY | FINDINGS | INFO, jvm_other, NULL},
	{"colors", {{'C', UI_COLORS}}, "C", NULL, "colors", NULL, 0, GROUP_OTHER, VIEWS_DATA | LATENCY, react, NULL},
	{"mouse", {{'M', UI_MOUSE}}, "M", NULL, "mouse", NULL, 0, GROUP_OTHER, VIEWS_ALL & ~ERROR & ~PICKER, mouse_switch, NULL},
	{"write-config", {{'W', 0}}, "W", NULL, "save settings", NULL, 0, GROUP_OTHER, VIEWS_DATA, command_save_settings, NULL},
	{"help", {{'?', 0}}, "?", NULL, "help", "help", 254, GROUP_OTHER, VIEWS_DATA | LATENCY | INFO | FINDINGS | HELP, help_show, NULL},
	{"close-help", {{TKEY_ESC, 0}}, "Esc", NULL, NULL, NULL, 0, GROUP_OTHER, HELP, help_show, NULL},
	{"redraw", {{TKEY_CTRL('l'), UI_REPAINT}}, "^L", NULL, "redraw", NULL, 0, GROUP_OTHER, VIEWS_ALL, react, NULL},
	{"suspend", {{TKEY_CTRL('z'), UI_SUSPEND}}, "^Z", NULL, "suspend", NULL, 0, GROUP_OTHER, VIEWS_ALL, react, NULL},
	{"quit", {{'q', 0}}, "q", NULL, "quit", "quit", 255, GROUP_OTHER, VIEWS_ALL & ~HELP & ~LATENCY, output_quit, NULL},
	{"interrupt", {{TKEY_CTRL('c'), UI_QUIT}}, "^C", NULL, NULL, NULL, 0, GROUP_OTHER, VIEWS_ALL, react, NULL},
};
/* clang-format on */
const int command_count = sizeof(commands) / sizeof(commands[0]);

bool command_is_available(const struct command *c, const struct ui *ui)
{
	enum view_id view = ui->view;

	return c->views & VIEW_BIT(view) && (!c->available || c->available(ui));
}

/* --- settings -------------------------------------------------------------------------------------- */

/*
 * Frameworks, and the parts of the JDK that only call the application's code. Not included are the JDK's collections,
 * text and compilers, which may be hot themselves.
 */
static const char *const framework_default[] = {"java.lang.reflect.", "jdk.internal.reflect.",
	"sun.reflect.", "java.lang.invoke.", "java.util.stream.",
	"java.util.concurrent.ThreadPoolExecutor", "java.util.concurrent.FutureTask",
	"java.util.concurrent.ForkJoin", "java.util.concurrent.Executors",
	"java.util.concurrent.CompletableFuture", "sun.rmi.", "org.springframework.",
	"org.apache.catalina.", "org.apache.coyote.", "org.apache.tomcat.", "org.eclipse.jetty.",
	"io.netty.", "io.undertow.", "io.quarkus.", "io.micronaut.", "io.vertx.",
	"jakarta.servlet.", "javax.servlet.", "org.hibernate.", "com.zaxxer.hikari.", "reactor.",
	"akka.", "org.glassfish.", "org.junit.", NULL};

const char *const *config_framework(const struct config *c)
{
	return c && c->framework ? (const char *const *)c->framework : framework_default;
}

/* The keys that the settings file binds to a command, or NULL. */
static const struct config_keys *command_config(const struct command *c, const struct ui *ui)
{
	const struct config *config = ui->options->config;

	return config && config->keys[c - commands].line ? &config->keys[c - commands] : NULL;
}

const struct command_key *command_keys(const struct command *c, const struct ui *ui)
{
	const struct config_keys *keys = command_config(c, ui);

	return keys ? keys->keys : c->keys;
}

const struct command *command_find(const struct ui *ui, int key, int *arg)
{
	for (int i = 0; i < command_count; i++) {
		const struct command *c = &commands[i];

		if (!command_is_available(c, ui))
			continue;
		for (const struct command_key *k = command_keys(c, ui); k->key; k++) {
			if (k->key == key) {
				*arg = k->arg;
				return c;
			}
		}
	}
	return NULL;
}

const char *command_shown(const struct command *c, const struct ui *ui)
{
	const struct config_keys *keys = command_config(c, ui);

	if (keys)
		return keys->shown;
	return c->ascii && ui->canvas->ascii ? c->ascii : c->shown;
}

unsigned command_save_settings(struct ui *ui, int arg)
{
	static const char *const names[NAME_STYLES] = {"full", "class", "method"};
	static const char *const depths[THEME_DEPTHS] = {"never", "16", "256"};
	static const char *const options[] = {[APP_COLOR_AUTO] = "auto",
		[APP_COLOR_NEVER] = "never",
		[APP_COLOR_16] = "16",
		[APP_COLOR_256] = "256"};
	char window[16];
	struct config_values values = {.event = profile_events[ui->scope.event].name,
		.window = timeline_label(&ui->scope.time, window),
		.names = names[ui->names],
		/* Unless C has changed the depth, the option is written, so that auto stays auto. */
		.color = ui->depth == ui->depth_begin ? options[ui->options->color]
						      : depths[ui->depth],
		.mouse = ui->mouse ? "on" : "off",
		.format = output_suffix(ui)};
	struct err err = {0};
	char done[320] = "";

	snprintf(values.delay, sizeof(values.delay), "%g", (double)ui->interval_ms / 1000);
	if (ui->scope.event >= EVENT_USER_FIRST)
		values.event = profile_events[EVENT_CPU].name;
	int rc = ui->ops->config_write(ui->ctx, &values, done, sizeof(done), &err);
	ui_notify(ui, rc < 0 ? STYLE_BAD : STYLE_GOOD, UI_STAY, "%s", rc < 0 ? err.what : done);
	return 0;
}
