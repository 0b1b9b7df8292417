/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings, .jhot: a profile as it grows, second by second, in a file, and back.
 *
 * The writer follows a profile that somebody feeds: a second is written when it cannot change any more, and some are on
 * their way to the disk each second, so a file whose writer was killed is good but for its last few. The reader feeds a
 * profile of its caller's, at once or second by second; the same totals, stacks, threads, states, waits are in it, in the same seconds. A file
 * may say anything: what cannot be ends in an error with its place, and what stood before is there. One thread.
 */
#ifndef JHOT_RECORDING_RECORDING_H
#define JHOT_RECORDING_RECORDING_H

#include "base/err.h"
#include "profile/profile.h"
#include "profile/vitals.h"

#include <sys/types.h>

#define RECORDING_SUFFIX ".jhot"
#define RECORDING_LABELS 32

/* --- writing ----------------------------------------------------------------------------------------- */

/* What a file says beside the profile and its vitals. */
struct recording_meta {
	const char *host;          /* NULL: not known */
	const char *const *labels; /* "key=value" */
	int label_count;
};

struct recording_writer;
/* recording_create: can it be written? Nothing is to be seen of it yet. */
struct recording_writer *recording_create(const char *path, struct err *err);
/*
 * recording_begin: there is something to write; from here on the file has its name, unless an older one has it, which
 * stays until the new one is whole.
 */
void recording_begin(
	struct recording_writer *w, const struct profile *p, const struct recording_meta *meta);
/* How the JVM is now; about once a second. */
void recording_vitals(struct recording_writer *w, const struct vitals *v);
/* recording_follow: the seconds that are over are written. -1: the file could not be written; it is not tried again. */
int recording_follow(struct recording_writer *w, struct err *err);
/* recording_finish: all is in the file, under its name. The profile may go then. */
int recording_finish(struct recording_writer *w, uint64_t duration_ns, struct err *err);
/* recording_close: frees; the file of one that was begun and not finished stays as it is. Before its profile goes. */
void recording_close(struct recording_writer *w);

/* recording_save: all of that in one. */
int recording_save(const char *path, const struct profile *p, const struct recording_meta *meta,
	const struct vitals *v, uint64_t duration_ns, struct err *err);

/* --- reading ----------------------------------------------------------------------------------------- */

/* Are these the first bytes of a recording, unpacked? 8 are enough. */
bool recording_is(const void *bytes, size_t count);

struct recording;
/* The unpacked bytes of a file, from anywhere: so many at most; 0: the end, -1: no more can be had, err says why. */
typedef ssize_t recording_input(void *ctx, void *bytes, size_t count, struct err *err);

/* The profile is the caller's, fresh, and outlives the recording. NULL: it is none, or of a version that cannot be read. */
struct recording *recording_open(const char *path, struct profile *p, struct err *err);
struct recording *recording_open_input(
	recording_input *fn, void *ctx, struct profile *p, struct err *err);
/*
 * recording_read: takes in all seconds before this one (UINT32_MAX: all there are). 1: there are more; 0: that was the
 * end, or the file was cut off there (recording_note); -1: it is damaged. What stood before that is in the profile.
 */
int recording_read(struct recording *r, uint32_t before, struct err *err);
void recording_free(struct recording *r);

/* As of what has been read. */
const struct vitals *recording_vitals_now(const struct recording *r);
uint64_t recording_duration_ns(const struct recording *r);
const char *recording_host(const struct recording *r);
int recording_labels(const struct recording *r, const char *const **labels);
const char *recording_note(const struct recording *r); /* that it was cut off; or "" */

#endif
