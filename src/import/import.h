/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading profiles of other tools and of jhot: one file and one table row per format.
 *
 * Files are not trusted. Any fault ends in an error of kind ERR_INPUT that names the line or the
 * byte; names are cleaned before they enter the profile. gzip, zstd, xz and lz4 files are
 * decompressed. Memory is limited: the profile has a limit, and most formats need one chunk of the
 * file beside it. Functions block on the file. One thread.
 */
#ifndef JHOT_IMPORT_IMPORT_H
#define JHOT_IMPORT_IMPORT_H

#include "base/err.h"
#include "profile/profile.h"
#include "profile/vitals.h"

#define IMPORT_MEMORY ((uint64_t)1 << 30) /* default limit of a profile, bytes */
#define IMPORT_LABELS 32
#define IMPORT_STDIN  "-"

/* A profile and its metadata. */
struct imported {
	const struct import_format *format;
	struct profile *profile; /* start 0: unknown */
	/* The target, as far as known: pid, name, jdk, command, engines and intervals of events. */
	struct vitals vitals;
	char host[256];
	uint64_t duration_ns;        /* 0: unknown */
	bool timed;                  /* samples have times; else all are in second 0 */
	char *labels[IMPORT_LABELS]; /* "key=value" */
	int label_count;
	char note[400]; /* what is missing: sentences, or "" */
};

struct import_options {
	/*
	 * Called about ten times per second with the bytes read so far (total 0: unknown). Returns
	 * false to cancel. May be NULL.
	 */
	bool (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
	uint64_t memory; /* limit of the profile, bytes; 0: IMPORT_MEMORY */
};

/* path: a file, or IMPORT_STDIN. options may be NULL. The caller frees the result. NULL: see err. */
struct imported *import_read(
	const char *path, const struct import_options *options, struct err *err);
void import_free(struct imported *i);

struct recording;
/* Sets the metadata of a profile that the caller has read from a recording: vitals, duration, host, labels. */
void import_describe(struct imported *out, const struct recording *r);
/* True if the name or the first bytes are those of a known format. */
bool import_accepts(const char *path);

/*
 * Merges profiles: events by name, threads by name and ids, and, of files with times, seconds by
 * wall clock. Metadata on which all agree are kept. The list remains the caller's. NULL: see err.
 */
struct imported *import_merge(struct imported *const *list, int count,
	const struct import_options *options, struct err *err);

/* --- formats ----------------------------------------------------------------------------------------- */

struct import; /* feed.h: a file that is being read */

#define IMPORT_SUFFIXES 4
struct import_format {
	const char *name; /* "collapsed" */
	/* ".folded"; may be followed by ".gz", ".zst", ".xz", ".lz4" */
	const char *suffixes[IMPORT_SUFFIXES];
	const char *what; /* "collapsed stacks of jhot, async-profiler, FlameGraph" */
	/* True if the first bytes identify the format. NULL: they never do. */
	bool (*is)(const unsigned char *head, size_t bytes);
	int (*read)(struct import *im, struct err *err);
};
extern const struct import_format import_formats[]; /* ends with name NULL */

#endif
