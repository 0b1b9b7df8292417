/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the settings file says, as the live view takes it, and what is written of it back. The file itself is read and
 * written by tui/config, of which nothing here knows.
 */
#ifndef JHOT_TUI_FRAME_CONFIG_H
#define JHOT_TUI_FRAME_CONFIG_H

#include "tui/frame/command.h"
#include "tui/screen/theme.h"

/* The keys of one command in place of the table's. */
struct config_keys {
	struct command_key keys[COMMAND_KEYS];
	char shown[40];
	int line; /* 0: not set */
};

struct config {
	/* As on the command line; -1, 0 or AUTO: not set. */
	int event, window, names;
	uint64_t delay_ms;
	int color, charset; /* enum app_color, app_charset */
	int mouse;
	int unsaved;     /* how much of it q asks about: 1m 10m 1h never */
	char format[16]; /* of files: ".svg"; "" : the first */
	char **framework; /* prefixes of names that K hides, NULL at the end; NULL: the built-in ones */
	int framework_count;
	struct config_keys *keys; /* per command, as in commands[] */
	bool look_set[STYLE_COUNT];
	struct look looks[STYLE_COUNT]; /* for 16 and 256 colours */
};

/* Prefixes as profile_method.full begins with; NULL at the end. config may be NULL. settings.c */
const char *const *config_framework(const struct config *c);

/* What is written: the values of now. */
struct config_values {
	const char *event, *window, *names, *color, *mouse, *format;
	char delay[16];
};

#endif
