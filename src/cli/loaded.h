/* SPDX-License-Identifier: Apache-2.0 */
/* The options of an agent that a JVM loads at its start, as a command line of `jhot record`. Single-threaded. */
#ifndef JHOT_CLI_LOADED_H
#define JHOT_CLI_LOADED_H

#include "base/err.h"

#define LOADED_WORDS 128

struct loaded {
	char *words[LOADED_WORDS]; /* as argv: "--event=cpu", ..., the pid; owned */
	int count;
};

/* text: "TOKEN,OPTION,OPTION=VALUE,...". Call loaded_done afterwards, also on failure. */
int loaded_parse(struct loaded *l, const char *text, const char *pid, struct err *err);
void loaded_done(struct loaded *l);

#endif
