/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: the tables of profile.proto are read first, then the samples.
 *
 * Each sample type is an event; a preceding type called "samples", "contentions" or "..._objects"
 * is its count. cpu, alloc_space, delay and wall are jhot's own events. Threads come from labels.
 * pprof has no times, so all samples are in second 0.
 */
#include "import/pprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_SAMPLE = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };

/* --- sample types ----------------------------------------------------------------------------------- */

static bool is_one_of(const char *text, const char *const *list)
{
	while (*list && strcmp(*list, text) != 0)
		list++;
	return *list;
}

static bool type_is_count(struct pprof *r, const struct pprof_type *t)
{
	static const char *const names[] = {"samples", "contentions", NULL};

	if (strcmp(pprof_text(r, t->unit), "count") != 0)
		return false;
	const char *name = pprof_text(r, t->name);
	size_t len = strlen(name);
	return is_one_of(name, names) || (len > 8 && !strcmp(name + len - 8, "_objects"));
}

static const char *type_unit(struct pprof *r, struct pprof_type *t)
{
	static const struct {
		const char *name, *unit;
		uint64_t scale;
	} units[] = {{"nanoseconds", "ns", 1}, {"microseconds", "ns", 1000},
		{"milliseconds", "ns", 1000000}, {"seconds", "ns", 1000000000},
		{"bytes", "bytes", 1}, {"count", "samples", 1}};
	const char *unit = pprof_text(r, t->unit);

	t->scale = 1;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(units[i].name, unit)) {
			t->scale = units[i].scale;
			return units[i].unit;
		}
	}
	return unit;
}

/* The event of a sample type; jhot's own are recognized by name. */
static int type_event(struct pprof *r, struct pprof_type *t, bool counted, struct err *err)
{
	static const struct {
		const char *type, *event;
	} own[] = {{"cpu", "cpu"}, {"alloc_space", "alloc"}, {"delay", "lock"}, {"wall", "wall"}};
	char *name = xstrdup(pprof_text(r, t->name));
	char *unit = xstrdup(type_unit(r, t));
	uint64_t interval = 0;
	const char *event = name;
	char other[64];

	snprintf(other, sizeof(other), "%s-%s", name, unit);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		int id = profile_event_find(own[i].event);

		if (!strcmp(own[i].type, name) && !strcmp(profile_events[id].unit, unit))
			event = own[i].event;
	}
	/* the name of one of jhot's events with another unit: "cpu-samples" */
	if (event == name && profile_event_find(name) >= 0 &&
		strcmp(profile_events[profile_event_find(name)].unit, unit) != 0)
		event = other;
	if (t->name == r->period_type.name && t->unit == r->period_type.unit &&
		r->period < INT64_MAX / t->scale)
		interval = r->period * t->scale;
	else if (!counted && !strcmp(unit, "samples"))
		interval = 1;
	t->interval = interval;
	t->event = feed_event(r->im, *event ? event : "values", unit, interval, err);
	/* Without a count, a value of 3 bytes is 3 samples, not one. */
	if (t->event >= 0 && !interval && !counted && strcmp(unit, "ns") != 0)
		profile_interval_add(r->im->p, t->event, 1);
	free(name);
	free(unit);
	return t->event < 0 ? -1 : 0;
}

static int pprof_types(struct pprof *r, struct err *err)
{
	for (int i = 0; i < r->type_count; i++) {
		bool pair = i + 1 < r->type_count && type_is_count(r, &r->types[i]);

		if (pair)
			r->types[i + 1].count = i;
		i += pair;
		if (type_event(r, &r->types[i], pair, err))
			return -1;
	}
	return r->type_count ? 0
			     : err_set(err, ERR_INPUT,
				       "%s is not a pprof profile: it has no sample types.",
				       input_name(r->im->in));
}

/* --- samples ----------------------------------------------------------------------------------------- */

struct pprof_sample {
	uint64_t values[PPROF_TYPES];
	int value_count;
	uint64_t leaf; /* location of the leaf; valid if depth is not 0 */
	uint32_t depth, thread;
	enum thread_state state;
};

static void sample_label(struct pprof *r, struct message message, struct profile_thread *t,
	char *name, enum thread_state *state)
{
	static const char *const names[] = {"thread", "thread_name", "thread name", NULL};
	static const char *const tids[] = {"tid", "thread_id", "thread id", NULL};
	uint64_t key = 0, text = 0, number = 0;
	struct message_field f;

	while (message_next(&message, &f))
		*(f.number == 1 ? &key : f.number == 2 ? &text : &number) = f.value;
	if (is_one_of(pprof_text(r, key), names)) {
		feed_copy(name, 512, pprof_text(r, text), strlen(pprof_text(r, text)));
		t->name = name;
	} else if (is_one_of(pprof_text(r, key), tids)) {
		t->tid = number ? (int)(number & INT32_MAX) : atoi(pprof_text(r, text));
	} else if (!strcmp(pprof_text(r, key), "state")) {
		for (int i = 0; i < THREAD_STATES; i++)
			if (!strcmp(thread_states[i].name, pprof_text(r, text)))
				*state = (enum thread_state)i;
	}
}

static void sample_labels(struct pprof *r, struct message message, struct pprof_sample *s)
{
	struct profile_thread t = {.java_tid = -1, .kind = THREAD_JAVA, .name = ""};
	struct message_field f;
	char name[512];

	s->thread = PROFILE_NONE;
	while (message_next(&message, &f))
		if (f.number == SAMPLE_LABEL && f.is_bytes)
			sample_label(r, f.bytes, &t, name, &s->state);
	if (*t.name || t.tid > 0)
		s->thread = feed_thread(r->im, &t);
}

