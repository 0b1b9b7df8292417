/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the live view: on, off, at another interval, by another engine, and one of perf's more. */
#include "cli/live/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JVMTI_SLOWS_SINCE 19 /* JDK: virtual threads, from when it is asked for */

void live_set_how(struct live *l)
{
	for (int i = 0; i < PROFILE_EVENTS; i++)
		l->now->how[i] = (struct session_event){.event = i,
			.user_only = l->events->how[0].user_only,
			.kernel_only = l->events->how[0].kernel_only};
	for (int i = 0; i < l->now->resolved.count; i++)
		l->now->how[l->now->resolved.ids[i]] = l->now->resolved.how[i];
}

/* An event of a recording is there if it has samples (so far); nothing can be changed. */
static int live_recorded(
	const struct live *l, int event, bool on, uint64_t interval, struct err *err)
{
	struct profile_query q = profile_whole(event);

	if (!on || interval)
		return err_set(err, ERR_FAILED, "A %s holds the events it was made with.",
			l->now->file ? "file" : "recording");
	if (profile_sum(l->now->profile, &q).count)
		return 0;
	return err_set(err, ERR_FAILED, "The %s has no samples of \"%s\".",
		l->now->file ? "file" : "recording",
		profile_get_event(l->now->profile, event)->name);
}

int live_event_set(void *ctx, int event, bool on, uint64_t interval, struct err *err)
{
	struct live *l = ctx;

	if (!l->now->session && !l->now->file && !l->now->replay)
		return err_set(err, ERR_FAILED, "No JVM is attached.");
	if (l->now->replay || l->now->file)
		return live_recorded(l, event, on, interval, err);
	if (!on)
		return session_event_stop(l->now->session, event, err);
	if (!interval && session_vitals(l->now->session)->events[event].state == VITALS_ON)
		return 0;
	if (interval) {
		l->now->how[event].interval = interval;
		l->now->how[event].chosen = false;
	}
	return session_event_begin(l->now->session, &l->now->how[event], err);
}

/* live_virtual: has it threads that virtual threads run on? By the names that the JDK gives them. */
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
		"This JVM seems to run virtual threads. Once its allocations have been",
		"sampled, they change carriers more slowly (about a third, as measured),",
		"until the JVM ends: it was asked for JVMTI then, and never forgets that.", NULL};
	const struct live *l = ctx;

	if (event != EVENT_ALLOC || !l->now->session ||
		atoi(session_vitals(l->now->session)->jdk) < JVMTI_SLOWS_SINCE || !live_virtual(l))
		return NULL;
	return warning;
}

/* The engine after the one that it has now. */
static const char *live_next_engine(const struct live *l, int event)
{
	const char *now = session_vitals(l->now->session)->events[event].engine;
	int i = 0;

	while (session_engines[i] && strcmp(session_engines[i], now) != 0)
		i++;
	return session_engines[i] && session_engines[i + 1] ? session_engines[i + 1]
							    : session_engines[0];
}

int live_event_engine(void *ctx, int event, struct err *err)
{
	struct live *l = ctx;
	const char *before;

	if (!l->now->session)
		return err_set(err, ERR_FAILED, "A recording holds the events it was made with.");
	if (event != EVENT_CPU)
		return 1;
	before = l->now->how[event].engine;
	l->now->how[event].engine = live_next_engine(l, event);
	if (!session_event_begin(l->now->session, &l->now->how[event], err))
		return 0;
	l->now->how[event].engine = before;
	session_event_begin(l->now->session, &l->now->how[event], NULL);
	return -1;
}

/* An event that is there already by this name; -1: none. */
static int live_known(const struct live *l, const char *name)
{
	for (int i = 0; i < PROFILE_EVENTS; i++)
		if (!strcmp(profile_get_event(l->now->profile, i)->name, name) &&
			(i < EVENT_USER_FIRST || l->now->how[i].name))
			return i;
	return -1;
}

/*
 * A number for another of perf's events: one that none has had yet, else that of the one with the fewest samples of
 * those that are off. -1: all are on.
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

/* What it is in this JVM; the name is kept in l. */
static int live_take_event(struct live *l, int number, const char *name, struct err *err)
{
	struct events one = {0};
	char *kept = l->now->user_names[number - EVENT_USER_FIRST];

	if (events_add_perf(&one, name, err) ||
		events_resolve(&one, session_vitals(l->now->session)->pid, &l->patience, err))
		return -1;
	snprintf(kept, sizeof(l->now->user_names[0]), "%s", name);
	l->now->how[number] = one.how[0];
	l->now->how[number].event = number;
	l->now->how[number].name = kept;
	l->now->how[number].user_only = l->now->how[EVENT_CPU].user_only;
	l->now->how[number].kernel_only = l->now->how[EVENT_CPU].kernel_only;
	return 0;
}

int live_event_add(void *ctx, const char *name, struct err *err)
{
	struct live *l = ctx;
	int number;

	if (!l->now->session)
		return err_set(err, ERR_FAILED, "Events can only be added to a live session.");
	number = live_known(l, name);
	if (number >= 0)
		return number;
	number = live_free_event(l);
	if (number < 0)
		return err_set(err, ERR_USAGE,
			"All %d of perf's events are on: switch one off before another is added.",
			PROFILE_EVENTS - EVENT_USER_FIRST);
	if (strlen(name) >= sizeof(l->now->user_names[0]))
		return err_set(err, ERR_USAGE, "\"%.40s...\" is too long for an event.", name);
	if (live_take_event(l, number, name, err))
		return -1;
	if (session_drain(l->now->session, err) < 0) /* the last of the one that had the number */
		return -1;
	profile_event_set(l->now->profile, number, name, l->now->how[number].unit,
		l->now->how[number].interval);
	return number;
}

const char *live_event_name(void *ctx, int i)
{
	struct live *l = ctx;

	if (l->name_count < 0)
		l->name_count = events_names(l->names, l->now->how[EVENT_CPU].user_only);
	return i < l->name_count ? l->names[i] : NULL;
}
