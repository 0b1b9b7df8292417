/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing -e, -i and the other sampling options; starting the events in a session. */
#include "cli/line/events.h"

#include "cli/line/args.h"
#include "cli/line/units.h"

#include <stdio.h>
#include <string.h>

/* --- one event of the list --------------------------------------------------------------------------- */

/* NAME or NAME=INTERVAL; commas and equals signs between slashes are part of the name: cpu/event=0x3c,umask=1/ */
struct events_item {
	char name[64];
	char interval[32];
};

static const char *events_next_item(const char *list, struct events_item *item, struct err *err)
{
	const char *end = list, *equals = NULL;
	bool inside = false;

	for (; *end && (inside || *end != ','); end++) {
		inside ^= *end == '/';
		if (*end == '=' && !inside)
			equals = end;
	}
	const char *name_end = equals ? equals : end;
	if ((size_t)(name_end - list) >= sizeof(item->name) ||
		(equals && (size_t)(end - equals) > sizeof(item->interval))) {
		err_set(err, ERR_USAGE, "The name of the event \"%.*s\" is too long.",
			(int)(end - list), list);
		return NULL;
	}
	snprintf(item->name, sizeof(item->name), "%.*s", (int)(name_end - list), list);
	snprintf(item->interval, sizeof(item->interval), "%.*s",
		equals ? (int)(end - equals) - 1 : 0, equals ? equals + 1 : "");
	return end + (*end == ',');
}

static int events_set_interval(struct events *e, int i, const char *text, struct err *err)
{
	const struct profile_event *event = profile_get_event(NULL, e->ids[i]);
	bool time = event->weight_is_time, bytes = e->ids[i] == EVENT_ALLOC;
	enum units_kind kind;

	if (units_interval(text, &e->how[i].interval, &kind, err))
		return -1;
	if (kind == UNITS_PLAIN || (kind == UNITS_TIME && time) || (kind == UNITS_BYTES && bytes))
		return 0;
	return err_set(err, ERR_USAGE, "The interval of \"%s\" must be %s.", e->names[i],
		time    ? "a time, such as 10ms"
		: bytes ? "a size, such as 512k"
			: "a number of events, such as 10000");
}

void events_insert(struct events *e, const struct profile *p, int id)
{
	e->ids[e->count] = id;
	e->how[e->count] = (struct session_event){.event = id};
	snprintf(e->names[e->count], sizeof(e->names[0]), "%s", profile_get_event(p, id)->name);
	e->count++;
}

static int events_add(struct events *e, const struct events_item *item, struct err *err)
{
	int id = profile_event_find(item->name);

	for (int k = 0; k < e->count; k++)
		if (!strcmp(e->names[k], item->name))
			return err_set(
				err, ERR_USAGE, "The event \"%s\" is given twice.", item->name);
	if (id >= 0 && id < EVENT_USER_FIRST)
		events_insert(e, NULL, id);
	else if (events_add_perf(e, item->name, err))
		return -1;
	return *item->interval ? events_set_interval(e, e->count - 1, item->interval, err) : 0;
}

/* --- options for all events -------------------------------------------------------------------------- */

/* -i: sets the interval of every event of its unit that has none. An error if that matches no event. */
static int events_share_interval(struct events *e, const char *text, struct err *err)
{
	struct err first = {0}, why = {0};
	bool matched = false;

	for (int i = 0; i < e->count; i++) {
		if (e->how[i].interval)
			continue;
		if (!events_set_interval(e, i, text, &why)) {
			matched = true;
			continue;
		}
		e->how[i].interval = 0;
		if (first.kind == ERR_NONE)
			first = why;
	}
	if (matched || first.kind == ERR_NONE)
		return 0;
	*err = first;
	return -1;
}

/* --engine: only cpu has a choice of engines. */
static int events_engine(struct events *e, const char *name, struct err *err)
{
	const char *const *engine = session_engines;
	int i = 0;

	while (*engine && strcmp(*engine, name) != 0)
		engine++;
	if (!*engine)
		return err_set(
			err, ERR_USAGE, "--engine must be perf, ctimer or lent, not \"%s\".", name);
	while (i < e->count && e->ids[i] != EVENT_CPU)
		i++;
	if (i == e->count)
		return err_set(
			err, ERR_USAGE, "--engine needs the event cpu, which is not sampled.");
	e->how[i].engine = *engine;
	return 0;
}

/*
 * Defaults: --depth alone cuts at the root, --keep-root alone applies to stacks of more than
 * SESSION_DEPTH_MAX frames.
 */
static int events_depth(struct events *e, const struct args *args, struct err *err)
{
	const char *depth = args_get(args, OPT_DEPTH), *top = args_get(args, OPT_KEEP_TOP);
	const char *root = args_get(args, OPT_KEEP_ROOT);

	if (!depth && !top && !root)
		return 0;
	e->depth = SESSION_DEPTH_MAX;
	if ((depth && units_count(depth, "--depth", SESSION_DEPTH_MAX, &e->depth, err)) ||
		(root && units_count(root, "--keep-root", SESSION_DEPTH_MAX, &e->root, err)))
		return -1;
	if (e->root + 2 > e->depth && e->root)
		return err_set(err, ERR_USAGE,
			"--keep-root=%u leaves no frame for the top of stacks of %u frames.",
			e->root, e->depth);
	e->top = e->root ? e->depth - e->root - 1 : e->depth;
	return top ? units_count(top, "--keep-top", e->top, &e->top, err) : 0;
}

