/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view's app_ops, each a thin call into the responsible module; subjects are created and freed here. events.c has
 * those about events.
 */
#include "cli/live/live.h"

#include "base/buf.h"
#include "base/clock.h"
#include "cli/batch.h"
#include "cli/live/own.h"
#include "cli/outputs/outputs.h"
#include "cli/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WATCH_NS        (10 * NS_PER_S) /* another jhot must have sent its profile by then */
#define WATCH_MS        50
#define WATCH_HISTORY_S 600u

static bool subject_cancel(void *ctx)
{
	(void)ctx;
	return false;
}

static void subject_free(struct subject *s)
{
	if (!s)
		return;
	if (s->session) /* do not wait for names, which would not be shown */
		session_patience(s->session, &(const struct patience){.go_on = subject_cancel});
	share_close(s->share);
	session_close(s->session);
	if (!s->stream)
		shared_close(s->shared);
	remote_end(s->remote);
	replay_free(s->replay);
	session_readings_done(&s->readings);
	if (!s->file && !s->stream)
		profile_free(s->profile);
	fleet_release(s->stream);
	free(s);
}

struct live *live_new(const struct session_options *session, const struct events *events)
{
	struct live *l = xcalloc(1, sizeof(*l));

	l->options = session;
	l->events = events;
	l->now = xcalloc(1, sizeof(*l->now));
	l->name_count = -1;
	return l;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	subject_free(l->before);
	subject_free(l->now);
	jvms_done(&l->jvms);
	free(l->threads);
	free(l->formats);
	free(l);
}

void live_fleet(struct live *l, struct fleet *fleet)
{
	l->fleet = fleet;
}

/* --- the list of JVMs -------------------------------------------------------------------------------- */

static int live_list(void *ctx, const struct app_jvm **out, struct err *err)
{
	struct live *l = ctx;
	bool busy;

	if (!l->fleet)
		return jvms_list(&l->jvms, out, err);
	fleet_step(l->fleet);
	int count = fleet_rows(l->fleet, l->now->stream, out, &busy);
	if (busy)
		err_set(err, ERR_BUSY, "JVMs are being attached.");
	return count;
}

/* --- attaching --------------------------------------------------------------------------------------- */

/* Makes a new subject current, and keeps the previous one in `before`. */
static void subject_begin(struct live *l)
{
	subject_free(l->before);
	l->before = l->now;
	l->now = xcalloc(1, sizeof(*l->now));
}

static void subject_undo(struct live *l)
{
	subject_free(l->now);
	l->now = l->before;
	l->before = NULL;
}

static void live_forget(void *ctx)
{
	struct live *l = ctx;

	subject_free(l->before);
	l->before = NULL;
}

/* Keeps the previous session alive while the next JVM is being attached. */
static bool live_go_on(void *ctx)
{
	struct live *l = ctx;

	if (l->before && l->before->session)
		session_drain(l->before->session, NULL);
	return patience_left(&l->patience);
}

/*
 * Waits for the first message of another jhot, which is then shown under this name. Returns 1, 0 if the time
 * is over or the caller cancels, or -1 with an error.
 */
static int await_shared(struct live *l, const char *name, uint64_t most_ns, struct err *err)
{
	uint64_t begin_ns = clock_mono_ns();
	struct subject *s = l->now;
	int rc = 0;

	while (!rc && clock_mono_ns() - begin_ns < most_ns && live_go_on(l))
		rc = shared_read(s->shared, WATCH_MS, err);
	if (rc > 0) {
		profile_set_history(s->profile, WATCH_HISTORY_S);
		snprintf(s->shared_by, sizeof(s->shared_by), "%.80s", name);
	}
	return rc;
}

