/* SPDX-License-Identifier: Apache-2.0 */
/* An error on stderr: a title line, then what happened / try one of / details; and a note of one line. */
#ifndef JHOT_CLI_REPORT_H
#define JHOT_CLI_REPORT_H

#include "base/err.h"

#include <stdio.h>

void report_error(FILE *out, const struct err *err);
void report_note(FILE *out, const char *note); /* "": nothing */

#endif
