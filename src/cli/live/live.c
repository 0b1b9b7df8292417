/* SPDX-License-Identifier: Apache-2.0 */
/* The live view's app_ops: attach, drain, vitals, export, each a thin call into the module that knows. */
#include "cli/live/live.h"

#include "attach/proc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "cli/live/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_MS           50 /* of a look at all processes, before the screen goes on */

#define JVMTI_SLOWS_SINCE 19 /* JDK: virtual threads, from when it is asked for */

struct live {
	const struct session_options *options;
	struct patience patience; /* of who waits for an attach */
	const struct events *events;
	struct events resolved;                                 /* for the JVM that there is */
	struct session_event how[PROFILE_EVENTS];               /* as last asked for */
	char user_names[PROFILE_EVENTS - EVENT_USER_FIRST][64]; /* of those that were added here */
	struct profile *profile;
	struct session *session;
	struct replay *replay;       /* in place of a session; NULL: there is none */
	const struct imported *file; /* whose the profile is; NULL: it is ours */

	struct hotspot_look *look; /* for the picker; NULL: none is under way */
	struct hotspot_list list;  /* as last seen, at list_ns: tells CPU % at the next look */
	uint64_t list_ns;
	struct app_jvm *rows; /* of list */
	bool listed;          /* they are all of one look */

	struct app_thread *threads;
	struct app_format *formats; /* made when asked for, like names */
	const char *names[EVENTS_NAMES];
	int name_count; /* -1: not asked for yet */
};

struct live *live_new(const struct session_options *options, const struct events *events)
{
	struct live *l = xcalloc(1, sizeof(*l));

	l->options = options;
	l->events = events;
	l->name_count = -1;
	return l;
}

static void live_detach(void *ctx)
{
	struct live *l = ctx;

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
	hotspot_look_end(l->look);
	hotspot_list_done(&l->list);
	free(l->rows);
	free(l->threads);
	free(l->formats);
	free(l);
}

