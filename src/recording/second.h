/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a second of a profile as chunks. Names, threads, runs, waits and vitals are written once,
 * and again only when they change, so this remembers the content of the file. One thread.
 */
#ifndef JHOT_RECORDING_SECOND_H
#define JHOT_RECORDING_SECOND_H

#include "profile/calls/calls.h"
#include "profile/history.h"
#include "recording/fields.h"
#include "recording/file_ids.h"
#include "recording/out.h"

/* Zero-initialize all but the first three. */
struct second {
	struct out *out;
	const struct profile *profile;
	/* Of the second being written: for the fields that the profile does not store per second. */
	struct vitals vitals;

	/* content of the file */
	struct file_ids ids;
	struct fields_written fields;
	/* Hashes of the definitions of user events; 0: not written. */
	uint64_t events[PROFILE_EVENTS];
	struct profile_intervals intervals[PROFILE_EVENTS];
	struct written_run {
		uint32_t run, off; /* off: the end that was written, 0: none */
		bool on;
	} runs[PROFILE_EVENTS];
	struct calls_written {
		uint32_t generation;
		uint64_t next, cell; /* the next call, and tenth of a second, to examine */
		uint64_t *pending;   /* numbers of calls in progress */
		uint32_t count, cap;
		struct call_poll *polls; /* of the call being written */
	} calls;
	struct profile_run gap; /* the last one */
	struct written_wait {
		uint64_t id, hash; /* id: of the wait, + 1; 0: none */
	} * waits;

	struct written_part { /* the samples of the second and event being written */
		uint32_t stack, thread, state;
		uint64_t count, weight;
	} * parts;
	uint32_t part_count, part_cap;
};
void second_done(struct second *s);
void calls_written_done(struct calls_written *w);
/* Writes new definitions, which must precede the chunks that use them. */
void second_flush_ids(struct second *s);

/* Writes [from, to) as second `from`: one second, a merged step, or everything before the history. */
void second_write(struct second *s, uint32_t from, uint32_t to);
/* Writes the starts and stops of events up to the end of the session. */
void second_write_runs(struct second *s);
/* type: CHUNK_VITALS or CHUNK_STATE. */
void second_write_vitals(struct second *s, enum format_type type, const struct vitals *v);

/*
 * Writes the calls that have ended since the last time, and the entries up to this second. last:
 * also calls in progress.
 */
void second_write_calls(struct second *s, uint32_t second, bool last);

#endif
