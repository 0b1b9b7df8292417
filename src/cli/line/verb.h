/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verb of the command line: one file of its name in cli/verb that defines one const struct, one row in verbs.c.
 *
 * run prints its result on stdout and returns 0, or returns -1 with an error that main prints on stderr
 * and whose kind becomes the exit code. Help, man page and completions are made from these rows and from
 * the options table (options.c).
 */
#ifndef JHOT_CLI_LINE_VERB_H
#define JHOT_CLI_LINE_VERB_H

#include "base/err.h"
#include "cli/line/args.h"

/* Bits of struct option_def.verbs; a verb has exactly one. */
enum verb_bit {
	VERB_TOP = 1 << 0,
	VERB_LIST = 1 << 1,
	VERB_RECORD = 1 << 2,
	VERB_STATUS = 1 << 3,
	VERB_STOP = 1 << 4,
	VERB_DUMP = 1 << 5,
	VERB_EVENTS = 1 << 6,
	VERB_WHY = 1 << 7,
	VERB_CONVERT = 1 << 8,
	VERB_VIEW = 1 << 9,
	VERB_DIFF = 1 << 10,
	VERB_ALL = ~0,
};

struct verb {
	enum verb_bit bit;
	const char *name;
	const char *synopsis; /* what follows the name: "[OPTION]... PID|NAME" */
	const char *help;     /* one line, no full stop */
	const char *text;     /* paragraphs for `jhot VERB --help` and the man page; may be NULL */
	int min_operands, max_operands;
	int (*run)(const struct args *args, struct err *err);
};

/* The verb that a command line without one means (`jhot`, `jhot PID`). */
#define VERB_DEFAULT "top"
/* The same where a word is a profile (`jhot FILE`). */
#define VERB_OF_FILES "view"

extern const struct verb *const verbs[];        /* NULL at the end */
const struct verb *verb_find(const char *name); /* NULL if there is none */

#endif
