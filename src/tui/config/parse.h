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