static bool events_have(const struct events *e, int id)
{
	for (int i = 0; i < e->count; i++)
		if (e->ids[i] == id)
			return true;
	return false;
}

int events_parse(struct events *out, const struct args *args, int fallback, struct err *err)
{
	const char *interval = args_get(args, OPT_INTERVAL), *budget = args_get(args, OPT_BUDGET);
	struct events_item item;

	memset(out, 0, sizeof(*out));
	out->budget = -1;
	out->only_threads = args_get(args, OPT_ONLY_THREADS);
	out->latency = args_get(args, OPT_LATENCY);
	for (int i = 0; i < args_count(args, OPT_EVENT); i++) {
		for (const char *list = args_nth(args, OPT_EVENT, i); *list;) {
			list = events_next_item(list, &item, err);
			if (!list || events_add(out, &item, err))
				return -1;
		}
	}
	if (!out->count && fallback >= 0)
		events_insert(out, NULL, fallback);
	for (int i = EVENT_LOCK; out->latency && i <= EVENT_WALL; i++)
		if (!events_have(out, i))
			events_insert(out, NULL, i);
	if (interval && events_share_interval(out, interval, err))
		return -1;
	if (args_get(args, OPT_ENGINE) && events_engine(out, args_get(args, OPT_ENGINE), err))
		return -1;
	if (budget && units_per_mille(budget, &out->budget, err))
		return -1;
	if (events_depth(out, args, err))
		return -1;
	bool live = args_has(args, OPT_LIVE), any = false;
	bool user = args_has(args, OPT_USER), kernel = args_has(args, OPT_KERNEL);
	if (user && kernel)
		return err_set(err, ERR_USAGE, "-u and -k cannot be used together.");
	for (int i = 0; i < out->count; i++) {
		any = any || out->ids[i] == EVENT_ALLOC;
		out->how[i].live = live && out->ids[i] == EVENT_ALLOC;
		out->how[i].user_only = user;
		out->how[i].kernel_only = kernel;
	}
	if (!live || any)
		return 0;
	err_set(err, ERR_USAGE, "--live needs the event alloc, which is not sampled.");
	err_hint(err, "-e alloc --live");
	return -1;
}

int events_prepare(const struct events *e, struct session *s, struct err *err)
{
	unsigned budget = e->budget >= 0 ? (unsigned)e->budget : EVENTS_BUDGET;

	if (session_budget(s, budget, e->budget < 0, err) ||
		(e->depth && session_depth(s, e->depth, e->top, e->root, err)) ||
		(e->only_threads && session_only_threads(s, e->only_threads, err)))
		return -1;
	return 0;
}

/* Adds a hint with all events but the refused one. Always -1. */
static int events_refused(const struct events *e, int refused, struct err *err)
{
	char rest[256] = "";

	for (int i = 0; i < e->count; i++)
		if (i != refused)
			snprintf(rest + strlen(rest), sizeof(rest) - strlen(rest), "%s%s",
				*rest ? "," : "", e->names[i]);
	if (*rest)
		err_hint(err, "-e %s     samples the other events", rest);
	return -1;
}

int events_start(const struct events *e, struct session *s, struct err *err)
{
	int begun = 0;

	if (events_prepare(e, s, err))
		return -1;
	for (int i = 0; i < e->count; i++) {
		if (!session_event_begin(s, &e->how[i], err))
			begun++;
		else if (!e->optional || err->kind == ERR_GONE)
			return events_refused(e, i, err);
	}
	if (begun && e->latency)
		return session_latency(s, e->latency, 0, err);
	return begun || !e->count ? 0 : -1;
}

/* --- events of a profile ----------------------------------------------------------------------------- */

bool events_sampled(const struct profile *p, int id)
{
	struct profile_query q = profile_whole(id);

	return profile_sum(p, &q).count > 0;
}

static int events_named(
	struct events *out, const char *list, const struct profile *p, struct err *err)
{
	struct events_item item;

	while (*list && out->count < PROFILE_EVENTS) {
		int id = 0;

		list = events_next_item(list, &item, err);
		if (!list)
			return -1;
		while (id < PROFILE_EVENTS && strcmp(profile_get_event(p, id)->name, item.name))
			id++;
		if (id == PROFILE_EVENTS) {
			err_set(err, ERR_USAGE, "The event \"%s\" was not sampled.", item.name);
			return events_unknown(item.name, err);
		}
		events_insert(out, p, id);
	}
	return 0;
}

int events_of_profile(
	struct events *out, const struct args *args, const struct profile *p, struct err *err)
{
	memset(out, 0, sizeof(*out));
	for (int i = 0; i < args_count(args, OPT_EVENT); i++)
		if (events_named(out, args_nth(args, OPT_EVENT, i), p, err))
			return -1;
	if (out->count)
		return 0;
	for (int i = 0; i < PROFILE_EVENTS; i++)
		if (events_sampled(p, i))
			events_insert(out, p, i);
	if (!out->count)
		events_insert(out, p, EVENT_CPU);
	return 0;
}
