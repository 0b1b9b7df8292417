/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded session: the agent's header and records as they came, and what makes them readable elsewhere.
 *
 * Layout: struct wire_header, FILE_TARGET, then ring records in their order, with FILE_SYMBOL before the first
 * trace that needs it and FILE_STATUS, FILE_VITALS about once a second. The file has its name from the first event
 * on, and one that was cut off is readable up to there; where there is an older one, that stays until the new one is
 * whole. One thread.
 */
#ifndef JHOT_SESSION_RECORD_RAW_H
#define JHOT_SESSION_RECORD_RAW_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"
#include "profile/profile.h"
#include "profile/vitals.h"
#include "wire/layout.h"

struct raw_writer;
/* raw_create: can it be written? Before anything is attached. raw_begin: what it starts with. */
struct raw_writer *raw_create(const char *path, struct err *err);
void raw_begin(struct raw_writer *w, const struct wire_header *header, const struct hotspot *jvm);
/* Writing is buffered; the first failure sticks and raw_failed says so. */
void raw_record(struct raw_writer *w, const void *record, size_t size);
void raw_symbol(
	struct raw_writer *w, uint64_t frame, char kind, const char *name, const char *module);
void raw_status(
	struct raw_writer *w, const struct wire_status *status, const struct vitals *vitals);
/* what: of a user event that goes on; else NULL. The first that goes on gives the file its name. */
void raw_event(struct raw_writer *w, uint64_t time_ns, int event, bool on,
	const struct profile_event *what);
/* raw_failed: -1 with the sentence if anything could not be written. */
int raw_failed(const struct raw_writer *w, struct err *err);
/* raw_finish: all of it is in the file, in place of an older one; -1: it is not, which stays. Then nothing is written. */
int raw_finish(struct raw_writer *w, struct err *err);
void raw_close(struct raw_writer
		*w); /* finishes it, too; one in which no event was switched on leaves nothing */

/* --- reading ----------------------------------------------------------------------------------------- */

struct raw_reader;
/* raw_open: header and target checked. Errors are ERR_INPUT and name the offset. */
struct raw_reader *raw_open(
	const char *path, struct wire_header *header, struct hotspot *jvm, struct err *err);
/*
 * raw_next: the next record, valid until the next call. 1, 0 at the end, -1 with an error (a damaged size, or
 * the file ends within a record).
 */
int raw_next(struct raw_reader *r, const struct wire_record **rec, uint32_t *size, struct err *err);
uint64_t raw_offset(const struct raw_reader *r); /* of the record that raw_next gave last */
void raw_close_reader(struct raw_reader *r);

#endif
