/* SPDX-License-Identifier: Apache-2.0 */
/* Once a second: measures the cost per event, and lengthens or shortens intervals. */
#include "sampler/session/publisher.h"

#include "base/clock.h"
#include "sampler/engine/arms.h"
#include "sampler/engine/events.h"
#include "sampler/engine/wall.h"
#include "sampler/publish/publish.h"
#include "sampler/text.h"

#define BUDGET_POLL_NS (1 * NS_PER_S)
/* Consecutive checks over budget before an interval changes: setting up at the start is not sampling. */
#define BUDGET_PATIENT 2u
#define BUDGET_STEP    8u   /* upper bound of the factor in one step */
#define BUDGET_LONGEST 256u /* upper bound of the factor in total */
/*
 * The default budget keeps cpu at 20 Hz, and wall at 2 Hz or, with many threads that do not rest, at 400 polls a
 * second: the screen and the findings are wrong with fewer samples. These bounds do not apply to a budget set by the
 * user.
 */
#define BUDGET_CPU_NS (50 * NS_PER_MS)

void budget_set(struct sampler *s, uint32_t per_mille, bool defaults_only)
{
	s->budget.per_mille = per_mille;
	s->budget.defaults_only = defaults_only;
	s->budget.over = 0;
}

/* True for events the budget applies to. */
static bool budget_for(const struct sampler *s, const struct event *event)
{
	return atomic_load(&event->on) && (event->is_default || !s->budget.defaults_only);
}

/* The longest interval of an event. */
static uint64_t budget_longest(const struct sampler *s, uint32_t id)
{
	uint64_t asked = s->events[id].asked, longest = asked * BUDGET_LONGEST;

	if (s->budget.defaults_only && id == WIRE_CPU)
		longest = BUDGET_CPU_NS;
	if (s->budget.defaults_only && id == WIRE_WALL)
		longest = wall_round_longest(atomic_load(&s->wall.active));
	return longest > asked ? longest : asked;
}

static void add_percent(struct text *t, uint64_t per_mille)
{
	text_add_number(t, per_mille / 10);
	text_add(t, ".");
	text_add_number(t, per_mille % 10);
	text_add(t, " % of a core");
}

/* Reports the change on the event's line and as a note in the stream. */
static void budget_report(struct sampler *s, uint32_t id, uint64_t now, uint64_t share)
{
	struct event *event = &s->events[id];
	uint64_t interval = atomic_load(&event->interval);
	bool longer = interval > event->asked;
	char note[96];
	struct text text = text_into(note, sizeof(note));

	text_add(&text, "sampled every ");
	text_add_interval(&text, interval, event_unit(id));
	text_add(&text, ", not ");
	text_add_interval(&text, event->asked, event_unit(id));
	text_add(&text, ", to stay under ");
	add_percent(&text, s->budget.per_mille);
	text_add(&text, ": it cost ");
	add_percent(&text, share);
	events_note(s, id, longer ? note : "");
	if (!longer) {
		text = text_into(note, sizeof(note));
		text_add(&text, "sampled at the requested interval again: it costs ");
		add_percent(&text, share);
	}
	publish_note(s->publish, WIRE_NOTE_TEXT, now, id + 1, note);
}

/*
 * The most expensive event that can still be sampled less often; WIRE_EVENTS if none costs enough. *at_longest: true
 * when a costly event is already at its longest interval.
 */
static uint32_t budget_costliest(const struct sampler *s, const uint64_t *share, bool *at_longest)
{
	uint32_t most = WIRE_EVENTS;

	*at_longest = false;
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		if (!budget_for(s, &s->events[i]) || share[i] * 4 < s->budget.per_mille)
			continue;
		if (atomic_load(&s->events[i].interval) >= budget_longest(s, i))
			*at_longest = true;
		else if (most == WIRE_EVENTS || share[i] > share[most])
			most = i;
	}
	return most;
}

