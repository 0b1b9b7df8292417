/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All keys: one const table, from which the key map, the key line and the help screen come.
 *
 * A command has up to four keys, each with an argument for its function; it is there in the views of its
 * mask and while available() says so. A key that has no row is "no such key". Tests read the table: no
 * key twice in a view.
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
	const char *name;                      /* for the config and for tests, unique: "window" */
	struct command_key keys[COMMAND_KEYS]; /* ends with key 0 */
	const char *shown, *ascii;             /* how the keys are written; ascii NULL: the same */
	const char *help;                      /* NULL: not listed in help */
	const char *line;                      /* label in the key line, NULL: not there */
	uint8_t place;  /* in the key line, smallest first; from 254 on never left out */
	uint8_t group;  /* enum command_group */
	unsigned views; /* VIEW_BIT ... */
	unsigned (*run)(struct ui *ui, int arg); /* returns reactions */
	bool (*available)(const struct ui *ui);  /* NULL: always */
};

extern const struct command commands[];
extern const int command_count;

/* The command of a key in the present view; NULL: none. arg gets the key's argument. */
const struct command *command_find(const struct ui *ui, int key, int *arg);
bool command_here(const struct command *c, const struct ui *ui);
/* Can it be begun anew: from now on, or, where only the session was lost, with the same JVM? */
bool command_can_restart(const struct ui *ui);
/* Its keys, the settings file's if that names some; ends with key 0. */
const struct command_key *command_keys(const struct command *c, const struct ui *ui);
const char *command_shown(const struct command *c, const struct ui *ui);

unsigned command_save_settings(struct ui *ui, int arg);

/* Functions that live with their view. */
unsigned methods_self_total(struct ui *ui, int arg);
unsigned methods_pin(struct ui *ui, int arg);
unsigned methods_callers(struct ui *ui, int arg);
unsigned threads_merge(struct ui *ui, int arg);
unsigned threads_only(struct ui *ui, int arg);
unsigned tree_open(struct ui *ui, int open);
unsigned tree_open_all(struct ui *ui, int arg);
unsigned tree_hot_path(struct ui *ui, int arg);
unsigned tree_invert(struct ui *ui, int arg);
unsigned tree_hide_below(struct ui *ui, int arg);
unsigned tree_zoom(struct ui *ui, int in);
unsigned tree_threads(struct ui *ui, int arg);
unsigned tree_callers(struct ui *ui, int arg);
unsigned flame_move(struct ui *ui, int direction);
unsigned flame_zoom(struct ui *ui, int in);
unsigned flame_flip(struct ui *ui, int arg);
unsigned flame_callers(struct ui *ui, int arg);
/* Show the tree of one method: who calls it (inverted) or what it calls. */
void tree_of_method(struct ui *ui, uint32_t method, bool inverted);
/* Show the list with the cursor on this one; methods by their total. */
void threads_select(struct ui *ui, uint32_t thread);
void methods_select(struct ui *ui, uint32_t method);
/* Show a method between its callers and callees; Esc leads back to where this was asked for. */
void callers_of_method(struct ui *ui, uint32_t method);
unsigned callers_walk(struct ui *ui, int arg);
unsigned callers_tree(struct ui *ui, int arg);
unsigned info_show(struct ui *ui, int arg);     /* and back */
unsigned findings_show(struct ui *ui, int arg); /* and back */
unsigned findings_scroll(struct ui *ui, int direction);
unsigned findings_go(struct ui *ui, int arg); /* to what the selected one is about */
unsigned picker_choose(struct ui *ui, int arg);
unsigned picker_back(struct ui *ui,
	int arg); /* what is typed goes, then: to the JVM that is looked at meanwhile */
bool picker_has_back(const struct ui *ui);
unsigned error_details(struct ui *ui, int arg);
unsigned error_retry(struct ui *ui, int arg);
unsigned error_back(struct ui *ui, int arg); /* to the session that goes on */
bool error_has_back(const struct ui *ui);
unsigned error_copy(struct ui *ui, int arg);

#endif
