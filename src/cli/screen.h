/* SPDX-License-Identifier: Apache-2.0 */
/* Screen options from the command line and the settings file, for the verbs that draw a screen. */
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

#endif
