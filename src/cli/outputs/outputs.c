/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing the output options; checking and writing the files. */
#include "cli/outputs/outputs.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/line/units.h"
#include "cli/outputs/hot.h"
#include "cli/outputs/meta.h"
#include "export/web/flame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STDOUT_PATH       "-"
#define OUTPUTS_NARROWEST 300 /* px */
#define OUTPUTS_WIDEST    20000

bool outputs_is_stdout(const struct output *f)
{
	return !strcmp(f->path, STDOUT_PATH);
}

static int outputs_suffix(const char *path, struct err *err)
{
	struct buf known = {0};

	buf_adds(&known, outputs_jhot.suffixes[0]);
	for (const struct export_format *f = export_formats; f->name; f++)
		buf_printf(&known, " %s", f->suffixes[0]);
	err_set(err, ERR_USAGE, "The suffix of \"%s\" does not select a format.", path);
	err_hint(err, "use one of the suffixes %s", buf_str(&known));
	err_hint(err, "give the format: --format %s -o %s", export_formats[0].name, path);
	buf_done(&known);
	return -1;
}

/* The format of --format; NULL in *format without it. */
static int outputs_format(
	const struct export_format **format, const struct args *args, struct err *err)
{
	const char *name = args_get(args, OPT_FORMAT);
	struct buf known = {0};

	*format = name ? export_format_by_name(name) : NULL;
	if (name && !strcmp(name, outputs_jhot.name))
		*format = &outputs_jhot;
	if (!name || *format)
		return 0;
	buf_adds(&known, outputs_jhot.name);
	for (const struct export_format *f = export_formats; f->name; f++)
		buf_printf(&known, " %s", f->name);
	err_set(err, ERR_USAGE, "Unknown format \"%s\".", name);
	err_hint(err, "use one of: %s", buf_str(&known));
	buf_done(&known);
	return -1;
}

static const struct export_format *outputs_by_path(const char *path)
{
	return export_format_suffix(&outputs_jhot, path) ? &outputs_jhot
							 : export_format_by_path(path);
}

static int outputs_files(struct outputs *out, const struct args *args, struct err *err)
{
	const struct export_format *chosen;
	bool used = false;

	if (args_count(args, OPT_OUTPUT) > OUTPUTS_MAX)
		return err_set(
			err, ERR_USAGE, "At most %d output files can be given.", OUTPUTS_MAX);
	if (outputs_format(&chosen, args, err))
		return -1;
	for (; out->count < args_count(args, OPT_OUTPUT); out->count++) {
		struct output *f = &out->files[out->count];

		f->path = args_nth(args, OPT_OUTPUT, out->count);
		f->format = outputs_is_stdout(f) ? NULL : outputs_by_path(f->path);
		used |= !f->format;
		if (!f->format)
			f->format = !chosen && outputs_is_stdout(f)
					    ? export_format_by_name("collapsed")
					    : chosen;
		if (!f->format)
			return outputs_suffix(f->path, err);
		if (outputs_path_check(f->path, err))
			return -1;
	}
	if (chosen && !used)
		return err_set(err, ERR_USAGE,
			"--format applies only to \"-o -\" and to names without a known suffix.");
	return 0;
}

static int outputs_labels(struct outputs *out, const struct args *args, struct err *err)
{
	if (args_count(args, OPT_LABEL) > OUTPUTS_LABELS)
		return err_set(
			err, ERR_USAGE, "--label can be given at most %d times.", OUTPUTS_LABELS);
	for (; out->label_count < args_count(args, OPT_LABEL); out->label_count++) {
		const char *label = args_nth(args, OPT_LABEL, out->label_count);
		const char *value = strchr(label, '=');

		if (!value || value == label)
			return err_set(err, ERR_USAGE,
				"--label takes NAME=VALUE, such as version=1.4, not \"%s\".",
				label);
		out->labels[out->label_count] = label;
	}
	return 0;
}

/* The filter of --include and --exclude, all of which must match, and of --io and --fold. */
static int outputs_filter(struct outputs *out, const struct args *args, struct err *err)
{
	static const enum option_id ids[] = {OPT_INCLUDE, OPT_EXCLUDE};

	out->holders = args_has(args, OPT_HOLDERS);
	if (args_has(args, OPT_IO) || args_has(args, OPT_FOLD)) {
		out->filter = filter_new();
		filter_set_io(out->filter, args_has(args, OPT_IO));
		filter_set_hide(out->filter, args_has(args, OPT_FOLD) ? FILTER_FOLDS : 0);
	}
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < args_count(args, ids[k]); i++) {
			const char *name = args_nth(args, ids[k], i);

			if (!out->filter)
				out->filter = filter_new();
			if (!*name || !filter_push(out->filter, ids[k] == OPT_INCLUDE, name))
				return err_set(err, ERR_USAGE,
					*name ? "--include and --exclude can be given at most %d "
						"times."
					      : "--include and --exclude take a name, at most %d "
						"times.",
					FILTER_TERMS);
		}
	}
	return 0;
}

