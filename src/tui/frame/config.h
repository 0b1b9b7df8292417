/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of the live view as values. tui/config parses and writes the file; nothing in this folder depends on
 * that. Immutable while the view runs.
 */
#ifndef JHOT_TUI_FRAME_CONFIG_H
#define JHOT_TUI_FRAME_CONFIG_H

#include "tui/frame/command.h"
#include "tui/screen/theme.h"

/* Keys of one command that replace those of the table. */
struct config_keys {
	struct command_key keys[COMMAND_KEYS];
	char shown[40];
	int line; /* 0: not set */
};

struct config {
	/* As on the command line; -1, 0 or AUTO when not set. */
	int event, window, names;
	uint64_t delay_ms;
	int color, charset; /* enum app_color, app_charset */
	int mouse;
	int unsaved;      /* unsaved sampling time from which q asks: index into 1m 10m 1h never */
	char format[16];  /* of exports: ".svg"; "": the first format */
	char **framework; /* NULL-terminated prefixes that K hides; NULL: the built-in list */
	int framework_count;
	char **requests; /* NULL-terminated entry points for findings_set_requests; NULL: none */
	int request_count;
	struct config_keys *keys; /* per command, as in commands[] */
	bool appearance_set[STYLE_COUNT];
	struct appearance appearances[STYLE_COUNT]; /* for 16 and 256 colors */
};

/* NULL-terminated prefixes of profile_method.full. c may be NULL: the built-in list. */
const char *const *config_framework(const struct config *c);

/* The current values, as W writes them. Borrowed strings. */
struct config_values {
	const char *event, *window, *names, *color, *mouse, *format;
	char delay[16];
};

#endif
