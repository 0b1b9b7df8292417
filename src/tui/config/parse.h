/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the settings parser share; for the files of this folder only. */
#ifndef JHOT_TUI_CONFIG_PARSE_H
#define JHOT_TUI_CONFIG_PARSE_H

#include "tui/config/config.h"

struct config_line { /* name = value, blanks and comment taken off */
	const char *path;
	int number;
	char name[64], value[512];
};

enum config_kind {
	CONFIG_EMPTY,
	CONFIG_VALUE, /* name = value */
	CONFIG_LONG,  /* a value that there is no space for */
	CONFIG_OPEN,  /* name { */
	CONFIG_CLOSE, /* } */
	CONFIG_OTHER
};
enum config_kind config_read(const char *text, size_t len, struct config_line *l);

/* Those that W writes stand first, in the order of struct config_values. */
#define SETTINGS         10
#define SETTINGS_WRITTEN 7
extern const struct setting {
	const char *name;
	const char *words;   /* its value is the place of one of them, */
	const char *comment; /* in a file that W makes; NULL: the words */
	size_t at;           /* stored here in struct config; */
	int (*set)(
		struct config *c, const struct config_line *l, struct err *err); /* else by this */
} settings[SETTINGS];

/* An error of this line; -1. */
int config_refuse(const struct config_line *l, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The next word of *s into out; false at the end. */
bool config_word(const char **s, char *out, size_t bytes);

int config_set_keys(struct config *c, const struct config_line *l, struct err *err);
int config_set_look(struct config *c, const struct config_line *l, struct err *err);
/* No key may stand for two commands in one view. */
int config_check_keys(const struct config *c, const char *path, struct err *err);

#endif
