/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and writes the files of -o. Recordings (.jhot) are written while sampling, all others at the end. */
#include "cli/outputs/outputs.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct export_format outputs_jhot = {.name = "jhot",
	.suffixes = {RECORDING_SUFFIX},
	.what = "recording of everything, for jhot view",
	.together = true,
	.binary = true};

/* --- checking ---------------------------------------------------------------------------------------- */

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

int outputs_check(const struct outputs *o, const struct events *events,
	const struct outputs_names *names, struct err *err)
{
	for (int i = 0; i < o->count; i++) {
		const struct output *f = &o->files[i];

		if (f->format == &outputs_jhot &&
			(o->filter || o->from || (o->to && o->to != UINT32_MAX))) {
			err_set(err, ERR_USAGE,
				"A .jhot file always holds everything and cannot be filtered.");
			err_hint(err,
				"apply --from, --to, --include, --exclude, --fold and --io when "
				"you convert it");
			return -1;
		}
		if (outputs_is_stdout(f)) {
			if (outputs_check_stdout(f, events, err))
				return -1;
			continue;
		}
		for (int e = 0; e < outputs_file_count(f, events); e++) {
			char *path = outputs_path(f, names, events, e);
			int rc = file_check(path, err);

			free(path);
			if (rc)
				return -1;
		}
	}
	return 0;
}

/* --- recordings while sampling --------------------------------------------------------------------------- */

int outputs_follow_begin(struct outputs *o, const struct events *events,
	const struct outputs_source *source, struct err *err)
{
	const struct outputs_names names = {source->vitals->pid, source->vitals->name,
		profile_info(source->profile).start_wall_ns, NULL};
	char host[OUTPUTS_HOST] = "";
	const struct recording_meta meta = {
		.host = host, .labels = o->labels, .label_count = o->label_count};

	gethostname(host, sizeof(host) - 1);
	for (int i = 0; i < o->count; i++) {
		struct output *f = &o->files[i];

		if (f->format != &outputs_jhot)
			continue;
		char *path = outputs_path(f, &names, events, 0);
		f->writer = recording_create(path, err);
		free(path);
		if (!f->writer)
			return -1;
		recording_begin(f->writer, source->profile, &meta);
		recording_vitals(f->writer, source->vitals);
	}
	return 0;
}

int outputs_follow(struct outputs *o, const struct vitals *v, struct err *err)
{
	for (int i = 0; i < o->count; i++) {
		struct output *f = &o->files[i];

		if (!f->writer)
			continue;
		if (v->time_ns != f->vitals_ns)
			recording_vitals(f->writer, v);
		f->vitals_ns = v->time_ns;
		if (recording_follow(f->writer, err))
			return -1;
	}
	return 0;
}

void outputs_follow_end(struct outputs *o)
{
	for (int i = 0; i < o->count; i++) {
		recording_close(o->files[i].writer);
		o->files[i].writer = NULL;
	}
}

void outputs_done(struct outputs *o)
{
	outputs_follow_end(o);
	for (int i = 0; i < o->own_label_count; i++)
		free(o->own_labels[i]);
	o->own_label_count = 0;
	filter_free(o->filter);
	o->filter = NULL;
}

/* --- writing ------------------------------------------------------------------------------------------- */

struct outputs_job {
	const struct outputs *o;
	const struct events *events;
	const struct outputs_source *source;
	struct outputs_names names;
	struct export_meta meta;
	const char *labels[OUTPUTS_LABELS + IMPORT_LABELS];
	char host[OUTPUTS_HOST];
};

struct profile_intervals outputs_intervals(const struct outputs_source *source, int event)
{
	struct profile_intervals every = profile_get_intervals(source->profile, event);
	int64_t now = source->vitals->events[event].interval;

	if (!every.least && now > 0) /* no sample */
		every.least = every.most = (uint64_t)now;
	return every;
}

void outputs_meta(const struct outputs_source *source, uint32_t from, struct export_meta *m,
	char host[OUTPUTS_HOST])
{
	const struct vitals *v = source->vitals;
	uint64_t start_ns = profile_info(source->profile).start_wall_ns;

	if (source->file)
		snprintf(host, OUTPUTS_HOST, "%s", source->file->host);
	else if (source->elsewhere || gethostname(host, OUTPUTS_HOST - 1))
		host[0] = '\0';
	host[OUTPUTS_HOST - 1] = '\0';
	*m = (struct export_meta){.pid = v->pid,
		.name = v->name,
		.jdk = v->jdk,
		.host = host,
		.duration_ns = source->duration_ns,
		.start_wall_ns = start_ns ? start_ns + (uint64_t)from * NS_PER_S : 0,
		.vitals = v};
	if (source->file) {
		m->labels = (const char *const *)source->file->labels;
		m->label_count = source->file->label_count;
	}
}

