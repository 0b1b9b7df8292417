/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view's app_ops, each a thin call into the module that knows: what is looked at begins and ends here.
 *
 *   jvms.c    which JVMs there are     events.c    how they are sampled    file.c      what is written
 *   replay.c  a recording, as it was seen          settings.c  the settings file
 */
#include "cli/live/own.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdlib.h>

struct live *live_new(const struct session_options *options, const struct events *events)
{
	struct live *l = xcalloc(1, sizeof(*l));

	l->options = options;
	l->events = events;
	l->name_count = -1;
	return l;
}

static bool give_up(void *ctx)
{
	(void)ctx;
	return false;
}

static void live_detach(void *ctx)
{
	struct live *l = ctx;

	if (l->session) /* its last names would not be seen any more */
		session_patience(l->session, &(const struct patience){.go_on = give_up});
	session_close(l->session);
	replay_free(l->replay);
	if (!l->file)
		profile_free(l->profile);
	l->replay = NULL;
	l->file = NULL;
	l->session = NULL;
	l->profile = NULL;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	live_detach(l);
	jvms_done(&l->jvms);
	free(l->threads);
	free(l->formats);
	free(l);
}

int live_attach(struct live *l, const struct hotspot *jvm, int event, struct err *err)
{
	struct session_options options = *l->options;
	int rc = -1;

	options.patience = l->patience;
	live_detach(l);
	l->resolved = *l->events;
	if (events_resolve(&l->resolved, jvm->pid, err))
		return -1;
	live_set_how(l);
	l->profile = profile_new();
	l->session = session_open(jvm, &options, l->profile, err);
	if (l->session)
		rc = events_prepare(l->events, l->session, err);
	if (!rc)
		rc = session_event_begin(l->session, &l->how[event], err);
	if (rc)
		live_detach(l);
	/* Of the others each says by itself, when it is chosen, why it cannot be had. */
	for (int i = 0; !rc && i < l->events->count; i++)
		if (l->events->ids[i] != event)
			session_event_begin(l->session, &l->resolved.how[i], NULL);
	return rc;
}

void live_patience(void *ctx, const struct patience *patience)
{
	struct live *l = ctx;

	l->patience = *patience;
	if (l->session)
		session_patience(l->session, patience);
}

int live_replay(struct live *l, const char *path, bool clock_step, struct err *err)
{
	live_detach(l);
	l->profile = profile_new();
	l->replay = replay_open(path, clock_step, l->profile, err);
	if (l->replay)
		return 0;
	live_detach(l);
	return -1;
}

void live_file(struct live *l, const struct imported *file)
{
	live_detach(l);
	l->file = file;
	l->profile = file->profile;
}

static int live_list(void *ctx, const struct app_jvm **out, struct err *err)
{
	return jvms_list(&((struct live *)ctx)->jvms, out, err);
}

static int live_pick(void *ctx, int pid, int event, struct err *err)
{
	struct hotspot jvm;

	live_detach(ctx);
	if (hotspot_check(pid, &jvm, err))
		return -1;
	if (jvm.verdict > HOTSPOT_UNKNOWN)
		return hotspot_refusal(&jvm, err);
	return live_attach(ctx, &jvm, event, err);
}

/* --- the running session ----------------------------------------------------------------------------- */

static const struct profile *live_profile(void *ctx)
{
	return ((struct live *)ctx)->profile;
}

static const struct vitals *live_vitals(void *ctx)
{
	struct live *l = ctx;

	if (l->file)
		return &l->file->vitals;
	if (l->replay)
		return replay_vitals(l->replay);
	return l->session ? session_vitals(l->session) : NULL;
}

static int live_drain(void *ctx, struct err *err)
{
	struct live *l = ctx;

	if (l->replay)
		return replay_drain(l->replay, err);
	return l->session ? session_drain(l->session, err) : 0;
}

static int live_threads(void *ctx, const struct app_thread **out)
{
	struct live *l = ctx;
	struct session_thread_cpu *cpu = NULL;
	int count = l->session ? session_threads(l->session, &cpu) : 0;

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

	return l->replay && replay_step(l->replay);
}

static void live_park(void *ctx, bool parked)
{
	struct live *l = ctx;

	if (l->session)
		session_park(l->session, parked);
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
	return (struct live_source){l->profile, live_vitals(l), l->file, !l->file && !l->replay};
}

static int live_export(
	void *ctx, const struct app_export *what, char *done, size_t bytes, struct err *err)
{
	const struct live_source source = live_source(ctx);

	if (!source.profile || !source.vitals)
		return err_set(err, ERR_FAILED, "There is nothing to write: no JVM is attached.");
	return live_file_write(&source, what, done, bytes, err);
}

static int live_save(void *ctx, const char *path, char *done, size_t bytes, struct err *err)
{
	struct live *l = ctx;
	const struct live_source source = live_source(l);
	uint64_t duration_ns;

	if (!source.profile || !source.vitals)
		return err_set(err, ERR_FAILED, "There is nothing to save: no JVM is attached.");
	if (l->file)
		duration_ns = l->file->duration_ns;
	else if (l->session)
		duration_ns = session_duration_ns(l->session);
	else
		duration_ns = (uint64_t)profile_info(l->profile).now * NS_PER_S;
	return live_file_save(&source, duration_ns, path, done, bytes, err);
}

static int live_config_write(
	void *ctx, const struct config_values *values, char *done, size_t bytes, struct err *err)
{
	return settings_write(values, done, bytes, err);
}

const struct app_ops live_ops = {
	.list = live_list,
	.attach = live_pick,
	.patience = live_patience,
	.profile = live_profile,
	.vitals = live_vitals,
	.drain = live_drain,
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