/* How events are sampled: as the command line says, or switched on without its -e, with its other options. */
static void live_set_how(struct live *l)
{
	for (int i = 0; i < PROFILE_EVENTS; i++)
		l->how[i] = (struct session_event){.event = i,
			.user_only = l->events->how[0].user_only,
			.kernel_only = l->events->how[0].kernel_only};
	for (int i = 0; i < l->resolved.count; i++)
		l->how[l->resolved.ids[i]] = l->resolved.how[i];
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
	((struct live *)ctx)->patience = *patience;
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

/* --- the picker -------------------------------------------------------------------------------------- */

static int live_cpu_pct(const struct live *l, const struct hotspot *jvm, uint64_t now_ns)
{
	for (int i = 0; i < l->list.count; i++) {
		const struct hotspot *before = &l->list.jvms[i];

		if (before->pid == jvm->pid && now_ns - l->list_ns > 100 * NS_PER_MS &&
			jvm->cpu_ticks >= before->cpu_ticks)
			return (int)((double)(jvm->cpu_ticks - before->cpu_ticks) * 100 * NS_PER_S /
				     (double)sysconf(_SC_CLK_TCK) / (double)(now_ns - l->list_ns));
	}
	return -1;
}

static void live_fill_row(struct app_jvm *row, const struct hotspot *jvm, int cpu_pct)
{
	*row = (struct app_jvm){
		.pid = jvm->pid,
		.cpu_pct = cpu_pct,
		.rss_bytes = (int64_t)jvm->rss_bytes,
		.uptime_s = jvm->uptime_s,
		.threads = jvm->threads,
		.can_attach = jvm->verdict <= HOTSPOT_UNKNOWN,
	};
	snprintf(row->user, sizeof(row->user), "%s", jvm->user);
	snprintf(row->jdk, sizeof(row->jdk), "%s", jvm->jdk);
	snprintf(row->name, sizeof(row->name), "%s", jvm->name);
	snprintf(row->attach, sizeof(row->attach), "%s", hotspot_verdict_names[jvm->verdict]);
	snprintf(row->why, sizeof(row->why), "%s", jvm->why);
}

/* What is known so far takes the place of what was. */
static void live_take_rows(struct live *l)
{
	uint64_t now_ns = clock_mono_ns();
	struct hotspot_list list;
	struct app_jvm *rows;

	hotspot_look_copy(l->look, &list);
	rows = xcalloc((size_t)list.count, sizeof(*rows));
	for (int i = 0; i < list.count; i++)
		live_fill_row(&rows[i], &list.jvms[i], live_cpu_pct(l, &list.jvms[i], now_ns));
	hotspot_list_done(&l->list);
	free(l->rows);
	l->list = list;
	l->list_ns = now_ns;
	l->rows = rows;
}

/* Until all were looked at, those of the last time are shown, or, the first time, those that there are so far. */
static int live_list(void *ctx, const struct app_jvm **out, struct err *err)
{
	struct live *l = ctx;
	int over;

	if (!l->look && !(l->look = hotspot_look_begin(err)))
		return -1;
	over = hotspot_look_step(l->look, LIST_MS, err);
	if (over > 0 || !l->listed)
		live_take_rows(l);
	if (over == 0) {
		err_set(err, ERR_BUSY, "Still looking at the processes that there are.");
	} else {
		hotspot_look_end(l->look);
		l->look = NULL;
		l->listed = over > 0;
	}
	*out = l->rows;
	return over < 0 ? -1 : l->list.count;
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

/* An event of a recording is there if it has samples (so far); nothing can be changed. */
static int live_recorded(
	const struct live *l, int event, bool on, uint64_t interval, struct err *err)
{
	struct profile_query q = profile_whole(event);

	if (!on || interval)
		return err_set(err, ERR_FAILED, "A %s holds the events it was made with.",
			l->file ? "file" : "recording");
	if (profile_sum(l->profile, &q).count)
		return 0;
	return err_set(err, ERR_FAILED, "The %s has no samples of \"%s\".",
		l->file ? "file" : "recording", profile_get_event(l->profile, event)->name);
}

static int live_event_set(void *ctx, int event, bool on, uint64_t interval, struct err *err)
{
	struct live *l = ctx;

	if (!l->session && !l->file && !l->replay)
		return err_set(err, ERR_FAILED, "No JVM is attached.");
	if (l->replay || l->file)
		return live_recorded(l, event, on, interval, err);
	if (!on)
		return session_event_stop(l->session, event, err);
	if (!interval && session_vitals(l->session)->events[event].state == VITALS_ON)
		return 0;
	if (interval) {
		l->how[event].interval = interval;
		l->how[event].chosen = false;
	}
	return session_event_begin(l->session, &l->how[event], err);
}

/* live_virtual: has it threads that virtual threads run on? By the names that the JDK gives them. */
static bool live_virtual(const struct live *l)
{
	static const char *const carriers[] = {"ForkJoinPool-1-worker", "VirtualThread-unparker"};

	for (uint32_t i = 0; i < profile_thread_count(l->profile); i++) {
		const char *name = profile_get_thread(l->profile, i)->name;

		for (size_t n = 0; n < sizeof(carriers) / sizeof(carriers[0]); n++)
			if (!strncmp(name, carriers[n], strlen(carriers[n])))
				return true;
	}
	return false;
}

static const char *const *live_event_warning(void *ctx, int event)
{
	static const char *const warning[] = {
		"This JVM seems to run virtual threads. Once its allocations have been",
		"sampled, they change carriers more slowly (about a third, as measured),",
		"until the JVM ends: it was asked for JVMTI then, and never forgets that.", NULL};
	const struct live *l = ctx;

	if (event != EVENT_ALLOC || !l->session ||
		atoi(session_vitals(l->session)->jdk) < JVMTI_SLOWS_SINCE || !live_virtual(l))
		return NULL;
	return warning;
}

/* The engine after the one that it has now. */
static const char *live_next_engine(const struct live *l, int event)
{
	const char *now = session_vitals(l->session)->events[event].engine;
	int i = 0;

	while (session_engines[i] && strcmp(session_engines[i], now) != 0)
		i++;
	return session_engines[i] && session_engines[i + 1] ? session_engines[i + 1]
							    : session_engines[0];
}

static int live_event_engine(void *ctx, int event, struct err *err)
{
	struct live *l = ctx;
	const char *before;

	if (!l->session)
		return err_set(err, ERR_FAILED, "A recording holds the events it was made with.");
	if (event != EVENT_CPU)
		return 1;
	before = l->how[event].engine;
	l->how[event].engine = live_next_engine(l, event);
	if (!session_event_begin(l->session, &l->how[event], err))
		return 0;
	l->how[event].engine = before;
	session_event_begin(l->session, &l->how[event], NULL);
	return -1;
}

/* An event that is there already by this name; -1: none. */
static int live_known(const struct live *l, const char *name)
{
	for (int i = 0; i < PROFILE_EVENTS; i++)
		if (!strcmp(profile_get_event(l->profile, i)->name, name) &&
			(i < EVENT_USER_FIRST || l->how[i].name))
			return i;
	return -1;
}

/*
 * A number for another of perf's events: one that none has had yet, else that of the one with the fewest samples of
 * those that are off. -1: all are on.
 */
static int live_free_event(const struct live *l)
{
	const struct vitals *v = session_vitals(l->session);
	int best = -1;

	for (int i = EVENT_USER_FIRST; i < PROFILE_EVENTS; i++) {
		if (!l->how[i].name)
			return i;
		if (v->events[i].state != VITALS_ON &&
			(best < 0 || v->events[i].samples < v->events[best].samples))
			best = i;
	}
	return best;
}

/* What it is in this JVM; the name is kept in l. */
static int live_take_event(struct live *l, int number, const char *name, struct err *err)
{
	struct events one = {0};
	char *kept = l->user_names[number - EVENT_USER_FIRST];

	if (events_add_perf(&one, name, err) ||
		events_resolve(&one, session_vitals(l->session)->pid, err))
		return -1;
	snprintf(kept, sizeof(l->user_names[0]), "%s", name);
	l->how[number] = one.how[0];
	l->how[number].event = number;
	l->how[number].name = kept;
	l->how[number].user_only = l->how[EVENT_CPU].user_only;
	l->how[number].kernel_only = l->how[EVENT_CPU].kernel_only;
	return 0;
}

static int live_event_add(void *ctx, const char *name, struct err *err)
{
	struct live *l = ctx;
	int number;

	if (!l->session)
		return err_set(err, ERR_FAILED, "Events can only be added to a live session.");
	number = live_known(l, name);
	if (number >= 0)
		return number;
	number = live_free_event(l);
	if (number < 0)
		return err_set(err, ERR_USAGE,
			"All %d of perf's events are on: switch one off before another is added.",
			PROFILE_EVENTS - EVENT_USER_FIRST);
	if (strlen(name) >= sizeof(l->user_names[0]))
		return err_set(err, ERR_USAGE, "\"%.40s...\" is too long for an event.", name);
	if (live_take_event(l, number, name, err))
		return -1;
	if (session_drain(l->session, err) < 0) /* the last of the one that had the number */
		return -1;
	profile_event_set(l->profile, number, name, l->how[number].unit, l->how[number].interval);
	return number;
}

static const char *live_event_name(void *ctx, int i)
{
	struct live *l = ctx;

	if (l->name_count < 0)
		l->name_count = events_names(l->names, l->how[EVENT_CPU].user_only);
	return i < l->name_count ? l->names[i] : NULL;
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
	.detach = live_detach,
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
