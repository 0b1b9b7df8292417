/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line and the settings say of the screen, for the verbs that draw one. */
#ifndef JHOT_CLI_SCREEN_H
#define JHOT_CLI_SCREEN_H

#include "cli/line/args.h"
#include "tui/config/config.h"
#include "tui/frame/app.h"

/* --ascii, --color, --keep, --frame-fd over the settings; the rest of *out stays. config is kept by pointer. */
int screen_options(struct app_options *out, const struct args *args, const struct config *config,
	struct err *err);

#endif