void outputs_meta_add(const struct outputs_source *source, int event, struct export_meta *m)
{
	const struct vitals_event *v = &source->vitals->events[event];
	struct profile_intervals every = outputs_intervals(source, event);

	m->events[m->event_count++] = (struct export_event){.event = event,
		.engine = v->engine,
		.interval = every.least,
		.interval_most = every.most,
		.lost = (uint64_t)(v->lost > 0 ? v->lost : 0)};
}

static void job_init(struct outputs_job *job)
{
	const struct outputs *o = job->o;
	const struct outputs_source *source = job->source;
	struct export_meta *m = &job->meta;
	int count = 0;

	job->names = (struct outputs_names){source->vitals->pid, source->vitals->name,
		profile_info(source->profile).start_wall_ns, o->word};
	outputs_meta(source, o->from, m, job->host);
	/* Labels of the command line replace those of the file with the same name. */
	for (; count < o->label_count; count++)
		job->labels[count] = o->labels[count];
	for (int i = 0; i < m->label_count; i++)
		if (!outputs_has_label(o, m->labels[i]))
			job->labels[count++] = m->labels[i];
	m->labels = job->labels;
	m->label_count = count;
	for (int i = 0; i < job->events->count; i++)
		outputs_meta_add(source, job->events->ids[i], m);
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

/* Writes a recording, or completes the one that outputs_follow has begun. */
static int job_write_recording(
	const struct outputs_job *job, const struct output *f, const char *path, struct err *err)
{
	const struct outputs_source *source = job->source;
	const struct export_meta *m = &job->meta;

	if (!f->writer)
		return recording_save(path, source->profile,
			&(const struct recording_meta){.host = m->host,
				.labels = m->labels,
				.label_count = m->label_count},
			source->vitals, source->duration_ns, err);
	recording_vitals(f->writer, source->vitals);
	return recording_finish(f->writer, source->duration_ns, err);
}

/* Writes the file of an output for an event, or for all that the format stores. e: an index into events. */
static int job_write(const struct outputs_job *job, const struct output *f, int e, struct err *err)
{
	const struct outputs *o = job->o;
	const struct profile *p = job->source->profile;
	struct export_options how = o->options;
	struct buf text = {0};
	int rc;

	how.each = o->total ? 0 : profile_sample_weight(p, job->events->ids[e]);
	how.query = outputs_query(o, job->events->ids[e]);
	how.query.by_weight = o->total || how.each;
	how.meta = job->meta;
	if (outputs_is_stdout(f) && f->format != &outputs_jhot) {
		rc = export_make(&text, f->format, p, &how, err);
		if (!rc && text.len && fwrite(text.data, 1, text.len, stdout) != text.len)
			rc = err_set_errno(err, ERR_OUTPUT, "Cannot write to stdout");
		buf_done(&text);
		return rc;
	}
	char *path = outputs_path(f, &job->names, job->events, e);
	rc = f->format == &outputs_jhot ? job_write_recording(job, f, path, err)
					: export_write(path, f->format, p, &how, err);
	if (!rc && o->written)
		o->written(o->ctx, path);
	else if (!rc && !outputs_is_stdout(f))
		fprintf(stderr, "wrote %s\n", path);
	free(path);
	return rc;
}

int outputs_write(const struct outputs *o, const struct events *events,
	const struct outputs_source *source, struct err *err)
{
	struct outputs_job job = {.o = o, .events = events, .source = source};
	struct err first = {0}, why;

	job_init(&job);
	for (int e = 0; e < events->count && !o->count; e++) {
		struct profile_query q = outputs_query(o, events->ids[e]);

		hot_print(stdout, source, &q, o);
	}
	for (int i = 0; i < o->count; i++) {
		const struct output *f = &o->files[i];

		for (int e = 0; e < outputs_file_count(f, events); e++)
			if (job_write(&job, f, e, &why) && first.kind == ERR_NONE)
				first = why;
	}
	if (o->count && !o->written)
		hot_closing(stderr, source, o, events);
	else if (!o->count)
		hot_losses(stdout, source->vitals);
	if (first.kind == ERR_NONE)
		return 0;
	*err = first;
	return -1;
}
