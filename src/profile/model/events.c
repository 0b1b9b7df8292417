/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of events, of frame types and of thread states; user events' names. */
#include "profile/model/model.h"

#include "base/clean.h"

#include <stdio.h>
#include <string.h>

const struct profile_event profile_events[PROFILE_EVENTS] = {
	[EVENT_CPU] = {"cpu", "ns", "samples of CPU time", 10000000, true},
	[EVENT_ALLOC] = {"alloc", "bytes", "samples of allocated memory", 512 * 1024, false},
	[EVENT_LOCK] = {"lock", "ns", "waits for contended locks", 5000000, true},
	[EVENT_WALL] = {"wall", "ns", "samples of wall-clock time", 50000000, true},
	[EVENT_USER_FIRST] = {"user1", "events", "samples of a chosen event", 1000, false},
	[EVENT_USER_FIRST + 1] = {"user2", "events", "samples of a chosen event", 1000, false},
	[EVENT_USER_FIRST + 2] = {"user3", "events", "samples of a chosen event", 1000, false},
	[EVENT_USER_FIRST + 3] = {"user4", "events", "samples of a chosen event", 1000, false},
};

const struct frame_type_info frame_types[FRAME_TYPES] = {
	[FRAME_COMPILED] = {'J', "compiled"},
	[FRAME_C1] = {'J', "C1-compiled"},
	[FRAME_INLINED] = {'i', "inlined"},
	[FRAME_COARSE] = {'~', "compiled, inlined methods not told apart"},
	[FRAME_INTERPRETED] = {'I', "interpreted"},
	[FRAME_JAVA] = {'J', "Java"},
	[FRAME_NATIVE] = {'n', "native"},
	[FRAME_VM] = {'v', "VM"},
	[FRAME_KERNEL] = {'k', "kernel"},
	[FRAME_CLASS] = {'c', "class"},
	[FRAME_BREAK] = {'?', "broken"},
	[FRAME_CLASS_OUTSIDE] = {'o', "class, outside of the thread's buffer"},
	[FRAME_WAITS] = {'w', "waits"},
	[FRAME_C1_COARSE] = {'~', "C1-compiled, inlined methods not told apart"},
};

const struct thread_state_info thread_states[THREAD_STATES] = {
	[THREAD_STATE_NONE] = {'-', "not known"},
	[THREAD_ON_CPU] = {'R', "runs"},
	[THREAD_RUNNABLE] = {'r', "waits for a core"},
	[THREAD_SLEEPING] = {'S', "sleeps"},
	[THREAD_MONITOR] = {'B', "waits for a monitor"},
	[THREAD_WAITING] = {'W', "waits to be notified"},
	[THREAD_PARKED] = {'P', "is parked"},
	[THREAD_IO] = {'I', "is in I/O"},
	[THREAD_CARRIER] = {'c', "waits for a carrier"},
};

void profile_event_set(
	struct profile *p, int event, const char *name, const char *unit, uint64_t interval)
{
	struct model_event *e;
	char clean[sizeof(e->name)];

	if (event < EVENT_USER_FIRST || event >= PROFILE_EVENTS)
		return;
	e = &p->user_events[event - EVENT_USER_FIRST];
	clean_text(clean, sizeof(clean), name, strlen(name));
	name = clean;
	if (e->pub.name && strcmp(e->name, name) != 0) {
		slices_done(&p->events[event]);
		slices_init(&p->events[event]);
		p->intervals[event] = (struct profile_intervals){0};
	}
	snprintf(e->name, sizeof(e->name), "%s", name);
	clean_text(e->unit, sizeof(e->unit), unit, strlen(unit));
	e->pub = profile_events[event];
	e->pub.name = e->name;
	e->pub.unit = e->unit;
	e->pub.default_interval = interval;
	e->pub.weight_is_time = !strcmp(e->unit, "ns");
}

const struct profile_event *profile_get_event(const struct profile *p, int event)
{
	const struct model_event *e;

	if (event < 0 || event >= PROFILE_EVENTS)
		event = EVENT_CPU;
	if (!p || event < EVENT_USER_FIRST)
		return &profile_events[event];
	e = &p->user_events[event - EVENT_USER_FIRST];
	return e->pub.name ? &e->pub : &profile_events[event];
}

void profile_interval_add(struct profile *p, int event, uint64_t interval)
{
	struct profile_intervals *i = &p->intervals[event];

	if (!interval || event < 0 || event >= PROFILE_EVENTS)
		return;
	i->least = i->least && i->least < interval ? i->least : interval;
	i->most = i->most > interval ? i->most : interval;
}

struct profile_intervals profile_get_intervals(const struct profile *p, int event)
{
	return p->intervals[event];
}

/*
 * Waits have no interval. Of alloc and wall even those of one interval stand for more or less than it; of the wall clock
 * for many times as much, where of many virtual threads some are looked at.
 */
uint64_t profile_sample_weight(const struct profile *p, int event)
{
	const struct profile_intervals *i = &p->intervals[event];
	const struct profile_sum *sum = &p->events[event].sum;
	bool varied = i->least != i->most;

	if (event == EVENT_WALL)
		varied |= sum->weight / 2 > sum->count * i->least;
	if (event == EVENT_LOCK || ((event == EVENT_ALLOC || event == EVENT_WALL) && !varied))
		return 0;
	return sum->weight == sum->count * i->least ? 0 : i->least;
}

int profile_event_find(const char *name)
{
	for (int i = 0; i < PROFILE_EVENTS; i++) {
		if (!strcmp(profile_events[i].name, name))
			return i;
	}
	return -1;
}
