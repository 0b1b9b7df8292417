/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading profiles that others wrote, or jhot itself: one file and one table row per format.
 *
 * A file may say anything: whatever is wrong with it ends in an error of ERR_INPUT that names the line or the byte, and
 * names are clean before the profile has them. Compressed files (gzip, zstd, xz, lz4) are read as what they hold. Memory is that of the
 * profile, which has a limit, and of one piece of the file. One thread.
 */
#ifndef JHOT_IMPORT_IMPORT_H
#define JHOT_IMPORT_IMPORT_H

#include "base/err.h"
#include "profile/profile.h"
#include "profile/vitals.h"

#define IMPORT_MEMORY ((uint64_t)1 << 30) /* bytes of a profile, if nothing else is asked for */
#define IMPORT_LABELS 32
#define IMPORT_STDIN  "-"

/* What was read. */
struct imported {
	const struct import_format *format;
	struct profile *profile; /* its start is 0 if that is not known */
	/* Who was sampled, as far as the file tells: pid, name, jdk, command, engines and intervals of events. */
	struct vitals vitals;
	char host[256];
	uint64_t duration_ns; /* 0: not known */
	bool timed;           /* its samples are in their seconds; else all are in second 0 */
	char *labels[IMPORT_LABELS]; /* "key=value" */
	int label_count;
	char note[400]; /* what is missing in it: sentences, or "" */
};

struct import_options {
	/* Asked some ten times a second: so many of the file's bytes are read (total 0: not known). false: give up. May be NULL. */
	bool (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
	uint64_t memory; /* 0: IMPORT_MEMORY */
};

/* path: or IMPORT_STDIN. options may be NULL. NULL: err says why. */
struct imported *import_read(
	const char *path, const struct import_options *options, struct err *err);
void import_free(struct imported *i);
/* Is it a file that import_read would try, by its name or by its first bytes? */
bool import_takes(const char *path);

/*
 * Several as one: events by name, threads by their names and numbers. Those with time lie where the wall clock has them. What
 * all say alike of the process is kept. The list stays the caller's. NULL: err says why.
 */
struct imported *import_merge(struct imported *const *list, int count,
	const struct import_options *options, struct err *err);

/* --- formats ----------------------------------------------------------------------------------------- */

struct import; /* feed.h: a file that is being read */

#define IMPORT_SUFFIXES 4
struct import_format {
	const char *name; /* "collapsed" */
	const char *suffixes
		[IMPORT_SUFFIXES]; /* ".folded"; ".gz", ".zst", ".xz", ".lz4" behind it are passed over */
	const char *what;          /* "collapsed stacks: of jhot, async-profiler, perf" */
	/* Do its first bytes tell it for certain? NULL: they never do. */
	bool (*is)(const unsigned char *head, size_t bytes);
	int (*read)(struct import *im, struct err *err);
};
extern const struct import_format import_formats[]; /* ends with name NULL */

#endif
