/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a profile to a file: one file and one table row per format.
 *
 * A failure (disk full, read-only folder) leaves no half file and an old one intact (base/file.h). Same profile, same
 * bytes. Sees only the model. One thread.
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
	const char *engine;               /* NULL or "": not known */
	uint64_t interval, interval_most; /* from, to; 0: not known */
	uint64_t lost;
};

/* What a file says of where its samples come from, gathered once for all writers; strings may be NULL. */
struct export_meta {
	int pid;
	const char *name, *jdk, *host;
	uint64_t duration_ns;
	uint64_t start_wall_ns;
	const char *const *labels; /* of --label: "key=value" */
	int label_count;
	struct export_event events[PROFILE_EVENTS]; /* that a file of all events holds */
	int event_count;
	const struct vitals *vitals; /* its command, its cost and the like; NULL: not known */
};

struct export_options {
	struct profile_query query; /* a file of all events takes its seconds, threads and filter */
	struct export_meta meta;
	const char *title;       /* NULL: one is made of the name and the event */
	bool threads;            /* -t: the thread as the root frame */
	bool annotate;           /* -a: _[j] _[i] ... behind names */
	bool dot;                /* --dot: pkg.Class instead of pkg/Class (collapsed) */
	const struct diff *diff; /* NULL, or what query is of is both sides of this */
	uint64_t each; /* collapsed: values are weights over this; 0: as the query has them */
	/* Of flame graphs: */
	double min_share; /* what has less of all is left out as "[narrow frames]"; 0.001: 0.1 % */
	bool reverse;     /* leaves first, then their callers */
	bool inverted;    /* the root at the bottom */
	const char *colors; /* a name of flame_schemes; NULL: the first */
	unsigned width;     /* px; 0: of the window, and of the picture 1,200 */
};

/*
 * One file of one format. false: it would be larger than EXPORT_BYTES_MAX, as formats can be that repeat the frames of each
 * stack; what is in out has no meaning then.
 */
#define EXPORT_BYTES_MAX ((size_t)1 << 30)
typedef bool export_writer(
	struct buf *out, const struct profile *p, const struct export_options *o);

#define EXPORT_SUFFIXES 3
struct export_format {
	const char *name;                      /* of --format: "svg" */
	const char *suffixes[EXPORT_SUFFIXES]; /* ".svg"; the first is the one to offer */
	const char *what;                      /* "flame graph, one self-contained file" */
	export_writer *write;
	bool together; /* one file holds all events, else the query's alone */
	bool binary;   /* not for a terminal */
	bool compares; /* it can show a diff */
};
extern const struct export_format export_formats[]; /* ends with name NULL */

const struct export_format *export_format_by_name(const char *name); /* NULL: none */
const struct export_format *export_format_by_path(const char *path); /* NULL: no such suffix */
/* How many bytes at the path's end are a suffix of this format; 0: none. */
size_t export_format_suffix(const struct export_format *format, const char *path);
/* The bytes of a file. -1: they would be too many. */
int export_make(struct buf *out, const struct export_format *format, const struct profile *p,
	const struct export_options *o, struct err *err);
int export_write(const char *path, const struct export_format *format, const struct profile *p,
	const struct export_options *o, struct err *err);

/* How this event was sampled; all unknown if that is not told. */
struct export_event export_event_of(const struct export_options *o, int event);

export_writer export_svg, export_html, export_collapsed, export_jfr, export_pprof, export_otlp,
	export_speedscope, export_plain;

#endif
