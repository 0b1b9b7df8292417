/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command table: the only source of the key bindings, the key line and the help screen.
 *
 * A command has up to COMMAND_KEYS - 1 keys, each with an argument for its function. It is available in the views of
 * its mask while available() returns true. A test ensures that no view has two commands on one key. Constant data;
 * the functions run on the thread of the view.
 */
#ifndef JHOT_TUI_FRAME_COMMAND_H
#define JHOT_TUI_FRAME_COMMAND_H

#include "tui/frame/ui.h"

#define COMMAND_KEYS 10

enum command_group {
	GROUP_EVENTS,
	GROUP_VIEWS,
	GROUP_MOVE,
	GROUP_SHOW,
	GROUP_TREE,
	GROUP_TIME,
	GROUP_FIND,
	GROUP_OUTPUT,
	GROUP_OTHER,
	GROUP_COUNT
};
extern const char *const command_groups[GROUP_COUNT]; /* "EVENTS" */

struct command_key {
	int key, arg;
};

struct command {
	const char *name;                      /* unique, as in the settings file: "window" */
	struct command_key keys[COMMAND_KEYS]; /* terminated by key 0 */
	const char *shown, *ascii;             /* the keys as displayed; ascii NULL: the same */
	const char *help;                      /* NULL: not listed in the help */
	const char *line;                      /* label in the key line; NULL: not shown there */
	uint8_t line_order; /* in the key line; 254 and above are never dropped */
	uint8_t group;      /* enum command_group */
	unsigned views;     /* VIEW_BIT ... */
	unsigned (*run)(struct ui *ui, int arg); /* returns enum ui_reaction bits */
	bool (*available)(const struct ui *ui);  /* NULL: always */
};

extern const struct command commands[];
extern const int command_count;

/* The command bound to a key in the current view, or NULL. Stores the key's argument in *arg. */
const struct command *command_find(const struct ui *ui, int key, int *arg);
/* True when the command is available in the current view. */
bool command_is_available(const struct command *c, const struct ui *ui);
/* True while r can restart: the session runs, or it was lost while its JVM still runs. */
bool command_can_restart(const struct ui *ui);
/* The command's keys, as overridden by the settings file; terminated by key 0. */
const struct command_key *command_keys(const struct command *c, const struct ui *ui);
const char *command_shown(const struct command *c, const struct ui *ui);

/* Writes the current values to the settings file (ops->config_write). */
unsigned command_save_settings(struct ui *ui, int arg);

/*
 * Commands implemented by the views, and functions by which one view opens another. Those without a remark are the run and
 * available functions of rows of the table.
 */

/* The methods. */
unsigned methods_self_total(struct ui *ui, int arg);
unsigned methods_pin(struct ui *ui, int arg);
/* Opens the list, sorted by TOTAL%, with the cursor on this row. */
void methods_select(struct ui *ui, uint32_t method);

/* The threads. */
unsigned threads_merge(struct ui *ui, int arg);
unsigned threads_only(struct ui *ui, int arg);
/* Opens the list with the cursor on this row. */
void threads_select(struct ui *ui, uint32_t thread);

/* The tree. */
unsigned tree_open(struct ui *ui, int open);
unsigned tree_open_all(struct ui *ui, int arg);
unsigned tree_hot_path(struct ui *ui, int arg);
unsigned tree_invert(struct ui *ui, int arg);
unsigned tree_hide_below(struct ui *ui, int arg);
unsigned tree_zoom(struct ui *ui, int in);
unsigned tree_threads(struct ui *ui, int arg);
/* Opens the tree of one method: its callers (inverted) or its callees. */
void tree_of_method(struct ui *ui, uint32_t method, bool inverted);

/* The flame graph. */
unsigned flame_move(struct ui *ui, int direction);
unsigned flame_zoom(struct ui *ui, int in);
unsigned flame_flip(struct ui *ui, int arg);

/* Callers and callees. */
unsigned callers_walk(struct ui *ui, int arg);
unsigned callers_tree(struct ui *ui, int arg);
/* Opens a method between its callers and callees; Esc returns to the current view. */
void callers_of_method(struct ui *ui, uint32_t method);

/* The latency of calls. */
unsigned latency_open(struct ui *ui, int arg); /* the timeline of the selected call */
bool latency_can_open(const struct ui *ui);
unsigned latency_range(struct ui *ui, int direction); /* which calls are compared with the others */
bool latency_has_range(const struct ui *ui);          /* no timeline is shown */
unsigned latency_tree(struct ui *ui, int arg);        /* their call tree */
bool latency_has_calls(const struct ui *ui);          /* no timeline or tree is shown */
unsigned latency_back(struct ui *ui, int arg);
unsigned latency_restart(struct ui *ui);
/* Opens the latency of a method's calls; Esc returns to the current view. PROFILE_NONE: does nothing. */
unsigned latency_of_method(struct ui *ui, uint32_t method);
/* The window that [ and ] change, an index into timeline_windows: this view may have its own. */
int *latency_window(struct ui *ui);

/* JVM info and findings. The first of each toggles the view. */
unsigned info_show(struct ui *ui, int arg);
unsigned findings_show(struct ui *ui, int arg);
unsigned findings_scroll(struct ui *ui, int direction);
unsigned findings_go(struct ui *ui, int arg); /* to the subject of the selected finding */

/* The picker, and the error screen. Their back functions return to the running session. */
unsigned picker_choose(struct ui *ui, int arg);
unsigned picker_back(struct ui *ui, int arg); /* first clears the filter text */
bool picker_has_back(const struct ui *ui);
bool picker_is_listing(const struct ui *ui); /* it is shown, and its list is incomplete */
unsigned error_details(struct ui *ui, int arg);
unsigned error_retry(struct ui *ui, int arg);
unsigned error_back(struct ui *ui, int arg);
bool error_has_back(const struct ui *ui);
unsigned error_copy(struct ui *ui, int arg);

#endif
