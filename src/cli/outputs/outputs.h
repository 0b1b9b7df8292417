/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that -o asks for: their formats, whether they can be written, and writing them.
 *
 * "-" is stdout: collapsed stacks, or what --format says. With several events a file NAME.suffix becomes
 * NAME-EVENT.suffix unless its format holds them all or the name has %e. Without any -o the hot methods go to stdout
 * as text. The struct points into the command line.
 */
#ifndef JHOT_CLI_OUTPUTS_OUTPUTS_H
#define JHOT_CLI_OUTPUTS_OUTPUTS_H

#include "cli/line/args.h"
#include "cli/line/events.h"
#include "export/export.h"
#include "import/import.h"
#include "profile/query/filter.h"
#include "profile/vitals.h"
#include "recording/recording.h"

#include <stdio.h>

#define OUTPUTS_MAX    16
#define OUTPUTS_LABELS 32

struct outputs {
	struct output {
		const char *path;
		const struct export_format *format;
		struct recording_writer *writer; /* of outputs_follow; NULL: none */
		uint64_t vitals_ns;              /* when those that it was told were read */
	} files[OUTPUTS_MAX];
	int count;
	const char *labels[OUTPUTS_LABELS]; /* of --label */
	int label_count;
	struct export_options
		options; /* without what is known of an event only: query, meta, each */
	bool holders;    /* of lock */
	bool total;
	bool user_only, kernel_only; /* so was sampled; for a text that says why there is nothing */
	struct filter *filter;       /* of --include, --exclude and --io; NULL: none */
	uint32_t from, to;           /* seconds; to 0: all */
};

/* What the files and texts say about where the samples come from. */
struct outputs_source {
	const struct profile *profile;
	const struct vitals *vitals;
	uint64_t duration_ns;
	const struct imported *file; /* what tells its host and labels; NULL: it was sampled here */
};

/* All that is asked for of an event. */
struct profile_query outputs_query(const struct outputs *o, int event);

/* What patterns in file names are filled from. */
struct outputs_names {
	int pid;
	const char *name;
	uint64_t start_wall_ns;
};

/* --- path.c ------------------------------------------------------------------------------------ */

/* Are all patterns known? */
int outputs_path_check(const char *path, struct err *err);
/*
 * Where a file goes: %p pid, %n name, %h host, %t start (UTC), %e event, %% a percent sign. event: of events, or -1 for
 * all of them. The caller's to free.
 */
char *outputs_path(const struct output *f, const struct outputs_names *names,
	const struct events *events, int event);

/* --- outputs.c ----------------------------------------------------------------------------------------- */

int outputs_parse(struct outputs *out, const struct args *args, struct err *err);
void outputs_done(struct outputs *o);
/* outputs_check: can they all be written, as far as can be seen before there is anything to write? */
int outputs_check(const struct outputs *o, const struct events *events,
	const struct outputs_names *names, struct err *err);
/* outputs_write: all that can be written are; the first error is returned. */
int outputs_write(const struct outputs *o, const struct events *events,
	const struct outputs_source *source, struct err *err);

bool outputs_is_stdout(const struct output *f);

/* --- jhot.c ------------------------------------------------------------------------------------ */

/* Recordings, which are no export: a row beside export_formats, without a function. */
extern const struct export_format outputs_jhot;
int outputs_jhot_check(const struct outputs *o, struct err *err);
/*
 * Of a session that has begun: what its recordings begin with; then, about four times a second, what is new. The rest is
 * written with the other files. outputs_follow_end: what was not leaves them as they are; before the profile goes.
 */
int outputs_follow_begin(struct outputs *o, const struct events *events,
	const struct outputs_source *source, struct err *err);
int outputs_follow(struct outputs *o, const struct vitals *v, struct err *err);
void outputs_follow_end(struct outputs *o);
int outputs_jhot_write(const struct output *f, const struct outputs_names *names,
	const struct events *events, const struct outputs_source *source,
	const struct export_meta *meta, struct err *err);

#endif
