/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of options, and command lines parsed by it.
 *
 * Supports long and short options, "--name=value", "-n5", bundled flags and "--". An option that
 * the verb does not have is an error that suggests the nearest one. struct args borrows argv;
 * args_done frees its arrays.
 */
#ifndef JHOT_CLI_LINE_ARGS_H
#define JHOT_CLI_LINE_ARGS_H

#include "base/err.h"

#include <stdbool.h>

struct verb;

enum option_id {
	OPT_HELP,
	OPT_VERSION,
	OPT_JSON,
	OPT_CALLS,
	OPT_LATENCY,
	OPT_LONGER,
	OPT_SHORTER,
	OPT_EVENT,
	OPT_DURATION,
	OPT_WHY,
	OPT_DELAY,
	OPT_INTERVAL,
	OPT_ONLY_THREADS,
	OPT_USER,
	OPT_KERNEL,
	OPT_LIVE,
	OPT_ENGINE,
	OPT_BUDGET,
	OPT_DEPTH,
	OPT_KEEP_TOP,
	OPT_KEEP_ROOT,
	OPT_INCLUDE,
	OPT_EXCLUDE,
	OPT_THREADS,
	OPT_TOTAL,
	OPT_ANNOTATE,
	OPT_DOT,
	OPT_IO,
	OPT_HOLDERS,
	OPT_FOLD,
	OPT_OUTPUT,
	OPT_FORMAT,
	OPT_LABEL,
	OPT_TITLE,
	OPT_FROM,
	OPT_TO,
	OPT_MEMORY,
	OPT_LAST,
	OPT_SSH,
	OPT_ALL,
	OPT_LOADED,
	OPT_REQUESTS,
	OPT_TOKEN,
	OPT_MODE,
	OPT_FAIL_OVER,
	OPT_ROWS,
	OPT_MINWIDTH,
	OPT_REVERSE,
	OPT_INVERTED,
	OPT_COLORS,
	OPT_WIDTH,
	OPT_VIEW,
	OPT_TAKE_OVER,
	OPT_AGENT,
	OPT_REPLAY,
	OPT_CLOCK,
	OPT_ASCII,
	OPT_COLOR,
	OPT_KEEP,
	OPT_BATCH,
	OPT_SCREENS,
	OPT_DUMP_SCREEN,
	OPT_KEYS,
	OPT_PRINT_CONFIG,
	OPT_FRAME_FD,
	OPT_ROTATE,
	OPT_KEEP_FILES,
	OPT_WHEN,
	OPT_BEFORE,
	OPT_AFTER,
	OPT_AT_MOST,
	OPT_EXEC,
	OPT_FRACTION,
	OPT_PUSH,
	OPT_HEADER,
	OPT_TOKEN_FILE,
	OPT_CA_FILE,
	OPT_TIMEOUT,
	OPT_COUNT
};

/* Two rows may share a letter if no verb has both. */
struct option_def {
	enum option_id id;
	const char *name; /* without the dashes */
	char letter;      /* 0: none */
	const char *arg;  /* name of its value in help texts; NULL: a flag */
	unsigned verbs;   /* bits of enum verb_bit */
	const char *help; /* one sentence without full stop; NULL: for tests only, undocumented */
};
extern const struct option_def options[]; /* name == NULL at the end */

struct args {
	const struct verb *verb;
	struct args_value {
		enum option_id id;
		const char *value; /* "" for a flag */
	} * values;                /* in the order given */
	int value_count;
	const char **operands;
	int operand_count;
	int operands_before; /* number of operands before "--"; -1: no "--" */
};

/* argv: the words after the verb. On an error nothing is left to free. */
int args_parse(
	struct args *args, const struct verb *verb, int argc, char *const *argv, struct err *err);
void args_done(struct args *args);

bool args_has(const struct args *args, enum option_id id);
const char *args_get(
	const struct args *args, enum option_id id); /* the last one's value, NULL if none */
int args_count(const struct args *args, enum option_id id);
const char *args_nth(const struct args *args, enum option_id id, int n); /* NULL past the end */

#endif
