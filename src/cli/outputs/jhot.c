/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings (.jhot) among the files of -o: written while sampling, or at once from an imported profile. */
#include "cli/outputs/outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct export_format outputs_jhot = {.name = "jhot",
	.suffixes = {RECORDING_SUFFIX},
	.what = "recording of everything, for jhot view",
	.together = true,
	.binary = true};

static char *jhot_path(
	const struct output *f, const struct outputs_names *names, const struct events *events)
{
	return outputs_is_stdout(f) ? strdup("/dev/stdout") : outputs_path(f, names, events, -1);
}

int outputs_jhot_check(const struct outputs *o, struct err *err)
{
	if (!o->filter && !o->from && (!o->to || o->to == UINT32_MAX))
		return 0;
	err_set(err, ERR_USAGE, "A .jhot file always holds everything and cannot be filtered.");
	err_hint(err,
		"apply --from, --to, --include, --exclude, --fold and --io when you convert it");
	return -1;
}

int outputs_follow_begin(struct outputs *o, const struct events *events,
	const struct outputs_source *source, struct err *err)
{
	const struct outputs_names names = {source->vitals->pid, source->vitals->name,
		profile_info(source->profile).start_wall_ns};
	char host[256] = "";
	const struct recording_meta meta = {
		.host = host, .labels = o->labels, .label_count = o->label_count};

	gethostname(host, sizeof(host) - 1);
	for (int i = 0; i < o->count; i++) {
		struct output *f = &o->files[i];
		char *path;

		if (f->format != &outputs_jhot)
			continue;
		path = jhot_path(f, &names, events);
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

int outputs_jhot_write(const struct output *f, const struct outputs_names *names,
	const struct events *events, const struct outputs_source *source,
	const struct export_meta *meta, struct err *err)
{
	const struct recording_meta what = {
		.host = meta->host, .labels = meta->labels, .label_count = meta->label_count};
	char *path = jhot_path(f, names, events);
	int rc;

	if (f->writer) {
		recording_vitals(f->writer, source->vitals);
		rc = recording_finish(f->writer, source->duration_ns, err);
	} else {
		rc = recording_save(
			path, source->profile, &what, source->vitals, source->duration_ns, err);
	}
	if (!rc && !outputs_is_stdout(f))
		fprintf(stderr, "wrote %s\n", path);
	free(path);
	return rc;
}
