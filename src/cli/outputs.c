/* SPDX-License-Identifier: Apache-2.0 */
/* The same loop over files and events for checking and for writing. */
#include "cli/outputs.h"

#include "base/buf.h"
#include "base/file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STDOUT_PATH "-"

static bool outputs_is_stdout(const struct output *f)
{
	return !strcmp(f->path, STDOUT_PATH);
}

static int outputs_suffix(const char *path, struct err *err)
{
	struct buf known = {0};

	for (const struct export_format *f = export_formats; f->suffix; f++)
		buf_printf(&known, "%s%s", known.len ? " " : "", f->suffix);
	err_set(err, ERR_USAGE, "jhot cannot tell the format of \"%s\" from its suffix.", path);
	err_hint(err, "end the name with one of: %s", buf_str(&known));
	err_hint(err, "-o -: collapsed stacks on the terminal");
	buf_done(&known);
	return -1;
}

/* --include and --exclude, all of which a stack has to pass, and --io. */
static int outputs_filter(struct outputs *out, const struct args *args, struct err *err)
{
	static const enum option_id ids[] = {OPT_INCLUDE, OPT_EXCLUDE};

	if (args_has(args, OPT_IO)) {
		out->filter = filter_new();
		filter_set_io(out->filter, true);
	}
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < args_count(args, ids[k]); i++) {
			const char *name = args_nth(args, ids[k], i);

			if (!out->filter)
				out->filter = filter_new();
			if (!*name || !filter_push(out->filter, ids[k] == OPT_INCLUDE, name))
				return err_set(err, ERR_USAGE,
					*name ? "At most %d times --include and --exclude."
					      : "--include and --exclude need a name (%d at most).",
					FILTER_TERMS);
		}
	}
	return 0;
}

void outputs_done(struct outputs *o)
{
	filter_free(o->filter);
	o->filter = NULL;
}

int outputs_parse(struct outputs *out, const struct args *args, struct err *err)
{
	memset(out, 0, sizeof(*out));
	out->threads = args_has(args, OPT_THREADS);
	out->annotate = args_has(args, OPT_ANNOTATE);
	out->dot = args_has(args, OPT_DOT);
	out->total = args_has(args, OPT_TOTAL);
	out->user_only = args_has(args, OPT_USER);
	out->kernel_only = args_has(args, OPT_KERNEL);
	if (args_count(args, OPT_OUTPUT) > OUTPUTS_MAX)
		return err_set(
			err, ERR_USAGE, "At most %d files can be written at once.", OUTPUTS_MAX);
	for (; out->count < args_count(args, OPT_OUTPUT); out->count++) {
		struct output *f = &out->files[out->count];

		f->path = args_nth(args, OPT_OUTPUT, out->count);
		f->format =
			export_format_by_path(outputs_is_stdout(f) ? "stdout.collapsed" : f->path);
		if (!f->format)
			return outputs_suffix(f->path, err);
	}
	return outputs_filter(out, args, err);
}

/* NAME.suffix, or NAME-EVENT.suffix where there are several events. */
static char *outputs_path(const struct output *f, const struct events *events, int i)
{
	struct buf path = {0};
	size_t len = strlen(f->path), suffix = strlen(f->format->suffix), at;

	if (events->count < 2 || outputs_is_stdout(f)) {
		buf_adds(&path, f->path);
		return buf_steal(&path);
	}
	buf_printf(&path, "%.*s-", (int)(len - suffix), f->path);
	at = path.len;
	buf_printf(&path, "%s%s", events->names[i], f->path + len - suffix);
	for (; at < path.len - suffix; at++) /* perf's names: syscalls:sys_enter_read, cpu/x/ */
		if (!isalnum((unsigned char)path.data[at]) && !strchr("-_.", path.data[at]))
			path.data[at] = '_';
	return buf_steal(&path);
}

/* --- before ------------------------------------------------------------------------------------------ */

int outputs_check(const struct outputs *o, const struct events *events, struct err *err)
{
	for (int i = 0; i < o->count; i++) {
		if (events->count > 1 && outputs_is_stdout(&o->files[i])) {
			err_set(err, ERR_USAGE,
				"\"-o -\" is for one event; stacks of several would be mixed up.");
			err_hint(err, "-o NAME.collapsed: a file for each event");
			return -1;
		}
		for (int e = 0; e < events->count; e++) {
			char *path = outputs_path(&o->files[i], events, e);
			int rc = outputs_is_stdout(&o->files[i]) ? 0 : file_check(path, err);

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
	int rc = 0;

	f->format->write(&text, p, how);
	if (text.len && fwrite(text.data, 1, text.len, stdout) != text.len)
		rc = err_set_errno(err, ERR_OUTPUT, "The output could not be written");
	buf_done(&text);
	return rc;
}

struct profile_intervals outputs_intervals(const struct outputs_source *source, int event)
{
	struct profile_intervals every = profile_get_intervals(source->profile, event);
	int64_t now = source->vitals->events[event].interval;

	if (!every.least && now > 0) /* there was no sample */
		every.least = every.most = (uint64_t)now;
	return every;
}

static struct export_options outputs_options(
	const struct outputs *o, int event, const struct outputs_source *source, const char *host)
{
	const struct vitals *v = source->vitals;
	uint64_t each = o->total ? 0 : profile_sample_weight(source->profile, event);
	struct profile_intervals every = outputs_intervals(source, event);
	struct profile_query query = profile_whole(event);

	query.by_weight = o->total || each;
	query.filter = o->filter;
	return (struct export_options){
		.query = query,
		.meta = {.pid = v->pid,
			.name = v->name,
			.jdk = v->jdk,
			.host = host,
			.engine = v->events[event].engine,
			.interval = every.least,
			.interval_most = every.most,
			.duration_ns = source->duration_ns,
			.start_wall_ns = profile_info(source->profile).start_wall_ns,
			.lost = (uint64_t)(v->events[event].lost > 0 ? v->events[event].lost : 0)},
		.threads = o->threads,
		.annotate = o->annotate,
		.dot = o->dot,
		.each = each,
	};
}

static int outputs_write_one(const struct output *f, const struct events *events, int i,
	const struct outputs_source *source, const struct export_options *how, struct err *err)
{
	char *path;
	int rc;

	if (outputs_is_stdout(f))
		return outputs_to_stdout(f, source->profile, how, err);
	path = outputs_path(f, events, i);
	rc = export_write(path, f->format, source->profile, how, err);
	if (!rc)
		fprintf(stderr, "wrote %s\n", path);
	free(path);
	return rc;
}

int outputs_write(const struct outputs *o, const struct events *events,
	const struct outputs_source *source, struct err *err)
{
	struct err first = {0}, why;
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	for (int e = 0; e < events->count; e++) {
		int event = events->ids[e];
		struct export_options how = outputs_options(o, event, source, host);

		if (!o->count)
			hot_print(stdout, source, event, o);
		for (int i = 0; i < o->count; i++)
			if (outputs_write_one(&o->files[i], events, e, source, &how, &why) &&
				first.kind == ERR_NONE)
				first = why;
	}
	if (o->count)
		hot_closing(stderr, source, events);
	else
		hot_losses(stdout, source->vitals);
	if (first.kind == ERR_NONE)
		return 0;
	*err = first;
	return -1;
}
