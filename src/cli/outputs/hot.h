/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording is told of on a terminal: the hot methods of an event, or, beside files, how it went. Shares are of time,
 * bytes, waiting: of what the samples stand for, not of their number.
 */
#ifndef JHOT_CLI_OUTPUTS_HOT_H
#define JHOT_CLI_OUTPUTS_HOT_H

#include "cli/outputs/outputs.h"

/* o: what was asked for, of which this is the query. */
void hot_print(FILE *out, const struct outputs_source *source, const struct profile_query *query,
	const struct outputs *o);
/*
 * What closes a recording of files: of each event its engine, intervals, time, samples that are in the files, and
 * losses; hot_print tells the same of its event. hot_losses: what was lost, by name, if anything was.
 */
void hot_closing(FILE *out, const struct outputs_source *source, const struct outputs *o,
	const struct events *events);
void hot_losses(FILE *out, const struct vitals *v);

#endif
