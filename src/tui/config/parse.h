/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the settings parser, shared by the files of this folder. */
#ifndef JHOT_TUI_CONFIG_PARSE_H
#define JHOT_TUI_CONFIG_PARSE_H

#include "tui/config/config.h"

struct config_line { /* one line, without its comment and surrounding blanks */
	const char *path;
	int number;
	char name[64], value[512];
};

enum config_kind {
	CONFIG_EMPTY,
	CONFIG_VALUE, /* name = value */
	CONFIG_LONG,  /* a value longer than config_line.value */
	CONFIG_OPEN,  /* name { */
	CONFIG_CLOSE, /* } */
	CONFIG_OTHER
};
enum config_kind config_read(const char *text, size_t len, struct config_line *l);

/* The settings that W writes come first, in the order of struct config_values. */
#define SETTINGS         10
#define SETTINGS_WRITTEN 7
extern const struct setting {
	const char *name;
	const char *words;   /* allowed values: the index of the value is stored */
	const char *comment; /* comment in a file that W creates; NULL: the words */
	size_t at;           /* offset in struct config of the int that is set, */
	int (*set)(struct config *c, const struct config_line *l,
		struct err *err); /* or a function that parses the value */
} settings[SETTINGS];

/* Fills err with a message that names the line. Returns -1. */
int config_refuse(const struct config_line *l, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Copies the next blank-separated word of *s to out and advances *s. Returns false at the end. */
bool config_word(const char **s, char *out, size_t bytes);

int config_set_keys(struct config *c, const struct config_line *l, struct err *err);
int config_set_color(struct config *c, const struct config_line *l, struct err *err);
/* Fails when one key is bound to two commands of a view. */
int config_check_keys(const struct config *c, const char *path, struct err *err);

#endif
