/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings file: parsed strictly, and written back with what it said otherwise left alone.
 *
 *   # a comment                       keys {                    colors {
 *   window = 30s                          freeze = z space          cursor = black on cyan bold
 *   framework = org.springframework. io.  window = ( )          }
 *   framework = io.netty.             }
 *
 * Names of keys are those of the command table, names of colours those of the styles. An unknown name, a bad
 * value, a name given twice, or a key that would mean two things in one view is an error with its line. Reading
 * and writing the file is the caller's. Heap; one thread.
 */
#ifndef JHOT_TUI_CONFIG_CONFIG_H
#define JHOT_TUI_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/err.h"
#include "tui/frame/app.h"
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
	char format[16]; /* of files: ".svg"; "" : the first */
	char **framework; /* prefixes of names that K hides, NULL at the end; NULL: the built-in ones */
	int framework_count;
	struct config_keys *keys; /* per command, as in commands[] */
	bool look_set[STYLE_COUNT];
	struct look looks[STYLE_COUNT]; /* for 16 and 256 colours */
};

/* text NULL: nothing is set. path is for messages. Never returns NULL unless err is filled. */
struct config *config_parse(const char *text, const char *path, struct err *err);
void config_free(struct config *c);

/* Prefixes as profile_method.full begins with; NULL at the end. config may be NULL. */
const char *const *config_framework(const struct config *c);

/* What is written: the values of now. */
struct config_values {
	const char *event, *window, *names, *color, *mouse, *format;
	char delay[16];
};
/*
 * config_write: the old text (NULL: there was no file) with these values in it. Comments, order, sections and
 * settings that are not among the values stay as they are.
 */
void config_write(const char *old, const struct config_values *values, struct buf *out);

#endif