/* --minwidth: "0.1", "0.1%". */
static int outputs_min_share(struct outputs *out, const char *text, struct err *err)
{
	char *end;
	double percent;

	if (!text)
		return 0;
	percent = strtod(text, &end);
	if (end == text || (*end && strcmp(end, "%") != 0) || !(percent >= 0 && percent < 100))
		return err_set(err, ERR_USAGE,
			"--minwidth takes a percentage, such as 0.1, not \"%s\".", text);
	out->options.min_share = percent / 100;
	return 0;
}

static int outputs_appearance(struct outputs *out, const struct args *args, struct err *err)
{
	struct export_options *how = &out->options;
	struct buf known = {0};

	how->title = args_get(args, OPT_TITLE);
	how->colors = args_get(args, OPT_COLORS);
	how->reverse = args_has(args, OPT_REVERSE);
	how->inverted = args_has(args, OPT_INVERTED);
	if (how->colors && !flame_scheme_by_name(how->colors)) {
		for (const struct flame_scheme *s = flame_schemes; s->name; s++)
			buf_printf(&known, "%s%s", known.len ? " " : "", s->name);
		err_set(err, ERR_USAGE, "Unknown colour scheme \"%s\".", how->colors);
		err_hint(err, "use one of: %s", buf_str(&known));
		buf_done(&known);
		return -1;
	}
	if (args_has(args, OPT_WIDTH)) {
		if (units_count(
			    args_get(args, OPT_WIDTH), "--width", OUTPUTS_WIDEST, &how->width, err))
			return -1;
		if (how->width < OUTPUTS_NARROWEST)
			return err_set(err, ERR_USAGE, "--width must be %d to %d pixels, not %u.",
				OUTPUTS_NARROWEST, OUTPUTS_WIDEST, how->width);
	}
	return outputs_min_share(out, args_get(args, OPT_MINWIDTH), err);
}

void outputs_done(struct outputs *o)
{
	outputs_follow_end(o);
	filter_free(o->filter);
	o->filter = NULL;
}

int outputs_parse(struct outputs *out, const struct args *args, struct err *err)
{
	memset(out, 0, sizeof(*out));
	out->options.threads = args_has(args, OPT_THREADS);
	out->options.annotate = args_has(args, OPT_ANNOTATE);
	out->options.dot = args_has(args, OPT_DOT);
	out->total = args_has(args, OPT_TOTAL);
	out->user_only = args_has(args, OPT_USER);
	out->kernel_only = args_has(args, OPT_KERNEL);
	if (outputs_appearance(out, args, err) || outputs_files(out, args, err) ||
		outputs_labels(out, args, err))
		return -1;
	return outputs_filter(out, args, err);
}

/* --- before ------------------------------------------------------------------------------------------ */

static int outputs_check_stdout(
	const struct output *f, const struct events *events, struct err *err)
{
	if (f->format->binary && isatty(STDOUT_FILENO)) {
		err_set(err, ERR_USAGE,
			"The format %s is binary and cannot be shown on a terminal.",
			f->format->name);
		err_hint(err, "-o NAME%s", f->format->suffixes[0]);
		return -1;
	}
	if (events->count < 2 || f->format->together)
		return 0;
	err_set(err, ERR_USAGE,
		"\"-o -\" can write only one event: the stacks of several would be mixed.");
	err_hint(err, "-o NAME%s     writes one file per event", f->format->suffixes[0]);
	return -1;
}

/* The range of event indices to write a file for; -1 alone is one file of all events. */
static int outputs_first(const struct output *f)
{
	return f->format->together ? -1 : 0;
}

static int outputs_last(const struct output *f, const struct events *events)
{
	return f->format->together ? -1 : events->count - 1;
}

int outputs_check(const struct outputs *o, const struct events *events,
	const struct outputs_names *names, struct err *err)
{
	for (int i = 0; i < o->count; i++) {
		const struct output *f = &o->files[i];

		if (f->format == &outputs_jhot && outputs_jhot_check(o, err))
			return -1;
		if (outputs_is_stdout(f)) {
			if (outputs_check_stdout(f, events, err))
				return -1;
			continue;
		}
		for (int e = outputs_first(f); e <= outputs_last(f, events); e++) {
			char *path = outputs_path(f, names, events, e);
			int rc = file_check(path, err);

			free(path);
			if (rc)
				return -1;
		}
	}
	return 0;
}

/* --- after ------------------------------------------------------------------------------------------- */

