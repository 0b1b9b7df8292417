/* SPDX-License-Identifier: Apache-2.0 */
/* The hot methods of an event as text: what `jhot record` prints when no file is asked for. */
#ifndef JHOT_CLI_HOT_H
#define JHOT_CLI_HOT_H

#include "cli/outputs.h"

#include <stdio.h>

/* Shares are of time, bytes, waiting: of what the samples stand for, not of their number. */
/*
 * What closes a recording of files: of each event its engine, intervals, time and losses; hot_print tells the same of its
 * event. hot_losses: what was lost, by name, if anything was.
 */
void hot_closing(FILE *out, const struct outputs_source *source, const struct events *events);
void hot_losses(FILE *out, const struct vitals *v);

void hot_print(FILE *out, const struct outputs_source *source, int event, const struct outputs *o);

#endif
