/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Help texts, generated from the tables of verbs and options. The caller checks the stream for errors.
 * Single-threaded.
 */
#ifndef JHOT_CLI_LINE_HELP_H
#define JHOT_CLI_LINE_HELP_H

#include "cli/line/verb.h"

#include <stdio.h>

void help_main(FILE *out);
void help_verb(FILE *out, const struct verb *verb);

/*
 * Prints a text with a left margin, wrapped between words at column 80 and broken at '\n'. A line
 * that begins with a blank is printed as it is. column: the current column of the output.
 */
void help_wrap(FILE *out, int column, int margin, const char *text);

#endif
