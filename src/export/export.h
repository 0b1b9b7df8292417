/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a profile to a file: one file and one table row per format.
 *
 * Writing is atomic: on failure an existing file is unchanged and no partial file remains
 * (base/file.h). Output is deterministic: the same profile and options give the same bytes.
 * Exporters depend on the model only. They block, and build the whole file in memory. One thread.
 */
#ifndef JHOT_EXPORT_EXPORT_H
#define JHOT_EXPORT_EXPORT_H

#include "base/buf.h"
#include "base/err.h"
#include "profile/diff/diff.h"
#include "profile/profile.h"
#include "profile/vitals.h"

/* How an event was sampled. */
struct export_event {
	int event;
	const char *engine;               /* NULL or "": unknown */
	uint64_t interval, interval_most; /* shortest, longest; 0: unknown */
	uint64_t lost;
};

/* Metadata of a file. The caller owns everything; strings may be NULL. */
struct export_meta {
	int pid;
	const char *name, *jdk, *host;
	uint64_t duration_ns;
	uint64_t start_wall_ns;
	const char *const *labels; /* "key=value" (--label) */
	int label_count;
	struct export_event events[PROFILE_EVENTS]; /* of formats that store all events */
	int event_count;
	const struct vitals *vitals; /* command of the target, sampling cost etc.; NULL: unknown */
};

struct export_options {
	struct profile_query query; /* formats that store all events ignore its event */
	struct export_meta meta;
	const char *title;       /* NULL: made from the name and the event */
	bool threads;            /* -t: the thread as the root frame */
	bool annotate;           /* -a: _[j] _[i] ... after names */
	bool dot;                /* --dot: pkg.Class instead of pkg/Class (collapsed) */
	const struct diff *diff; /* NULL, or the diff whose two sides the profile contains */
	uint64_t each; /* collapsed: divides weights by this; 0: writes the query's values */
	/* Of flame graphs: */
	double min_share; /* boxes below this share of the total become "[narrow frames]"; 0.001: 0.1 % */
	bool reverse;       /* from leaves to callers */
	bool inverted;      /* the root at the bottom */
	const char *colors; /* a name in flame_schemes; NULL: the first */
	unsigned width;     /* px; 0: that of the window, and 1,200 for the static picture */
};

/*
 * Appends one file to out. Returns false if it would exceed EXPORT_BYTES_MAX, as in formats that
 * repeat the frames of each stack; the content of out is then undefined.
 */
#define EXPORT_BYTES_MAX ((size_t)1 << 30)
typedef bool export_writer(
	struct buf *out, const struct profile *p, const struct export_options *o);

#define EXPORT_SUFFIXES 3
struct export_format {
	const char *name;                      /* of --format: "svg" */
	const char *suffixes[EXPORT_SUFFIXES]; /* ".svg"; the first is the default */
	const char *what;                      /* "flame graph, one self-contained file" */
	export_writer *write;
	bool together; /* one file stores all events, else only that of the query */
	bool binary;   /* unsuitable for a terminal */
	bool compares; /* supports export_options.diff */
};
extern const struct export_format export_formats[]; /* ends with name NULL */

const struct export_format *export_format_by_name(const char *name); /* NULL: none */
const struct export_format *export_format_by_path(const char *path); /* NULL: no such suffix */
/* The length of the suffix of this format at the end of the path, 0 if it has none. */
size_t export_format_suffix(const struct export_format *format, const char *path);
/* Append the file to out, or write it to a path. Return 0, or -1 with an error. */
int export_make(struct buf *out, const struct export_format *format, const struct profile *p,
	const struct export_options *o, struct err *err);
int export_write(const char *path, const struct export_format *format, const struct profile *p,
	const struct export_options *o, struct err *err);

/* How this event was sampled; zeros if unknown. */
struct export_event export_event_of(const struct export_options *o, int event);

export_writer export_svg, export_html, export_collapsed, export_jfr, export_pprof, export_otlp,
	export_speedscope, export_plain;

#endif