/* Watches the session of another jhot. Returns 0; 1 if no jhot shares a session of this JVM with us; or -1 with an error. */
static int watch_shared(struct live *l, const struct hotspot *jvm, struct err *err)
{
	struct subject *s = l->now;
	char name[32];

	s->profile = profile_new();
	s->shared = shared_open(jvm, SHARE_WATCH, s->profile, NULL);
	/* A jhot in another PID namespace cannot have a session with a JVM in ours. */
	s->pid = jvm->other_pid_ns ? 0 : jvm->pid;
	if (s->shared) {
		snprintf(name, sizeof(name), "jhot process %d", (int)shared_server(s->shared));
		int rc = await_shared(l, name, WATCH_NS, err);
		if (rc > 0)
			return 0;
		if (!rc) {
			err_set(err, ERR_BUSY,
				"JVM %d is being profiled by %s, which does not respond.",
				(int)jvm->pid, name);
			err_hint(err, "add --take-over to end the other session");
			return -1;
		}
		if (err->kind != ERR_GONE)
			return -1;
	}
	shared_close(s->shared);
	s->shared = NULL;
	s->pid = 0;
	profile_free(s->profile);
	s->profile = NULL;
	return 1;
}

static int attach(struct live *l, const struct hotspot *jvm, int event, struct err *err)
{
	struct session_options how = *l->options;
	struct subject *s = l->now;
	int rc = how.take_over ? 1 : watch_shared(l, jvm, err);

	if (rc <= 0)
		return rc;
	how.patience = (struct patience){live_go_on, l};
	s->resolved = *l->events;
	if (events_resolve(&s->resolved, jvm->pid, &how.patience, err))
		return -1;
	live_set_how(l);
	s->profile = profile_new();
	s->session = session_open(jvm, &how, s->profile, err);
	if (!s->session || events_prepare(l->events, s->session, err) ||
		session_event_begin(s->session, &s->how[event], err))
		return -1;
	/* A refusal of another event is reported when the user selects it. */
	for (int i = 0; i < l->events->count; i++)
		if (l->events->ids[i] != event)
			session_event_begin(s->session, &s->resolved.how[i], NULL);
	session_patience(s->session, &l->patience);
	s->share =
		share_open(&(const struct share_options){.jvm = *jvm, .profile = s->profile}, NULL);
	return 0;
}

int live_attach(struct live *l, const struct hotspot *jvm, int event, struct err *err)
{
	subject_begin(l);
	int rc = attach(l, jvm, event, err);
	if (rc)
		subject_undo(l);
	return rc;
}

void live_patience(void *ctx, const struct patience *patience)
{
	struct live *l = ctx;

	l->patience = *patience;
	if (l->now->session)
		session_patience(l->now->session, patience);
}

int live_remote(struct live *l, struct remote *remote, const char *target, struct err *err)
{
	subject_begin(l);
	l->now->remote = remote;
	l->now->profile = profile_new();
	l->now->shared = shared_open_fd(remote_take_stream(remote), l->now->profile);
	int rc = await_shared(l, target, UINT64_MAX, err);
	if (rc > 0)
		return 0;
	if (!rc)
		err_set(err, ERR_FAILED, "Connecting to %s was cancelled.", target);
	subject_undo(l);
	return -1;
}

int live_replay(struct live *l, const char *path, bool clock_step, struct err *err)
{
	subject_begin(l);
	l->now->profile = profile_new();
	l->now->replay = replay_open(path, clock_step, l->now->profile, err);
	if (l->now->replay)
		return 0;
	subject_undo(l);
	return -1;
}

/* Watches an instance of the list, which continues to be sampled when another one is shown. */
static int watch_instance(struct live *l, int id, struct err *err)
{
	struct fleet_stream *stream = fleet_use(l->fleet, id, err);

	if (!stream)
		return -1;
	subject_begin(l);
	l->now->stream = stream;
	l->now->profile = stream->profile;
	l->now->shared = stream->shared;
	l->now->pid = stream->pid;
	snprintf(l->now->shared_by, sizeof(l->now->shared_by), "another jhot process");
	return 0;
}

static int live_pick(void *ctx, int id, int event, struct err *err)
{
	struct live *l = ctx;
	struct hotspot jvm;

	if (l->fleet)
		return watch_instance(l, id, err);
	if (hotspot_check(id, &jvm, err))
		return -1;
	if (jvm.verdict > HOTSPOT_UNKNOWN)
		return hotspot_refusal(&jvm, err);
	return live_attach(ctx, &jvm, event, err);
}

