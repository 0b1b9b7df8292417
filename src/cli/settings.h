/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings file of the live view: where it is, reading it, and writing it whole or not at all.
 *
 * $XDG_CONFIG_HOME/jhot/config, else ~/.config/jhot/config. What stands in it is tui/config/config.h's business. One
 * thread.
 */
#ifndef JHOT_CLI_SETTINGS_H
#define JHOT_CLI_SETTINGS_H

#include "base/err.h"
#include "tui/config/config.h"

/* The settings, empty ones where there is no file; NULL with an error for a file that is wrong or unreadable. */
struct config *settings_load(struct err *err);
/* A new file on stdout, with what holds when there is none. */
void settings_print(void);
/* Bring the values into the file, folders made as needed; done gets one line for the screen. */
int settings_write(const struct config_values *values, char *done, size_t bytes, struct err *err);

#endif
