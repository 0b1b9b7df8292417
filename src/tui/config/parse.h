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
