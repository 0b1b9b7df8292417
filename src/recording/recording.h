/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings (.jhot): a profile in a file, second by second, and back. doc/recording.md has the
 * format.
 *
 * The writer follows a growing profile: it writes each second once no more samples of it can
 * arrive, and flushes about once a second, so that a file whose writer was killed lacks only its
 * last seconds. The reader feeds a profile of its caller, at once or up to a given second; that
 * profile has the same totals, stacks, threads, states and waits in the same seconds.
 *
 * Files are not trusted: reading ends at the first error, which names the byte. Chunks before it
 * are in the profile. Functions block on the file. One thread per writer or reader.
 */
#ifndef JHOT_RECORDING_RECORDING_H
#define JHOT_RECORDING_RECORDING_H

#include "base/buf.h"
#include "base/err.h"
#include "profile/profile.h"
#include "profile/vitals.h"

#include <sys/types.h>

#define RECORDING_SUFFIX ".jhot"
#define RECORDING_LABELS 32

/* --- writing ----------------------------------------------------------------------------------------- */

/* Metadata of a file. */
struct recording_meta {
	const char *host;          /* NULL: not known */
	const char *const *labels; /* "key=value" */
	int label_count;
};

struct recording_writer;
/* Creates the file, which does not have its name yet. NULL: it cannot be written, see err. */
struct recording_writer *recording_create(const char *path, struct err *err);
/*
 * Appends an uncompressed recording to a buffer instead, in whole chunks; the caller may remove
 * bytes from it between calls. Several such writers may follow a profile. They do not keep its
 * seconds from being evicted; those are then missing.
 */
struct recording_writer *recording_create_stream(struct buf *stream);
/*
 * Starts following p, which must outlive the writer or recording_finish. The file becomes visible
 * under its name, unless that name is in use: then the old file stays until the new one is
 * complete.
 */
void recording_begin(
	struct recording_writer *w, const struct profile *p, const struct recording_meta *meta);
/* The current state of the JVM, to be called about once per second. */
void recording_vitals(struct recording_writer *w, const struct vitals *v);
/* Writes the seconds that are complete. Returns 0, or -1 with an error, which is sticky. */
int recording_follow(struct recording_writer *w, struct err *err);
/* Writes the rest and moves the file to its final name. Returns 0, or -1 with an error. */
int recording_finish(struct recording_writer *w, uint64_t duration_ns, struct err *err);
/* Frees the writer. An unfinished file that is visible stays, and can be read. */
void recording_close(struct recording_writer *w);

/* Writes a whole profile at once. */
int recording_save(const char *path, const struct profile *p, const struct recording_meta *meta,
	const struct vitals *v, uint64_t duration_ns, struct err *err);

/* --- reading ----------------------------------------------------------------------------------------- */

/* True if these uncompressed bytes begin a recording; 8 are sufficient. */
bool recording_is(const void *bytes, size_t count);

struct recording;
/* A source of uncompressed bytes: returns how many it wrote, at most count; 0 at the end, -1 with an error. */
typedef ssize_t recording_input(void *ctx, void *bytes, size_t count, struct err *err);

/*
 * p: empty; it is the caller's and must outlive the recording. NULL: not a recording, or of an
 * unsupported version.
 */
struct recording *recording_open(const char *path, struct profile *p, struct err *err);
struct recording *recording_open_input(
	recording_input *fn, void *ctx, struct profile *p, struct err *err);
/*
 * Limits the profile's memory, in bytes; the default is 1 GiB. A recording that exceeds it is not
 * read any further.
 */
void recording_limit(struct recording *r, uint64_t bytes);
/*
 * Declares that the input is still growing: if it returns 0 between two chunks, recording_read
 * returns 1, and reads on when it is called again. Otherwise that is where the recording was
 * truncated.
 */
void recording_grows(struct recording *r);
/*
 * Reads all seconds before `before` (UINT32_MAX: everything). Returns 1 if there are more, 0 at the
 * end or where the file was truncated (recording_note), -1 with an error.
 */
int recording_read(struct recording *r, uint32_t before, struct err *err);
void recording_free(struct recording *r);

/* Values of the chunks that have been read. Pointers are valid until recording_free. */
const struct vitals *recording_vitals_now(const struct recording *r);
uint64_t recording_duration_ns(const struct recording *r);
const char *recording_host(const struct recording *r);
int recording_labels(const struct recording *r, const char *const **labels);
const char *recording_note(const struct recording *r); /* that the file is truncated, or "" */

#endif
