/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, made from the verb and option tables. */
#ifndef JHOT_CLI_LINE_HELP_H
#define JHOT_CLI_LINE_HELP_H

#include "cli/line/verb.h"

#include <stdio.h>

void help_main(FILE *out);
void help_verb(FILE *out, const struct verb *verb);

/*
 * help_wrap: the text with a left margin, lines broken between words before column 80; '\n' breaks too.
 * column: where the cursor stands now.
 */
void help_wrap(FILE *out, int column, int margin, const char *text);

#endif
