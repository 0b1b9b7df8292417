/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view without a terminal: its screens as plain text, or a JSON object each, on stdout.
 *
 * A live session is refreshed by the clock; a replay is stepped, as many recorded seconds per screen as there
 * are in the delay, and never waited for. SIGINT and SIGTERM end it in order. One thread.
 */
#ifndef JHOT_CLI_BATCH_H
#define JHOT_CLI_BATCH_H

#include "cli/line/args.h"
#include "cli/line/events.h"
#include "tui/frame/app.h"

struct batch {
	unsigned count; /* of screens, 0: until the session or the recording ends */
	int rows, cols; /* of a screen */
	bool json;
	bool last;        /* only the last screen, whole, with its key line */
	bool wanted;      /* any of the options was given */
	const char *keys; /* typed before the first screen, NULL: none */
};

int batch_options(struct batch *b, const struct args *args, struct err *err);
int batch_run(const struct batch *b, const struct app_ops *ops, void *ctx,
	const struct app_options *screen, const struct events *events, struct err *err);

#endif
