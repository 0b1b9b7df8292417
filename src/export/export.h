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
#include "profile/profile.h"

/* What the header of a file says; strings may be NULL. */
struct export_meta {
	int pid;
	const char *name, *jdk, *host;
	const char *engine;
	uint64_t interval, interval_most; /* of the event: from, to */
	uint64_t duration_ns;
	uint64_t start_wall_ns;
	uint64_t lost;
};

struct export_options {
	struct profile_query query;
	struct export_meta meta;
	bool threads;  /* -t: the thread as the root frame */
	bool annotate; /* -a: _[j] _[i] ... behind names */
	bool dot;      /* --dot: pkg.Class instead of pkg/Class (collapsed) */
	uint64_t each; /* collapsed: values are weights over this; 0: as the query has them */
};

/* One file of one format: never fails. */
typedef void export_writer(
	struct buf *out, const struct profile *p, const struct export_options *o);

struct export_format {
	const char *suffix; /* ".svg" */
	const char *what;   /* "flame graph, one self-contained file" */
	export_writer *write;
};
extern const struct export_format export_formats[]; /* ends with suffix NULL */

const struct export_format *export_format_by_path(const char *path); /* NULL: no such suffix */
int export_write(const char *path, const struct export_format *format, const struct profile *p,
	const struct export_options *o, struct err *err);

export_writer export_svg, export_collapsed;

#endif