static int outputs_to_stdout(const struct output *f, const struct profile *p,
	const struct export_options *how, struct err *err)
{
	struct buf text = {0};
	int rc = export_make(&text, f->format, p, how, err);

	if (!rc && text.len && fwrite(text.data, 1, text.len, stdout) != text.len)
		rc = err_set_errno(err, ERR_OUTPUT, "Cannot write to stdout");
	buf_done(&text);
	return rc;
}

struct outputs_job {
	const struct outputs *o;
	const struct events *events;
	const struct outputs_source *source;
	struct outputs_names names;
	struct export_meta meta;
	const char *labels[OUTPUTS_LABELS + IMPORT_LABELS];
	char host[256];
};

static uint64_t outputs_start(const struct outputs_job *job)
{
	uint64_t start = job->names.start_wall_ns;

	return start ? start + (uint64_t)job->o->from * NS_PER_S : 0;
}

/* Labels of the command line replace those of the file with the same name. */
static void outputs_all_labels(struct outputs_job *job)
{
	const struct imported *file = job->source->file;
	struct export_meta *m = &job->meta;

	for (int i = 0; i < job->o->label_count; i++)
		job->labels[m->label_count++] = job->o->labels[i];
	for (int i = 0; file && i < file->label_count; i++) {
		size_t name = strcspn(file->labels[i], "=") + 1;
		int k = 0;

		while (k < job->o->label_count &&
			strncmp(job->o->labels[k], file->labels[i], name) != 0)
			k++;
		if (k == job->o->label_count)
			job->labels[m->label_count++] = file->labels[i];
	}
}

static void outputs_begin(struct outputs_job *job)
{
	const struct vitals *v = job->source->vitals;
	struct export_meta *m = &job->meta;

	job->names = (struct outputs_names){
		v->pid, v->name, profile_info(job->source->profile).start_wall_ns};
	if (job->source->file)
		memcpy(job->host, job->source->file->host, sizeof(job->host));
	else
		gethostname(job->host, sizeof(job->host) - 1);
	*m = (struct export_meta){.pid = v->pid,
		.name = v->name,
		.jdk = v->jdk,
		.host = job->host,
		.duration_ns = job->source->duration_ns,
		.start_wall_ns = outputs_start(job),
		.labels = job->labels,
		.vitals = v};
	outputs_all_labels(job);
	for (; m->event_count < job->events->count; m->event_count++)
		m->events[m->event_count] =
			meta_event(job->source->profile, v, job->events->ids[m->event_count]);
}

struct profile_query outputs_query(const struct outputs *o, int event)
{
	struct profile_query q = profile_whole(event);

	q.from = o->from;
	q.to = o->to ? o->to : UINT32_MAX;
	q.filter = o->filter;
	q.holders = o->holders;
	return q;
}

static struct export_options outputs_options(const struct outputs_job *job, int event)
{
	const struct outputs *o = job->o;
	struct export_options how = o->options;

	how.each = o->total ? 0 : profile_sample_weight(job->source->profile, event);
	how.query = outputs_query(o, event);
	how.query.by_weight = o->total || how.each;
	how.meta = job->meta;
	return how;
}

/* e: an index into events, or -1 for all. */
static int outputs_write_one(
	const struct outputs_job *job, const struct output *f, int e, struct err *err)
{
	struct export_options how = outputs_options(job, job->events->ids[e < 0 ? 0 : e]);
	char *path;
	int rc;

	if (f->format == &outputs_jhot)
		return outputs_jhot_write(
			f, &job->names, job->events, job->source, &job->meta, err);
	if (outputs_is_stdout(f))
		return outputs_to_stdout(f, job->source->profile, &how, err);
	path = outputs_path(f, &job->names, job->events, e);
	rc = export_write(path, f->format, job->source->profile, &how, err);
	if (!rc)
		fprintf(stderr, "wrote %s\n", path);
	free(path);
	return rc;
}

int outputs_write(const struct outputs *o, const struct events *events,
	const struct outputs_source *source, struct err *err)
{
	struct outputs_job job = {.o = o, .events = events, .source = source};
	struct err first = {0}, why;

	outputs_begin(&job);
	for (int e = 0; e < events->count && !o->count; e++) {
		struct profile_query q = outputs_query(o, events->ids[e]);

		hot_print(stdout, source, &q, o);
	}
	for (int i = 0; i < o->count; i++) {
		const struct output *f = &o->files[i];

		for (int e = outputs_first(f); e <= outputs_last(f, events); e++)
			if (outputs_write_one(&job, f, e, &why) && first.kind == ERR_NONE)
				first = why;
	}
	if (o->count)
		hot_closing(stderr, source, o, events);
	else
		hot_losses(stdout, source->vitals);
	if (first.kind == ERR_NONE)
		return 0;
	*err = first;
	return -1;
}
