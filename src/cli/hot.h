/* SPDX-License-Identifier: Apache-2.0 */
/* The hot methods of an event as text: what `jhot record` prints when no file is asked for. */
#ifndef JHOT_CLI_HOT_H
#define JHOT_CLI_HOT_H

#include "cli/outputs.h"

#include <stdio.h>

/* Shares are of time, bytes, waiting: of what the samples stand for, not of their number. */
void hot_print(FILE *out, const struct outputs_source *source, int event, const struct outputs *o);

#endif
