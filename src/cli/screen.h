/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Screen options from the command line and the settings file, for the verbs that draw a screen.
 *
 * The settings file is $XDG_CONFIG_HOME/jhot/config or ~/.config/jhot/config; tui/config/config.h
 * defines its content. Functions on it block for the file system. Single-threaded.
 */
#ifndef JHOT_CLI_SCREEN_H
#define JHOT_CLI_SCREEN_H

#include "cli/line/args.h"
#include "tui/config/config.h"
#include "tui/frame/app.h"

/* Sets charset, color, keep and frame_fd; the command line overrides the settings. *out borrows config. */
int screen_options(struct app_options *out, const struct args *args, const struct config *config,
	struct err *err);

/* 0 when stdin and stdout are terminals; else -1 with an error: `what` needs a terminal. */
int screen_check_terminal(const char *what, struct err *err);

/* The settings; empty without a file. NULL with an error if the file is invalid or unreadable. */
struct config *settings_load(struct err *err);
/* Prints a settings file with the defaults on stdout. */
void settings_print(void);
/* Writes the values into the file, creating folders; done receives one line for the screen. */
int settings_write(const struct config_values *values, char *done, size_t bytes, struct err *err);

#endif
