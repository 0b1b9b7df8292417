/* SPDX-License-Identifier: Apache-2.0 */
/* perf events in -e: parsed with the command line; functions are resolved once the JVM is known. */
#include "cli/line/events.h"

#include "attach/perf/events.h"
#include "cli/line/nearest.h"

#include <stdio.h>
#include <string.h>

int events_unknown(const char *name, struct err *err)
{
	struct perf_event perf;
	struct nearest near;

	nearest_init(&near, name);
	for (int i = 0; i < EVENT_USER_FIRST; i++)
		nearest_offer(&near, profile_events[i].name);
	for (int i = 0; perf_events_each(i, &perf); i++)
		nearest_offer(&near, perf.name);
	if (near.best)
		err_hint(err, "-e %s", near.best);
	err_hint(err, "jhot events     lists cpu, alloc, lock, wall and perf's events");
	return -1;
}

int events_names(const char *names[EVENTS_NAMES], bool user_only)
{
	struct perf_event event;
	char why[256];
	int count = 0;

	for (int i = 0; perf_events_each(i, &event) && count < EVENTS_NAMES; i++)
		if (!perf_events_probe(&event, user_only, why, sizeof(why)))
			names[count++] = event.name;
	return count;
}

/* True for pkg.Class.method and pkg/Class.method. The form with dots may also be a C function. */
static bool perf_is_java(const char *name)
{
	const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');

	return dot && dot[1] && !strpbrk(name, ":=,") && (!slash || slash < dot);
}

static int perf_java(const char *name, struct err *err)
{
	const char *method = strrchr(name, '.') + 1;

	err_set(err, ERR_USAGE,
		"\"%s\" looks like a Java method, whose calls cannot be traced: only native "
		"functions can be events.",
		name);
	err_hint(err, "-e cpu or -e wall, then search for %s to see where it spends time", method);
	return -1;
}

static void perf_apply(struct session_event *how, const struct perf_event *perf)
{
	how->perf.type = perf->type;
	how->perf.bp_type = perf->bp_type;
	how->perf.config = perf->config;
	how->perf.config1 = perf->config1;
	how->perf.config2 = perf->config2;
	how->unit = perf->unit;
	how->chosen = !how->interval;
	how->interval = how->interval ? how->interval : perf->interval;
}

/* Accepts any function; functions_find looks it up later. */
static int function_later(
	void *ctx, const char *library, const char *function, uint64_t *address, struct err *err)
{
	*address = 0;
	return 0;
}

int events_add_perf(struct events *e, const char *name, struct err *err)
{
	struct perf_event perf;
	int id = EVENT_USER_FIRST, i = e->count;

	if (strchr(name, '/') && perf_is_java(name))
		return perf_java(name, err);
	if (perf_events_find(name, function_later, NULL, &perf, err))
		return events_unknown(name, err);
	for (int k = 0; k < e->count; k++)
		id += e->ids[k] >= EVENT_USER_FIRST;
	if (id >= PROFILE_EVENTS)
		return err_set(err, ERR_USAGE,
			"At most %d perf events can be sampled at the same time.",
			PROFILE_EVENTS - EVENT_USER_FIRST);
	snprintf(e->names[i], sizeof(e->names[i]), "%s", name);
	e->ids[i] = id;
	e->how[i] = (struct session_event){.event = id, .name = e->names[i]};
	perf_apply(&e->how[i], &perf);
	e->how[i].interval = 0; /* -i may set another */
	e->count++;
	return 0;
}

int events_resolve(struct events *e, pid_t pid, const struct patience *patience, struct err *err)
{
	struct functions_in in = {pid, patience ? *patience : (struct patience){0}};

	for (int i = 0; i < e->count; i++) {
		struct perf_event perf;

		if (e->ids[i] < EVENT_USER_FIRST)
			continue;
		if (perf_events_find(e->names[i], functions_find, &in, &perf, err)) {
			if (!patience_left(&in.patience))
				return err_set(err, ERR_FAILED,
					"The search for \"%s\" was cancelled.", e->names[i]);
			return perf_is_java(e->names[i]) ? perf_java(e->names[i], err)
							 : events_unknown(e->names[i], err);
		}
		perf_apply(&e->how[i], &perf);
	}
	return 0;
}
