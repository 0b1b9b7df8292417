/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second of a profile as chunks, and what the file has been told before: only what is new of names, threads, runs,
 * waits and vitals is told again. One thread.
 */
#ifndef JHOT_RECORDING_SECOND_H
#define JHOT_RECORDING_SECOND_H

#include "profile/whole.h"
#include "recording/fields.h"
#include "recording/out.h"
#include "recording/told.h"

/* Zero-initialised but for the first three. */
struct second {
	struct out *out;
	const struct profile *profile;
	struct vitals vitals; /* of what the profile does not keep of each second: as it was then */

	/* what was told */
	struct told told;
	struct fields_told fields;
	uint64_t events[PROFILE_EVENTS]; /* hashes of what user events are called; 0: not told */
	struct profile_intervals intervals[PROFILE_EVENTS];
	struct run_told {
		uint32_t run, off; /* off: the end that was told, 0: none */
		bool on;
	} runs[PROFILE_EVENTS];
	struct profile_run gap; /* the last */
	struct wait_told {
		uint64_t number, hash; /* number + 1 */
	} * waits;

	struct written_part { /* of a second of an event */
		uint32_t stack, thread, state;
		uint64_t count, weight;
	} * parts;
	uint32_t part_count, part_cap;
};
void second_done(struct second *s);

/* The samples of [from, to) are of second from, or of the step that begins with it, or of all before what is held. */
void second_write(struct second *s, uint32_t from, uint32_t to);
/* When each event went on and off up to the end, as far as it was not told. */
void second_put_runs(struct second *s);
/* As CHUNK_VITALS or CHUNK_STATE. */
void second_put_vitals(struct second *s, enum format_type type, const struct vitals *v);

#endif