/* --- the running session ----------------------------------------------------------------------------- */

static const struct profile *live_profile(void *ctx)
{
	return ((struct live *)ctx)->now->profile;
}

static const struct vitals *live_vitals(void *ctx)
{
	struct live *l = ctx;

	if (l->now->file)
		return &l->now->file->vitals;
	if (l->now->replay)
		return replay_vitals(l->now->replay);
	if (l->now->shared)
		return shared_vitals(l->now->shared);
	return l->now->session ? session_vitals(l->now->session) : NULL;
}

static int live_drain(void *ctx, struct err *err)
{
	struct live *l = ctx;

	if (l->fleet)
		fleet_step(l->fleet);
	if (l->now->stream && l->now->stream->ended.kind) {
		*err = l->now->stream->ended;
		return -1;
	}
	if (l->now->stream)
		return 0;
	if (l->now->replay)
		return replay_drain(l->now->replay, err);
	if (l->now->shared)
		return shared_read(l->now->shared, 0, err);
	if (!l->now->session)
		return 0;
	int rc = session_drain(l->now->session, err);
	if (rc >= 0 && l->now->share)
		share_step(l->now->share, session_vitals(l->now->session),
			session_duration_ns(l->now->session));
	return rc;
}

static const char *live_owner(void *ctx)
{
	return ((struct live *)ctx)->now->shared_by;
}

static const char *live_names_note(void *ctx)
{
	struct live *l = ctx;

	return l->now->session ? session_names_note(l->now->session) : "";
}

static int live_threads(void *ctx, const struct app_thread **out)
{
	struct live *l = ctx;
	struct session_thread_cpu *cpu = NULL;
	int count = 0;

	if (l->now->session)
		count = session_threads(l->now->session, &cpu);
	else if (l->now->pid)
		count = session_readings_update(
			&l->now->readings, l->now->profile, l->now->pid, &cpu);
	if (count <= 0)
		return 0;
	l->threads = xreallocarray(l->threads, (size_t)count, sizeof(*l->threads));
	for (int i = 0; i < count; i++)
		l->threads[i] = (struct app_thread){
			cpu[i].thread, cpu[i].state, cpu[i].user_pct, cpu[i].system_pct};
	*out = l->threads;
	return count;
}

static bool live_step(void *ctx)
{
	struct live *l = ctx;

	return l->now->replay && replay_step(l->now->replay);
}

static void live_park(void *ctx, bool parked)
{
	struct live *l = ctx;

	if (l->now->session)
		session_park(l->now->session, parked);
}

/* --- output ------------------------------------------------------------------------------------------ */

static const struct app_format *live_formats(void *ctx)
{
	struct live *l = ctx;
	size_t n = 0;

	if (l->formats)
		return l->formats;
	while (export_formats[n].name)
		n++;
	l->formats = xcalloc(n + 1, sizeof(*l->formats)); /* ends with suffix NULL */
	while (n--)
		l->formats[n] =
			(struct app_format){export_formats[n].suffixes[0], export_formats[n].what};
	return l->formats;
}

/* Describes the source of the profile shown. 0, or -1 with an error if there is none; verb: for that error. */
static int live_source(
	struct live *l, struct outputs_source *out, const char *verb, struct err *err)
{
	const struct subject *s = l->now;

	*out = (struct outputs_source){.profile = s->profile,
		.vitals = live_vitals(l),
		.file = s->file,
		.elsewhere = s->replay != NULL};
	if (!out->profile || !out->vitals)
		return err_set(err, ERR_FAILED, "Nothing to %s: no JVM is attached.", verb);
	return 0;
}

static void live_busy(struct live *l, bool busy)
{
	if (l->now->session)
		session_busy(l->now->session, busy);
}

/* The size of a file that was written, in kB, rounded up; 0: unknown. */
static long long written_kb(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (long long)(st.st_size + 1023) / 1024;
}

