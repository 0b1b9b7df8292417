/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of the command line. Each is a const struct in a file of its name in cli/verb, and a
 * row in verbs.c.
 *
 * run prints its result on stdout and returns 0, or returns -1 with an error. main prints that
 * error on stderr and exits with its kind. Help, man page and completions are generated from these
 * rows and from the table of options.
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
	VERB_START = 1 << 11,
	VERB_SAVE = 1 << 12,
	VERB_MERGE = 1 << 13,
	VERB_RELAY = 1 << 14,
	VERB_AGENT = 1 << 15,
	VERB_PUSH = 1 << 16,
	VERB_SLOW = 1 << 17,
	VERB_ALL = ~0,
};

struct verb {
	enum verb_bit bit;
	const char *name;
	const char *synopsis; /* the arguments: "[OPTION]... PID|NAME" */
	const char *help;     /* one line, no full stop */
	const char *text;     /* paragraphs for `jhot VERB --help` and the man page; may be NULL */
	int min_operands, max_operands;
	int (*run)(const struct args *args, struct err *err);
};

/* The verb of a command line without one (`jhot`, `jhot PID`). */
#define VERB_DEFAULT "top"
/* The same if an argument is a profile (`jhot FILE`). */
#define VERB_OF_FILES "view"

extern const struct verb *const verbs[];        /* NULL at the end */
const struct verb *verb_find(const char *name); /* NULL if there is none */

#endif