/* Publishes a note, once per overrun, that the budget cannot be met. */
static void budget_exceeded(struct sampler *s, uint64_t now, uint64_t whole)
{
	char note[96];
	struct text text = text_into(note, sizeof(note));

	if (s->budget.exceeded)
		return;
	s->budget.exceeded = true;
	text_add(&text, "sampling costs ");
	add_percent(&text, whole);
	text_add(&text, ", over its budget: events are at their longest intervals");
	publish_note(s->publish, WIRE_NOTE_TEXT, now, 0, note);
}

/* Lengthens the interval of the most expensive event. */
static void budget_less(struct sampler *s, uint64_t now, uint64_t whole, const uint64_t *share)
{
	bool at_longest;
	uint32_t id = budget_costliest(s, share, &at_longest);
	uint64_t times = 2;

	if (id == WIRE_EVENTS && at_longest)
		budget_exceeded(s, now, whole);
	if (id == WIRE_EVENTS)
		return;
	uint64_t left = whole - share[id] < s->budget.per_mille
				? s->budget.per_mille - (whole - share[id])
				: 0;
	while (times < BUDGET_STEP && share[id] / times > left)
		times *= 2;
	uint64_t interval = atomic_load(&s->events[id].interval) * times;
	uint64_t longest = budget_longest(s, id);
	events_pace(s, id, interval < longest ? interval : longest);
	budget_report(s, id, now, whole);
}

/* Halves the interval of the most lengthened event if twice its cost still fits, with a margin of a quarter. */
static void budget_more(struct sampler *s, uint64_t now, uint64_t whole, const uint64_t *share)
{
	uint32_t id = WIRE_EVENTS;
	uint64_t most = 0;

	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		struct event *event = &s->events[i];
		uint64_t interval = atomic_load(&event->interval);

		if (!budget_for(s, event) || interval <= event->asked ||
			interval * 16 / event->asked <= most)
			continue;
		most = interval * 16 / event->asked;
		id = i;
	}
	if (id == WIRE_EVENTS || (whole + share[id]) * 4 > s->budget.per_mille * 3)
		return;
	uint64_t half = atomic_load(&s->events[id].interval) / 2;
	events_pace(s, id, half > s->events[id].asked ? half : s->events[id].asked);
	budget_report(s, id, now, whole);
}

/*
 * The cost to compare with the budget: everything, unless other events are sampled at requested intervals. Then it is
 * the cost of the budget's own events, because the rest is mostly caused by the others.
 */
static uint64_t budget_whole(const struct sampler *s, uint64_t all, const uint64_t *share)
{
	uint64_t sum = 0;
	bool others = false;

	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		bool counts = budget_for(s, &s->events[i]);

		others |= !counts && atomic_load(&s->events[i].on);
		sum += counts ? share[i] : 0;
	}
	return others ? sum : all;
}

void budget_check(struct sampler *s, uint64_t now, uint64_t cost)
{
	struct budget *b = &s->budget;
	uint64_t share[WIRE_EVENTS], past = now - b->polled_ns;

	if (past < BUDGET_POLL_NS)
		return;
	for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
		uint64_t event_cost = atomic_load(&s->events[i].thread_ns) +
				      atomic_load(&s->events[i].handlers_ns);

		share[i] = (event_cost - b->event_ns[i]) * 1000 / past;
		b->event_ns[i] = event_cost;
	}
	uint64_t whole = budget_whole(s, (cost - b->cost_ns) * 1000 / past, share);
	b->cost_ns = cost;
	if (b->polled_ns && b->per_mille) {
		b->over = whole > b->per_mille ? b->over + 1 : 0;
		if (b->over >= BUDGET_PATIENT)
			budget_less(s, now, whole, share);
		else if (!b->over)
			budget_more(s, now, whole, share);
		b->exceeded &= b->over > 0;
	}
	b->polled_ns = now;
}