/* The metadata lists the shown event first, even without samples, then all others that have samples in the query. */
static int live_export(
	void *ctx, const struct app_export *what, char *done, size_t bytes, struct err *err)
{
	struct live *l = ctx;
	const char *path = what->path;
	const struct export_format *format = export_format_by_path(path);
	struct export_options o = {.query = what->query, .threads = what->threads};
	struct profile_query q = what->query;
	struct outputs_source source;
	char host[OUTPUTS_HOST];
	struct stat st;

	if (live_source(l, &source, "write", err))
		return -1;
	if (what->profile)
		source.profile = what->profile;
	if (!format)
		return err_set(err, ERR_USAGE, "The suffix of %s does not select a format.", path);
	if (!what->overwrite && !lstat(path, &st))
		return APP_EXISTS;
	live_busy(l, true);
	uint32_t to = profile_info(source.profile).now;
	to = q.to < to ? q.to : to + 1;
	source.duration_ns = (uint64_t)(to > q.from ? to - q.from : 0) * NS_PER_S;
	outputs_meta(&source, q.from, &o.meta, host);
	outputs_meta_add(&source, what->query.event, &o.meta);
	for (q.event = 0; q.event < PROFILE_EVENTS; q.event++)
		if (q.event != what->query.event && profile_sum(source.profile, &q).count)
			outputs_meta_add(&source, q.event, &o.meta);
	int rc = export_write(path, format, source.profile, &o, err);
	live_busy(l, false);
	if (!rc)
		snprintf(done, bytes, "wrote %s (%lld kB)", path, written_kb(path));
	return rc;
}

static int live_save(void *ctx, const char *path, char *done, size_t bytes, struct err *err)
{
	struct live *l = ctx;
	struct outputs_source source;
	struct export_meta m;
	char host[OUTPUTS_HOST];
	struct stat st;

	if (live_source(l, &source, "save", err))
		return -1;
	if (!lstat(path, &st))
		return APP_EXISTS;
	if (l->now->file)
		source.duration_ns = l->now->file->duration_ns;
	else if (l->now->session)
		source.duration_ns = session_duration_ns(l->now->session);
	else if (l->now->shared)
		source.duration_ns = recording_duration_ns(shared_recording(l->now->shared));
	else
		source.duration_ns = (uint64_t)profile_info(l->now->profile).now * NS_PER_S;
	live_busy(l, true);
	outputs_meta(&source, 0, &m, host);
	int rc = recording_save(path, source.profile,
		&(const struct recording_meta){
			.host = host, .labels = m.labels, .label_count = m.label_count},
		source.vitals, source.duration_ns, err);
	live_busy(l, false);
	if (!rc)
		snprintf(done, bytes, "saved everything to %s (%lld kB); open it with jhot view",
			path, written_kb(path));
	return rc;
}

static int live_config_write(
	void *ctx, const struct config_values *values, char *done, size_t bytes, struct err *err)
{
	return settings_write(values, done, bytes, err);
}

const struct app_ops live_ops = {
	.list = live_list,
	.attach = live_pick,
	.forget = live_forget,
	.patience = live_patience,
	.profile = live_profile,
	.vitals = live_vitals,
	.drain = live_drain,
	.owner = live_owner,
	.names_note = live_names_note,
	.threads = live_threads,
	.event_set = live_event_set,
	.event_warning = live_event_warning,
	.event_engine = live_event_engine,
	.event_add = live_event_add,
	.event_name = live_event_name,
	.latency = live_latency,
	.formats = live_formats,
	.export = live_export,
	.save = live_save,
	.config_write = live_config_write,
	.park = live_park,
	.step = live_step,
};

int live_show_file(const struct imported *file, const struct app_file *shown,
	const struct events *events, struct app_options *screen, const struct batch *batch,
	struct err *err)
{
	static const struct session_options no_session;
	struct live *live = live_new(&no_session, events);

	screen->file = shown;
	screen->attached = true;
	live->now->file = file;
	live->now->profile = file->profile;
	int rc = batch->wanted ? batch_run(batch, &live_ops, live, screen, events, err)
			       : app_run(&live_ops, live, screen, err);
	live_free(live);
	return rc;
}
