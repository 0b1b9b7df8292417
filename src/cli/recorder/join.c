/* SPDX-License-Identifier: Apache-2.0 */
/* Copies some seconds of another jhot's session into files. */
#include "cli/recorder/join.h"

#include "base/buf.h"
#include "base/clock.h"
#include "cli/reading.h"
#include "profile/cut.h"

#include <stdio.h>
#include <string.h>

#define STEP_MS 200
#define LATE_NS (10 * NS_PER_S) /* seconds may arrive this late */

static void hint_others(const struct sampling *s, struct err *err)
{
	err_hint(err, "jhot status %d     lists the events of that session", (int)s->jvm.pid);
	err_hint(err, "--take-over     ends that session first");
}

/* Options that only the owner of a session can apply. */
static int check_options(
	const struct args *args, const struct sampling *s, pid_t owner, struct err *err)
{
	static const enum option_id ids[] = {OPT_ONLY_THREADS, OPT_USER, OPT_KERNEL, OPT_ENGINE,
		OPT_LIVE, OPT_BUDGET, OPT_DEPTH, OPT_KEEP_TOP, OPT_KEEP_ROOT, OPT_LATENCY, OPT_WHY};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		for (const struct option_def *o = options; args_has(args, ids[i]) && o->name; o++) {
			if (o->id != ids[i])
				continue;
			err_set(err, ERR_BUSY,
				"JVM %d is being profiled by jhot process %d, whose session --%s "
				"cannot change.",
				(int)s->jvm.pid, (int)owner, o->name);
			hint_others(s, err);
			return -1;
		}
	return 0;
}

/* The session must sample what was asked for, at the interval that was asked for. */
static int check_events(const struct args *args, const struct sampling *s,
	const struct shared *from, struct err *err)
{
	const struct vitals *v = shared_vitals(from);
	const struct events *e = &s->events;

	for (int i = 0; (args_has(args, OPT_EVENT) || args_has(args, OPT_INTERVAL)) && i < e->count;
		i++) {
		const struct vitals_event *there = &v->events[e->ids[i]];
		const struct session_event *how = &e->how[i];

		if (e->ids[i] < EVENT_USER_FIRST && there->state == VITALS_ON &&
			(how->is_default || !how->interval ||
				(int64_t)how->interval == there->interval))
			continue;
		err_set(err, ERR_BUSY, "JVM %d is being profiled by jhot process %d, which %s.",
			(int)s->jvm.pid, (int)shared_server(from),
			there->state == VITALS_ON && e->ids[i] < EVENT_USER_FIRST
				? "samples at another interval"
				: "does not sample all of these events");
		hint_others(s, err);
		return -1;
	}
	return 0;
}

/*
 * Reads the seconds from *from on, until there are enough. Returns 0, or -1 with an error; ERR_GONE if the session has ended.
 */
static int read_seconds(
	struct copying *c, uint64_t duration_ns, uint32_t *from, uint32_t *to, struct err *err)
{
	const struct profile *p = c->to->profile;
	uint32_t seconds = (uint32_t)((duration_ns + NS_PER_S - 1) / NS_PER_S);
	uint64_t begin_ns = clock_mono_ns();
	int rc = 0;

	*from = profile_info(p).now + 1;
	*to = seconds ? *from + seconds : UINT32_MAX;
	while (rc >= 0 && !sampling_signalled() && profile_info(p).now < *to) {
		rc = shared_read(c->from, STEP_MS, err);
		if (seconds && clock_mono_ns() - begin_ns > duration_ns + LATE_NS)
			break;
	}
	if (profile_info(p).now < *to)
		*to = profile_info(p).now + 1;
	return rc < 0 ? -1 : 0;
}

int join_open(const struct args *args, const struct sampling *s, struct profile *p,
	struct shared **from, struct err *err)
{
	struct shared *to = shared_open(&s->jvm, SHARE_WATCH, p, NULL);
	int rc = 1;

	*from = NULL;
	if (to && shared_read(to, (int)(LATE_NS / NS_PER_MS), NULL) > 0)
		rc = check_options(args, s, shared_server(to), err) ||
				     check_events(args, s, to, err)
			     ? -1
			     : 0;
	if (rc) {
		shared_close(to);
		return rc;
	}
	*from = to;
	fprintf(stderr, "JVM %d is being profiled by jhot process %d; recording its samples.\n",
		(int)s->jvm.pid, (int)shared_server(to));
	return 0;
}

int join_record(
	const struct args *args, const struct sampling *s, struct outputs *o, struct err *err)
{
	struct copying c = {0};
	uint32_t from, to;

	c.to = xcalloc(1, sizeof(*c.to));
	c.to->profile = profile_new();
	int rc = join_open(args, s, c.to->profile, &c.from, err);
	if (rc) {
		copying_done(&c);
		return rc;
	}
	sampling_catch_ending();
	struct err ended = {0};
	rc = read_seconds(&c, s->duration_ns, &from, &to, &ended);
	bool short_of = rc && s->duration_ns;
	if (rc && ended.kind != ERR_GONE) {
		*err = ended;
		copying_done(&c);
		return -1;
	}
	struct imported *copy = copying_take(&c);
	struct profile *whole = copy->profile;
	copy->profile = profile_cut(whole, from, to);
	profile_free(whole);
	copy->duration_ns = (uint64_t)(to > from ? to - from : 0) * NS_PER_S;
	rc = reading_write(copy, args, o, copy->duration_ns, err);
	if (!rc && short_of)
		rc = err_set(err, ERR_GONE, "%s The samples until then were %s.", ended.what,
			o->count ? "written" : "printed");
	import_free(copy);
	copying_done(&c);
	return rc;
}
