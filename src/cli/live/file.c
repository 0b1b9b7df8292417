/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what the live view shows into files, and shows files in the live view. */
#include "cli/live/live.h"

#include "base/buf.h"
#include "base/clock.h"
#include "cli/batch.h"
#include "cli/outputs/meta.h"
#include "export/export.h"
#include "recording/recording.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct app_format *live_file_formats(void)
{
	struct app_format *formats;
	size_t n = 0;

	while (export_formats[n].name)
		n++;
	formats = xcalloc(n + 1, sizeof(*formats));
	while (n--)
		formats[n] =
			(struct app_format){export_formats[n].suffixes[0], export_formats[n].what};
	return formats;
}

/* The events that have samples in the query, the shown one first and in any case. */
static void live_file_events(
	const struct live_source *source, const struct profile_query *shown, struct export_meta *m)
{
	struct profile_query q = *shown;

	m->events[m->event_count++] = meta_event(source->profile, source->vitals, shown->event);
	for (q.event = 0; q.event < PROFILE_EVENTS; q.event++)
		if (q.event != shown->event && profile_sum(source->profile, &q).count)
			m->events[m->event_count++] =
				meta_event(source->profile, source->vitals, q.event);
}

static struct export_meta live_file_meta(
	const struct live_source *source, const struct profile_query *q, char host[256])
{
	struct profile_info info = profile_info(source->profile);
	const struct imported *file = source->file;
	uint32_t to = q->to < info.now ? q->to : info.now + 1;
	struct export_meta meta = {
		.pid = source->vitals->pid,
		.host = file ? file->host : host,
		.labels = file ? (const char *const *)file->labels : NULL,
		.label_count = file ? file->label_count : 0,
		.name = source->vitals->name,
		.jdk = source->vitals->jdk,
		.vitals = source->vitals,
		.duration_ns = (uint64_t)(to > q->from ? to - q->from : 0) * NS_PER_S,
		.start_wall_ns =
			info.start_wall_ns ? info.start_wall_ns + (uint64_t)q->from * NS_PER_S : 0,
	};

	if (source->here)
		gethostname(host, 255);
	live_file_events(source, q, &meta);
	return meta;
}

int live_file_write(const struct live_source *source, const struct app_export *what, char *done,
	size_t bytes, struct err *err)
{
	const char *path = what->path;
	const struct export_format *format = export_format_by_path(path);
	struct export_options o = {.query = what->query, .threads = what->threads};
	char host[256] = "";
	struct stat st;

	if (!format)
		return err_set(err, ERR_USAGE, "The suffix of %s does not select a format.", path);
	if (!what->overwrite && !lstat(path, &st))
		return APP_EXISTS;
	o.meta = live_file_meta(source, &what->query, host);
	if (export_write(path, format, source->profile, &o, err))
		return -1;
	if (stat(path, &st))
		st.st_size = 0;
	snprintf(done, bytes, "wrote %s (%lld kB)", path, (long long)(st.st_size + 1023) / 1024);
	return 0;
}

int live_file_save(const struct live_source *source, uint64_t duration_ns, const char *path,
	char *done, size_t bytes, struct err *err)
{
	const struct imported *file = source->file;
	char host[256] = "";
	struct recording_meta meta = {.host = file ? file->host : host,
		.labels = file ? (const char *const *)file->labels : NULL,
		.label_count = file ? file->label_count : 0};
	struct stat st;

	if (!lstat(path, &st))
		return APP_EXISTS;
	if (source->here)
		gethostname(host, sizeof(host) - 1);
	if (recording_save(path, source->profile, &meta, source->vitals, duration_ns, err))
		return -1;
	if (stat(path, &st))
		st.st_size = 0;
	snprintf(done, bytes, "saved everything to %s (%lld kB); open it with jhot view", path,
		(long long)(st.st_size + 1023) / 1024);
	return 0;
}

int live_file_show(const struct imported *file, const struct app_file *shown,
	const struct events *events, struct app_options *screen, const struct batch *batch,
	struct err *err)
{
	static const struct session_options no_session;
	struct live *live = live_new(&no_session, events);
	int rc;

	screen->file = shown;
	screen->attached = true;
	live_file(live, file);
	rc = batch->wanted ? batch_run(batch, &live_ops, live, screen, events, err)
			   : app_run(&live_ops, live, screen, err);
	live_free(live);
	return rc;
}
