/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text on a terminal: the hot methods of an event, or, when files are written, a summary of the sampling. Shares are of
 * weights (time, bytes), not of sample counts.
 */
#ifndef JHOT_CLI_OUTPUTS_HOT_H
#define JHOT_CLI_OUTPUTS_HOT_H

#include "cli/outputs/outputs.h"

/* Prints one event: header, methods, and depending on event and options allocation or lock sites, states, threads. */
void hot_print(FILE *out, const struct outputs_source *source, const struct profile_query *query,
	const struct outputs *o);
/* For each event: engine, intervals, duration, samples in the files and losses. hot_losses: nonzero loss counters. */
void hot_closing(FILE *out, const struct outputs_source *source, const struct outputs *o,
	const struct events *events);
void hot_losses(FILE *out, const struct vitals *v);

#endif
