/* SPDX-License-Identifier: Apache-2.0 */
/* An interval must have the unit of every event that it is for. */
#include "cli/events.h"

#include "cli/nearest.h"
#include "cli/units.h"

#include <stdio.h>
#include <string.h>

static int events_unknown(const char *name, struct err *err)
{
	struct nearest near;

	nearest_init(&near, name);
	for (int i = 0; i < EVENT_USER_FIRST; i++)
		nearest_offer(&near, profile_events[i].name);
	err_set(err, ERR_USAGE, "There is no event \"%s\".", name);
	err_hint(err, "-e %s", near.best ? near.best : "cpu");
	err_hint(err, "the events are cpu, alloc, lock and wall");
	return -1;
}

static int events_add(struct events *out, const char *name, struct err *err)
{
	int id = profile_event_find(name);

	if (id < 0 || id >= EVENT_USER_FIRST)
		return events_unknown(name, err);
	for (int i = 0; i < out->count; i++)
		if (out->ids[i] == id)
			return err_set(err, ERR_USAGE, "The event \"%s\" is named twice.", name);
	out->ids[out->count++] = id;
	return 0;
}

static int events_add_list(struct events *out, const char *list, struct err *err)
{
	while (*list) {
		size_t len = strcspn(list, ",");
		char name[32];

		snprintf(name, sizeof(name), "%.*s", len < 31 ? (int)len : 31, list);
		if (events_add(out, name, err))
			return -1;
		list += len;
		list += *list == ',';
	}
	return 0;
}

static int events_check_interval(const struct events *e, enum units_kind kind, struct err *err)
{
	for (int i = 0; i < e->count; i++) {
		const struct profile_event *event = &profile_events[e->ids[i]];

		if (kind == UNITS_PLAIN || (kind == UNITS_TIME) == event->weight_is_time)
			continue;
		err_set(err, ERR_USAGE, "The interval of \"%s\" is %s.", event->name,
			event->weight_is_time ? "a time, as in 10ms" : "a size, as in 512k");
		return -1;
	}
	return 0;
}

int events_parse(struct events *out, const struct args *args, int fallback, struct err *err)
{
	const char *interval = args_get(args, OPT_INTERVAL);
	enum units_kind kind = UNITS_PLAIN;

	memset(out, 0, sizeof(*out));
	for (int i = 0; i < args_count(args, OPT_EVENT); i++)
		if (events_add_list(out, args_nth(args, OPT_EVENT, i), err))
			return -1;
	if (!out->count && fallback >= 0)
		out->ids[out->count++] = fallback;
	if (interval && units_interval(interval, &out->interval, &kind, err))
		return -1;
	return events_check_interval(out, kind, err);
}
