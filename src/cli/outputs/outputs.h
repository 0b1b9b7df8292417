/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of -o: parsing, checking that they can be written, and writing them.
 *
 * "-" is stdout, in collapsed format or the --format. With several events, NAME.suffix becomes
 * NAME-EVENT.suffix, unless the format holds all events or the name contains %e. Without -o the hot
 * methods are printed on stdout.
 *
 *   outputs_parse -> outputs_check -> [outputs_follow_begin -> outputs_follow ...] -> outputs_write -> outputs_done
 *
 * struct outputs borrows the command line. Single-threaded.
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
#define OUTPUTS_HOST   256 /* bytes of a host's name */

struct outputs {
	struct output {
		const char *path;
		const struct export_format *format;
		struct recording_writer *writer; /* of outputs_follow; NULL: none */
		uint64_t vitals_ns;              /* time of the vitals that were written last */
	} files[OUTPUTS_MAX];
	int count;
	const char *labels[OUTPUTS_LABELS]; /* of --label, then those of outputs_detect_labels */
	int label_count;
	char *own_labels[OUTPUTS_LABELS]; /* owned, also in labels */
	int own_label_count;
	struct export_options options; /* query, meta and each are set per event */
	bool holders;                  /* --holders */
	bool total;
	bool user_only, kernel_only; /* explain an empty result */
	struct filter *filter;       /* of --include, --exclude and --io; NULL: none */
	uint32_t from, to;           /* seconds; to 0: all */
	const char *word;            /* appended to names: NAME-WORD.suffix; NULL: none */
	/* Called for each file that was written, in place of the summary on stderr. NULL: none. */
	void (*written)(void *ctx, const char *path);
	void *ctx;
};

/* Where the samples come from. */
struct outputs_source {
	const struct profile *profile;
	const struct vitals *vitals;
	uint64_t duration_ns;
	const struct imported *file; /* supplies host and labels; NULL: none */
	bool elsewhere; /* without a file: sampled on an unknown host, not on this one */
};

/* The query for one event, with the span and filter of the command line. */
struct profile_query outputs_query(const struct outputs *o, int event);

/* Values for the patterns in file names. */
struct outputs_names {
	int pid;
	const char *name;
	uint64_t start_wall_ns;
	const char *word; /* see struct outputs; NULL: none */
};

/* --- parse.c ------------------------------------------------------------------------------------------- */

/* Parses -o and the other options of output files. Call outputs_done afterwards, also on failure. */
int outputs_parse(struct outputs *out, const struct args *args, struct err *err);
bool outputs_is_stdout(const struct output *f);

/* --- names.c ------------------------------------------------------------------------------------------- */

/* The number of files for an output: one per event, unless one file stores all events. */
int outputs_file_count(const struct output *f, const struct events *events);
/* The path of a file; event: an index into events, ignored if one file stores all of them. The caller frees it. */
char *outputs_path(const struct output *f, const struct outputs_names *names,
	const struct events *events, int event);
/* The value of a variable of jhot's environment, for "{NAME}" of that length; NULL: none is set, or the pattern is malformed. */
const char *outputs_variable(const char *at, size_t *len);
/*
 * A regular expression (POSIX, extended) for the last component of the names that this output's
 * files get for any pid, start and word; host, program and events are those of `names` and
 * `events`. The caller frees it.
 */
char *outputs_name_regex(
	const struct output *f, const struct outputs_names *names, const struct events *events);

/* --- labels.c ------------------------------------------------------------------------------------------ */

/*
 * Adds labels of the service that this process is part of: OTEL_SERVICE_NAME and
 * OTEL_RESOURCE_ATTRIBUTES, pod and namespace, the container's id. Names that have a label keep it.
 * Without permission to read its environment, only the container's.
 */
void outputs_detect_labels(struct outputs *o, int pid);
/* True if there is a label with the name of this one ("name=value"). */
bool outputs_has_label(const struct outputs *o, const char *label);

/* --- outputs.c ----------------------------------------------------------------------------------------- */

/* Checks before sampling whether the files can be written (file_check). */
int outputs_check(const struct outputs *o, const struct events *events,
	const struct outputs_names *names, struct err *err);
/*
 * Recordings are written while a session runs: outputs_follow_begin creates them, outputs_follow
 * appends new samples (about four times a second), outputs_write completes them. outputs_follow_end
 * closes incomplete ones, which stay on disk; call it before the profile is freed.
 */
int outputs_follow_begin(struct outputs *o, const struct events *events,
	const struct outputs_source *source, struct err *err);
int outputs_follow(struct outputs *o, const struct vitals *v, struct err *err);
void outputs_follow_end(struct outputs *o);
/* Writes all files, even after an error; returns the first error. */
int outputs_write(const struct outputs *o, const struct events *events,
	const struct outputs_source *source, struct err *err);
void outputs_done(struct outputs *o);
/* The format of recordings, which are not an export: like a row of export_formats, but without functions. */
extern const struct export_format outputs_jhot;

/* Metadata of a file whose first second is `from`, without events. *m borrows host and everything of source. */
void outputs_meta(const struct outputs_source *source, uint32_t from, struct export_meta *m,
	char host[OUTPUTS_HOST]);
/* Adds how an event was sampled, from its samples, or from the vitals if it has none. */
void outputs_meta_add(const struct outputs_source *source, int event, struct export_meta *m);
/* The shortest and longest interval of an event. */
struct profile_intervals outputs_intervals(const struct outputs_source *source, int event);

/* --- hot.c --------------------------------------------------------------------------------------------- */

/*
 * Text on a terminal: the hot methods of an event, or, when files are written, a summary of the
 * sampling. Shares are of weights (time, bytes), not of sample counts.
 */

/* Prints one event: header, methods, and depending on event and options allocation or lock sites, states, threads. */
void hot_print(FILE *out, const struct outputs_source *source, const struct profile_query *query,
	const struct outputs *o);
/* For each event: engine, intervals, duration, samples in the files and losses. hot_losses: nonzero loss counters. */
void hot_closing(FILE *out, const struct outputs_source *source, const struct outputs *o,
	const struct events *events);
void hot_losses(FILE *out, const struct vitals *v);

#endif
