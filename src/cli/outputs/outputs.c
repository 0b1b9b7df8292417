/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and writes the files of -o. Recordings (.jhot) are written while sampling, all others at the end. */
#include "cli/outputs/outputs.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATH_WORD 100 /* longest expansion, in bytes */

const struct export_format outputs_jhot = {.name = "jhot",
	.suffixes = {RECORDING_SUFFIX},
	.what = "recording of everything, for jhot view",
	.together = true,
	.binary = true};

/* The number of files for an output: one per event, unless one file stores all events. */
static int outputs_file_count(const struct output *f, const struct events *events)
{
	return f->format->together ? 1 : events->count;
}

/* --- names of files ---------------------------------------------------------------------------------- */

/* Adds a word as part of a file name, without slashes: "cpu/cache-misses/" as "cpu_cache-misses_". */
static void path_word(struct buf *out, const char *word)
{
	for (size_t i = 0; word[i] && i < PATH_WORD; i++)
		buf_addc(out,
			isalnum((unsigned char)word[i]) || strchr("-_.", word[i]) ? word[i] : '_');
}

/* Regular expressions for the parts of a name in which the files of one output differ. */
#define REGEX_PID   "[0-9]{1,10}"
#define REGEX_START "[0-9]{8}-[0-9]{6}"
#define REGEX_WORD  "(-[a-z][a-z0-9_-]*)?"

/* Expands the name of an output's files, to the path of one of them or to a regular expression for all. */
struct expansion {
	struct buf out;
	const struct output *f;
	const struct outputs_names *names;
	const struct events *events;
	int event; /* an index into events */
	bool regex;
};

/* Adds text that is the same in all names. */
static void expand_text(struct expansion *x, const char *text)
{
	for (; *text; text++) {
		if (!x->regex || isalnum((unsigned char)*text) || (unsigned char)*text >= 0x80)
			buf_addc(&x->out, *text);
		else
			buf_printf(&x->out, *text == '^' ? "\\%c" : "[%c]", *text);
	}
}

static void expand_word(struct expansion *x, const char *word)
{
	struct buf text = {0};

	path_word(&text, word);
	expand_text(x, buf_str(&text));
	buf_done(&text);
}

/* Adds `before` and the event; in a regular expression "(cpu|alloc)", all events that have a file of their own. */
static void expand_event(struct expansion *x, const char *before)
{
	int first = x->regex ? 0 : x->event;
	int last = x->regex ? outputs_file_count(x->f, x->events) - 1 : x->event;

	if (x->regex)
		buf_addc(&x->out, '(');
	for (int e = first; e <= last; e++) {
		struct buf name = {0};

		if (e > first)
			buf_addc(&x->out, '|');
		buf_adds(&name, before);
		const struct events *events = x->events;
		int event = x->f->format->together ? -1 : e;
		for (int i = 0; i < events->count; i++) {
			if (event >= 0 && event != i)
				continue;
			if (event < 0 && i)
				buf_addc(&name, '-');
			path_word(&name, events->names[i]);
		}
		expand_text(x, buf_str(&name));
		buf_done(&name);
	}
	if (x->regex)
		buf_addc(&x->out, ')');
}

static void expand_pattern(struct expansion *x, char pattern)
{
	char host[256] = "";

	switch (pattern) {
	case 'p':
		if (x->regex)
			buf_adds(&x->out, REGEX_PID);
		else
			buf_printf(&x->out, "%d", x->names->pid);
		break;
	case 'n': expand_word(x, x->names->name); break;
	case 'h':
		gethostname(host, sizeof(host) - 1);
		expand_word(x, host);
		break;
	case 't': {
		time_t start = (time_t)(x->names->start_wall_ns / NS_PER_S);
		char text[32];
		struct tm tm;

		if (x->regex)
			buf_adds(&x->out, REGEX_START);
		else if (gmtime_r(&start, &tm) &&
			 strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm))
			buf_adds(&x->out, text);
	} break;
	case 'e': expand_event(x, ""); break;
	default: expand_text(x, "%");
	}
}

static void expand(struct expansion *x, const char *pattern)
{
	size_t suffix = strlen(pattern) - export_format_suffix(x->f->format, pattern);

	for (size_t i = 0; pattern[i] || i == suffix; i++) {
		const char text[] = {pattern[i], '\0'};

		if (i == suffix) {
			/* "-EVENT" and "-WORD" precede the suffix. */
			if (!strstr(x->f->path, "%e") && outputs_file_count(x->f, x->events) > 1)
				expand_event(x, "-");
			if (x->regex) {
				buf_adds(&x->out, REGEX_WORD);
			} else if (x->names->word) {
				buf_addc(&x->out, '-');
				expand_word(x, x->names->word);
			}
		}
		if (!pattern[i])
			break;
		if (pattern[i] == '%')
			expand_pattern(x, pattern[++i]);
		else
			expand_text(x, text);
	}
}

char *outputs_path(const struct output *f, const struct outputs_names *names,
	const struct events *events, int event)
{
	struct expansion x = {.f = f, .names = names, .events = events, .event = event};

	if (outputs_is_stdout(f))
		return xstrdup("/dev/stdout");
	expand(&x, f->path);
	return buf_steal(&x.out);
}

char *outputs_name_regex(
	const struct output *f, const struct outputs_names *names, const struct events *events)
{
	struct expansion x = {.f = f, .names = names, .events = events, .regex = true};
	const char *slash = strrchr(f->path, '/');

	buf_addc(&x.out, '^');
	expand(&x, slash ? slash + 1 : f->path);
	buf_addc(&x.out, '$');
	return buf_steal(&x.out);
}

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
	char host[256] = "";
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

static void outputs_begin(struct outputs_job *job)
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
static int outputs_write_jhot(
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

/* e: an index into events. */
static int outputs_write_one(
	const struct outputs_job *job, const struct output *f, int e, struct err *err)
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
	rc = f->format == &outputs_jhot ? outputs_write_jhot(job, f, path, err)
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

	outputs_begin(&job);
	for (int e = 0; e < events->count && !o->count; e++) {
		struct profile_query q = outputs_query(o, events->ids[e]);

		hot_print(stdout, source, &q, o);
	}
	for (int i = 0; i < o->count; i++) {
		const struct output *f = &o->files[i];

		for (int e = 0; e < outputs_file_count(f, events); e++)
			if (outputs_write_one(&job, f, e, &why) && first.kind == ERR_NONE)
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