static bool sample_fields(struct pprof *r, struct message message, struct pprof_sample *s)
{
	struct message_field f;
	uint64_t number;

	while (message_next(&message, &f)) {
		for (bool first = true;
			f.number == SAMPLE_VALUE && message_number(&f, &first, &number);)
			if (s->value_count < PPROF_TYPES)
				s->values[s->value_count++] = number;
		for (bool first = true;
			f.number == SAMPLE_LOCATION && message_number(&f, &first, &number);) {
			/* The frames of a location, innermost first. */
			const uint32_t *frames;
			int n = pprof_frames(r, number, &frames);

			if (n < 0 || (uint32_t)n > PPROF_CHAIN - s->depth)
				return false;
			if (!s->depth)
				s->leaf = number;
			while (n-- > 0) {
				r->chain =
					xgrow(r->chain, s->depth, &r->chain_cap, sizeof(*r->chain));
				r->chain[s->depth++] = frames[n];
			}
		}
		if (f.is_bytes && f.bytes.bad)
			return false;
	}
	return !message.bad;
}

/* leaf: replaces the first frame of the chain. */
static uint32_t sample_stack(struct pprof *r, struct pprof_sample *s, uint32_t leaf)
{
	uint32_t stack = PROFILE_ROOT_STACK, depth = s->depth;

	/* record -t puts the thread below its stack. */
	if (depth) {
		uint32_t thread = feed_thread_frame(r->im, r->chain[depth - 1]);
		if (thread != PROFILE_NONE) {
			depth--;
			s->thread = s->thread == PROFILE_NONE ? thread : s->thread;
		}
	}
	while (depth-- > 0)
		stack = profile_stack_child(
			r->im->p, stack, depth || leaf == PROFILE_NONE ? r->chain[depth] : leaf);
	return stack;
}

/* Values are signed. Negative ones, of a difference of two profiles, cannot be represented. */
static uint64_t sample_value(struct pprof *r, const struct pprof_sample *s, int i, uint64_t scale)
{
	uint64_t value = i >= 0 && i < s->value_count ? s->values[i] : 0;

	if (value > INT64_MAX) {
		r->negative++;
		return 0;
	}
	return value > INT64_MAX / scale ? (uint64_t)INT64_MAX : value * scale;
}

static int sample_add(
	struct pprof *r, struct pprof_sample *s, const struct pprof_type *t, struct err *err)
{
	uint64_t weight = sample_value(r, s, (int)(t - r->types), t->scale);
	bool classes = (t->event == EVENT_ALLOC || t->event == EVENT_LOCK) && s->depth;
	struct feed_sample one = {
		.event = t->event, .thread = s->thread, .state = s->state, .weight = weight};

	one.count = t->count >= 0 ? sample_value(r, s, t->count, 1)
		    : t->interval
			    ? weight / t->interval +
				      (weight % t->interval >= t->interval / 2 + t->interval % 2)
			    : weight > 0;
	if (!one.count && !weight)
		return 0;
	one.stack = sample_stack(r, s, classes ? pprof_leaf(r, s->leaf) : PROFILE_NONE);
	one.thread = s->thread;
	return feed_sample(r->im, &one, err);
}

static int pprof_sample(struct pprof *r, struct message message, struct err *err)
{
	struct pprof_sample s = {.thread = PROFILE_NONE};

	if (!sample_fields(r, message, &s))
		return pprof_bad(r, message.at,
			"a sample is damaged, too deep, or refers to an unknown location", err);
	sample_labels(r, message, &s);
	for (int i = 0; i < r->type_count; i++)
		if (r->types[i].event >= 0 && sample_add(r, &s, &r->types[i], err))
			return -1;
	return 0;
}

static int pprof_samples(struct pprof *r, struct err *err)
{
	struct message top = message_of(r->bytes.data, r->bytes.len);
	struct message_field f;
	unsigned since = 0;

	while (message_next(&top, &f)) {
		if (f.number == TOP_SAMPLE && f.is_bytes && pprof_sample(r, f.bytes, err))
			return -1;
		if (++since % 4096 == 0 && feed_check(r->im, err))
			return -1;
	}
	return feed_check(r->im, err);
}

int import_pprof(struct import *im, struct err *err)
{
	struct pprof r = {.im = im, .period_type = {.name = UINT64_MAX}};
	int rc = input_read_rest(im->in, &r.bytes, PPROF_BYTES, err);

	im->reader_bytes = r.bytes.cap;
	if (!rc)
		rc = feed_check(im, err);
	if (!rc)
		rc = pprof_tables(&r, err);
	if (!rc)
		rc = pprof_types(&r, err);
	if (!rc) {
		profile_set_start(im->p, r.start_ns);
		im->out->duration_ns = r.duration_ns < INT64_MAX ? r.duration_ns : 0;
		rc = pprof_samples(&r, err);
	}
	if (r.negative)
		snprintf(im->out->note, sizeof(im->out->note),
			"%llu negative value%s %s left out (the file may be a difference of two "
			"profiles).",
			(unsigned long long)r.negative, plural(r.negative),
			r.negative == 1 ? "is" : "are");
	pprof_done(&r);
	return rc;
}

/* A pprof file begins with a sample type, a message of two numbers, which no text does. */
bool import_is_pprof(const unsigned char *head, size_t bytes)
{
	struct message top = message_of(head, bytes);
	struct message_field f;

	if (bytes < 4 || head[0] != (1 << 3 | 2) || !message_next(&top, &f) || !f.is_bytes)
		return false;
	struct message message = f.bytes;
	while (message_next(&message, &f))
		if (f.is_bytes || f.number > 2)
			return false;
	return !message.bad;
}
