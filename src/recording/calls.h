/* SPDX-License-Identifier: Apache-2.0 */
/* Measured calls (profile/calls/calls.h) in recordings. Private to this folder. */
#ifndef JHOT_RECORDING_CALLS_H
#define JHOT_RECORDING_CALLS_H

#include "recording/reader.h"
#include "recording/second.h"

/* Writes the calls that have ended since the last time, and the entries up to this second. last: also calls in progress. */
void second_write_calls(struct second *s, uint32_t second, bool last);

/* The content of each type of chunk. */
void chunks_read_measured(struct recording *r, struct format_cursor *c);
void chunks_read_calls(struct recording *r, struct format_cursor *c);
void chunks_read_entries(struct recording *r, struct format_cursor *c);

#endif
