/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view's app_ops, each a thin call into the responsible module; subjects are created and freed here.
 *
 *   jvms.c    which JVMs there are     events.c    how they are sampled    file.c      what is written
 *   replay.c  a recording, as it was seen          settings.c  the settings file
 */
#include "cli/live/own.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>

static bool give_up(void *ctx)
{
	(void)ctx;
	return false;
}

static void subject_free(struct subject *s)
{
	if (!s)
		return;
	if (s->session) /* names that arrive late would not be shown */
		session_patience(s->session, &(const struct patience){.go_on = give_up});
	session_close(s->session);
	replay_free(s->replay);
	if (!s->file)
		profile_free(s->profile);
	free(s);
}

struct live *live_new(const struct session_options *options, const struct events *events)
{
	struct live *l = xcalloc(1, sizeof(*l));

	l->options = options;
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

static int attach(struct live *l, const struct hotspot *jvm, int event, struct err *err)
{
	struct session_options options = *l->options;
	struct subject *s = l->now;

	options.patience = (struct patience){live_go_on, l};
	s->resolved = *l->events;
	if (events_resolve(&s->resolved, jvm->pid, &options.patience, err))
		return -1;
	live_set_how(l);
	s->profile = profile_new();
	s->session = session_open(jvm, &options, s->profile, err);
	if (!s->session || events_prepare(l->events, s->session, err) ||
		session_event_begin(s->session, &s->how[event], err))
		return -1;
	/* A refusal of another event is reported when the user selects it. */
	for (int i = 0; i < l->events->count; i++)
		if (l->events->ids[i] != event)
			session_event_begin(s->session, &s->resolved.how[i], NULL);
	session_patience(s->session, &l->patience);
	return 0;
}

int live_attach(struct live *l, const struct hotspot *jvm, int event, struct err *err)
{
	int rc;

	subject_begin(l);
	rc = attach(l, jvm, event, err);
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

void live_file(struct live *l, const struct imported *file)
{
	l->now->file = file;
	l->now->profile = file->profile;
}

static int live_list(void *ctx, const struct app_jvm **out, struct err *err)
{
	return jvms_list(&((struct live *)ctx)->jvms, out, err);
}

static int live_pick(void *ctx, int pid, int event, struct err *err)
{
	struct hotspot jvm;

	if (hotspot_check(pid, &jvm, err))
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
	return l->now->session ? session_vitals(l->now->session) : NULL;
}

static int live_drain(void *ctx, struct err *err)
{
	struct live *l = ctx;

	if (l->now->replay)
		return replay_drain(l->now->replay, err);
	return l->now->session ? session_drain(l->now->session, err) : 0;
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
	int count = l->now->session ? session_threads(l->now->session, &cpu) : 0;

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

	if (!l->formats)
		l->formats = live_file_formats();
	return l->formats;
}

static struct live_source live_source(struct live *l)
{
	return (struct live_source){
		l->now->profile, live_vitals(l), l->now->file, !l->now->file && !l->now->replay};
}

static void live_busy(struct live *l, bool busy)
{
	if (l->now->session)
		session_busy(l->now->session, busy);
}

static int live_export(
	void *ctx, const struct app_export *what, char *done, size_t bytes, struct err *err)
{
	struct live *l = ctx;
	const struct live_source source = live_source(l);
	int rc;

	if (!source.profile || !source.vitals)
		return err_set(err, ERR_FAILED, "Nothing to write: no JVM is attached.");
	live_busy(l, true);
	rc = live_file_write(&source, what, done, bytes, err);
	live_busy(l, false);
	return rc;
}

static int live_save(void *ctx, const char *path, char *done, size_t bytes, struct err *err)
{
	struct live *l = ctx;
	const struct live_source source = live_source(l);
	uint64_t duration_ns;
	int rc;

	if (!source.profile || !source.vitals)
		return err_set(err, ERR_FAILED, "Nothing to save: no JVM is attached.");
	if (l->now->file)
		duration_ns = l->now->file->duration_ns;
	else if (l->now->session)
		duration_ns = session_duration_ns(l->now->session);
	else
		duration_ns = (uint64_t)profile_info(l->now->profile).now * NS_PER_S;
	live_busy(l, true);
	rc = live_file_save(&source, duration_ns, path, done, bytes, err);
	live_busy(l, false);
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
	.names_note = live_names_note,
	.threads = live_threads,
	.event_set = live_event_set,
	.event_warning = live_event_warning,
	.event_engine = live_event_engine,
	.event_add = live_event_add,
	.event_name = live_event_name,
	.formats = live_formats,
	.export = live_export,
	.save = live_save,
	.config_write = live_config_write,
	.park = live_park,
	.step = live_step,
};
