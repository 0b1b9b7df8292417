/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view without a terminal: screens as plain text, or one JSON object per screen, on
 * stdout.
 *
 * A live session is refreshed by the clock, a replay is stepped by the delay without waiting.
 * Blocks until the last screen. SIGINT and SIGTERM end it after the current screen. Installs signal
 * handlers; single-threaded.
 */
#ifndef JHOT_CLI_BATCH_H
#define JHOT_CLI_BATCH_H

#include "cli/line/args.h"
#include "cli/line/events.h"
#include "tui/frame/app.h"

struct batch {
	unsigned count; /* screens to print, 0: until the session or the recording ends */
	int rows, cols; /* of a screen */
	bool json;
	bool last;        /* print only the last screen, including its key line */
	bool wanted;      /* true with -b, --json or --dump-screen */
	const char *keys; /* pressed before the first screen; NULL: none; borrowed from args */
};

/* Fills all of *b from the command line and the size of the terminal. */
int batch_options(struct batch *b, const struct args *args, struct err *err);
/* Returns -1 with ERR_GONE if a live session ended before b->count screens. */
int batch_run(const struct batch *b, const struct app_ops *ops, void *ctx,
	const struct app_options *screen, const struct events *events, struct err *err);

#endif
