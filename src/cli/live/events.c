/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the live view: switching them on and off, changing interval and engine, adding perf events. */
#include "cli/live/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JVMTI_SLOWS_SINCE 19 /* JDK from which JVMTI slows virtual threads down */

void live_set_how(struct live *l)
{
	for (int i = 0; i < PROFILE_EVENTS; i++)
		l->now->how[i] = (struct session_event){.event = i,
			.user_only = l->events->how[0].user_only,
			.kernel_only = l->events->how[0].kernel_only};
	for (int i = 0; i < l->now->resolved.count; i++)
		l->now->how[l->now->resolved.ids[i]] = l->now->resolved.how[i];
}

int live_event_set(void *ctx, int event, bool on, uint64_t interval, struct err *err)
{
	struct live *l = ctx;

	if (!l->now->profile)
		return err_set(err, ERR_FAILED, "No JVM is attached.");
	if (l->now->shared) {
		/* A watched session: its events are available, even without samples, but cannot be changed. */
		const struct subject *s = l->now;

		if (!on || interval)
			return err_set(err, ERR_FAILED,
				"Only %s, which owns the session, can change its events.",
				s->shared_by);
		if (shared_vitals(s->shared)->events[event].state == VITALS_ON ||
			events_sampled(s->profile, event))
			return 0;
		return err_set(err, ERR_FAILED, "The session of %s does not sample %s.",
			s->shared_by, profile_get_event(s->profile, event)->name);
	}
	if (!l->now->session) {
		/* A recording: events with samples are available, and cannot be changed. */
		if (!on || interval)
			return err_set(err, ERR_FAILED, "The events of a %s cannot be changed.",
				l->now->file ? "file" : "recording");
		if (events_sampled(l->now->profile, event))
			return 0;
		return err_set(err, ERR_FAILED, "The %s has no samples of the event \"%s\".",
			l->now->file ? "file" : "recording",
			profile_get_event(l->now->profile, event)->name);
	}
	if (!on)
		return session_event_stop(l->now->session, event, err);
	if (!interval && session_vitals(l->now->session)->events[event].state == VITALS_ON)
		return 0;
	if (interval) {
		l->now->how[event].interval = interval;
		l->now->how[event].is_default = false;
	}
	return session_event_begin(l->now->session, &l->now->how[event], err);
}

/* True when the JVM has carriers of virtual threads, by the names that the JDK gives them. */
static bool live_virtual(const struct live *l)
{
	static const char *const carriers[] = {"ForkJoinPool-1-worker", "VirtualThread-unparker"};

	for (uint32_t i = 0; i < profile_thread_count(l->now->profile); i++) {
		const char *name = profile_get_thread(l->now->profile, i)->name;

		for (size_t n = 0; n < sizeof(carriers) / sizeof(carriers[0]); n++)
			if (!strncmp(name, carriers[n], strlen(carriers[n])))
				return true;
	}
	return false;
}

const char *const *live_event_warning(void *ctx, int event)
{
	static const char *const warning[] = {
		"This JVM seems to run virtual threads. Sampling allocations enables JVMTI,",
		"which makes them switch carriers more slowly (measured: about a third)",
		"until the JVM ends. It cannot be undone.", NULL};
	const struct live *l = ctx;

	if (event != EVENT_ALLOC || !l->now->session ||
		atoi(session_vitals(l->now->session)->jdk) < JVMTI_SLOWS_SINCE || !live_virtual(l))
		return NULL;
	return warning;
}

/* Switches cpu to the engine after the current one, cyclically. */
int live_event_engine(void *ctx, int event, struct err *err)
{
	struct live *l = ctx;
	int i = 0;

	if (!l->now->session)
		return err_set(err, ERR_FAILED,
			l->now->shared
				? "Only the jhot that owns the session can change its events."
				: "The events of a recording cannot be changed.");
	if (event != EVENT_CPU)
		return 1;
	const char *now = session_vitals(l->now->session)->events[event].engine;
	while (session_engines[i] && strcmp(session_engines[i], now) != 0)
		i++;
	const char *before = l->now->how[event].engine;
	l->now->how[event].engine = session_engines[i] && session_engines[i + 1]
					    ? session_engines[i + 1]
					    : session_engines[0];
	if (!session_event_begin(l->now->session, &l->now->how[event], err))
		return 0;
	l->now->how[event].engine = before;
	session_event_begin(l->now->session, &l->now->how[event], NULL);
	return -1;
}

/*
 * An id for another perf event: an unused one, else that of the event with the fewest samples among those that are off.
 * -1: all are on.
 */
static int live_free_event(const struct live *l)
{
	const struct vitals *v = session_vitals(l->now->session);
	int best = -1;

	for (int i = EVENT_USER_FIRST; i < PROFILE_EVENTS; i++) {
		if (!l->now->how[i].name)
			return i;
		if (v->events[i].state != VITALS_ON &&
			(best < 0 || v->events[i].samples < v->events[best].samples))
			best = i;
	}
	return best;
}

int live_event_add(void *ctx, const char *name, struct err *err)
{
	struct live *l = ctx;

	if (!l->now->session)
		return err_set(err, ERR_FAILED, "Events can only be added to a live session.");
	for (int i = 0; i < PROFILE_EVENTS; i++)
		if (!strcmp(profile_get_event(l->now->profile, i)->name, name) &&
			(i < EVENT_USER_FIRST || l->now->how[i].name))
			return i;
	int id = live_free_event(l);
	if (id < 0)
		return err_set(err, ERR_USAGE,
			"All %d perf events are on. Switch one off to add another.",
			PROFILE_EVENTS - EVENT_USER_FIRST);
	if (strlen(name) >= sizeof(l->now->user_names[0]))
		return err_set(
			err, ERR_USAGE, "The name of the event \"%.40s...\" is too long.", name);
	/* Resolve the event in this JVM, and store it under this id with a copy of its name. */
	struct events one = {0};
	char *kept = l->now->user_names[id - EVENT_USER_FIRST];
	if (events_add_perf(&one, name, err) ||
		events_resolve(&one, session_vitals(l->now->session)->pid, &l->patience, err))
		return -1;
	snprintf(kept, sizeof(l->now->user_names[0]), "%s", name);
	l->now->how[id] = one.how[0];
	l->now->how[id].event = id;
	l->now->how[id].name = kept;
	l->now->how[id].user_only = l->now->how[EVENT_CPU].user_only;
	l->now->how[id].kernel_only = l->now->how[EVENT_CPU].kernel_only;

	/* Drains the samples of the event that had this id before. */
	if (session_drain(l->now->session, err) < 0)
		return -1;
	profile_event_set(
		l->now->profile, id, name, l->now->how[id].unit, l->now->how[id].interval);
	return id;
}

const char *live_event_name(void *ctx, int i)
{
	struct live *l = ctx;

	if (l->name_count < 0)
		l->name_count = events_names(l->names, l->now->how[EVENT_CPU].user_only);
	return i < l->name_count ? l->names[i] : NULL;
}

int live_latency(void *ctx, const char *method, uint64_t *begin_ns, struct err *err)
{
	struct session *session = ((struct live *)ctx)->now->session;

	if (!session)
		return err_set(err, ERR_FAILED,
			"Only the owner of a live session can measure the latency of calls.");
	int rc = session_latency(session, method, 0, err);
	*begin_ns = session_now_ns(session) - session_start_ns(session);
	return rc;
}
