/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's frames into the model's: ids of methods and modules become names.
 *
 * Remembers what METHOD and MODULE records said, asks symbols for native and kernel code, and keeps the answer
 * per frame. In a replay there are no symbols; names then come from FILE_SYMBOL records. Records are handed
 * over whole, with sizes checked. Memory grows with what was received, not with ids. One thread.
 */
#ifndef JHOT_SESSION_RECORD_FRAMES_H
#define JHOT_SESSION_RECORD_FRAMES_H

#include "profile/profile.h"
#include "symbols/symbols.h"
#include "wire/layout.h"

struct frames;

/* symbols: NULL in a replay. Both are the caller's. */
struct frames *frames_new(struct profile *profile, struct symbols *symbols);
void frames_free(struct frames *f);

/* From now on each name of a native or kernel frame goes into the recording, too. */
struct raw_writer;
void frames_record(struct frames *f, struct raw_writer *raw);

/* A mapped file, as frames number it. */
void frames_module(struct frames *f, uint32_t id, const struct proc_map *m);
/* Records, whose texts have been checked to lie within them. */
void frames_method(struct frames *f, const struct wire_method *rec);
void frames_symbol(struct frames *f, const struct wire_file_symbol *rec);

/*
 * frames_ready: are the files read that name a trace's frames? false begins the reading. A frame that is asked for
 * before is called by its offset, and only then: later ones get their name.
 */
bool frames_ready(const struct frames *f, const struct wire_trace *rec);
/* The model's frame for the agent's; always one. */
uint32_t frames_get(struct frames *f, uint64_t wire_frame);
/* What the model asks of a keeper (profile.h). */
void frames_keep(struct frames *f, enum profile_kind kind, bool leaving);
/* A frame that says why a stack is not what it should be: "[truncated]". */
uint32_t frames_reason(struct frames *f, const char *reason);

#endif
