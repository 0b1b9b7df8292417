/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of events, frame types and thread states; user events; intervals; pulses. */
#include "profile/model/model.h"

#include "base/clean.h"
#include "base/clock.h"

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
	[FRAME_NO_INLINING] = {'~', "compiled, without inlining info"},
	[FRAME_INTERPRETED] = {'I', "interpreted"},
	[FRAME_JAVA] = {'J', "Java"},
	[FRAME_NATIVE] = {'n', "native"},
	[FRAME_VM] = {'v', "VM"},
	[FRAME_KERNEL] = {'k', "kernel"},
	[FRAME_CLASS] = {'c', "class"},
	[FRAME_BREAK] = {'?', "broken"},
	[FRAME_CLASS_OUTSIDE] = {'o', "class, outside of the thread's buffer"},
	[FRAME_WAITS] = {'w', "waits"},
	[FRAME_CONTEXT] = {'r', "attribute of the request"},
	[FRAME_C1_NO_INLINING] = {'~', "compiled by C1, without inlining info"},
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
	if (event < 0 || event >= PROFILE_EVENTS)
		event = EVENT_CPU;
	if (!p || event < EVENT_USER_FIRST)
		return &profile_events[event];
	const struct model_event *e = &p->user_events[event - EVENT_USER_FIRST];
	return e->pub.name ? &e->pub : &profile_events[event];
}

void profile_interval_add(struct profile *p, int event, uint64_t interval)
{
	if (!interval || event < 0 || event >= PROFILE_EVENTS)
		return;
	struct profile_intervals *i = &p->intervals[event];
	i->least = i->least && i->least < interval ? i->least : interval;
	i->most = i->most > interval ? i->most : interval;
}

struct profile_intervals profile_get_intervals(const struct profile *p, int event)
{
	return p->intervals[event];
}

/*
 * Lock waits have no interval. Weights of alloc and wall vary around the interval even if it is
 * constant, and those of wall exceed it several times when only some of many virtual threads are
 * polled.
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

/* --- pulses ------------------------------------------------------------------------------------------- */

#define PART_NS   (NS_PER_S / PROFILE_PULSE)
#define LENGTH_NS (2 * NS_PER_S) /* longer than this says nothing about parts of a second */

void profile_add_pulse(
	struct profile *p, int event, uint64_t from_ns, uint64_t to_ns, uint64_t weight)
{
	uint64_t to = to_ns > from_ns ? to_ns : from_ns + 1, length = to - from_ns, end;

	if (event < 0 || event >= PROFILE_EVENTS || !weight || length > LENGTH_NS ||
		to / NS_PER_S >= PROFILE_NONE)
		return;
	for (uint64_t at = from_ns; at < to; at = end) {
		end = at - at % PART_NS + PART_NS;
		if (end > to)
			end = to;
		slices_pulse(&p->events[event], (uint32_t)(at / NS_PER_S),
			(unsigned)(at % NS_PER_S / PART_NS),
			(float)((double)weight * (double)(end - at) / (double)length));
	}
}

bool profile_pulse(const struct profile *p, int event, uint32_t second, uint8_t out[PROFILE_PULSE])
{
	float most = 0;

	if (event < 0 || event >= PROFILE_EVENTS)
		return false;
	const struct slices *s = &p->events[event];
	uint32_t i = slices_find(s, second);
	const struct slice *sl = i < s->count && s->list[i].from == second ? &s->list[i] : NULL;
	for (unsigned k = 0; sl && sl->pulse && k < PROFILE_PULSE; k++)
		most = sl->pulse[k] > most ? sl->pulse[k] : most;
	if (most <= 0)
		return false;
	for (unsigned k = 0; k < PROFILE_PULSE; k++)
		out[k] = (uint8_t)(sl->pulse[k] / most * PROFILE_PULSE_MOST + 0.5f);
	return true;
}
