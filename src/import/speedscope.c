/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope JSON: "sampled" profiles (stacks with weights) and "evented" ones (frames that open
 * and close).
 *
 * Files of jhot have a profile per event, and metadata in a member "jhot". In other files, if there
 * are several profiles, each is a thread, and events are named after the unit: "time", "bytes",
 * "samples". There are no absolute times. The file is kept in memory while it is read.
 */
#include "import/feed.h"
#include "import/json_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEEDSCOPE_BYTES ((size_t)512 << 20) /* the largest file, decompressed */
#define SCHEMA           "speedscope.app/file-format-schema"

struct frame {
	struct json_read at; /* its object */
	/* id: as an inner frame, as a leaf; thread: PROFILE_NONE if it is not one. */
	uint32_t id[2], thread;
	bool known[2], thread_known;
};

#define FACT_BYTES 64

/* Metadata of an event. */
struct facts {
	char event[FACT_BYTES], unit[FACT_BYTES];
	double interval, samples, value; /* samples, value: totals of the event */
};

/* One profile: positions of its members. */
struct part {
	struct buf name, unit;
	bool evented;
	struct json_read samples, weights, events; /* at NULL: missing */
	double start, end;
};

struct speedscope {
	struct import *im;
	struct buf bytes, text, file;
	struct json_read frames_at, profiles_at, facts_at; /* at NULL: missing */
	struct frame *frames;
	uint32_t frame_count, frames_cap;
	struct facts facts[PROFILE_EVENTS]; /* if jhot wrote the file */
	int facts_count;
	/* Samples with a negative weight, with a fractional count. */
	uint64_t negative, decimals;
	/* Of the current profile. */
	int event;
	uint32_t thread;
	double scale;               /* factor from its unit to that of the event */
	bool counts;                /* weights are counts */
	double rest;                /* rounding error carried to the next weight */
	const struct facts *totals; /* totals of its samples according to the file; NULL: unknown */
	double seen_weight, seen_count; /* the part of them that has been read */
	/* Sampled: the frames of a stack. Evented: open frames, and the stack at each of them. */
	uint32_t *stack, stack_cap, *open, open_cap;
};

static int speedscope_bad(
	const struct speedscope *s, const struct json_read *r, const char *what, struct err *err)
{
	return err_set(err, ERR_INPUT, "%s: byte %llu: %s.", input_name(s->im->in),
		(unsigned long long)(r->at - s->bytes.data), what);
}

static int speedscope_no_json(
	const struct speedscope *s, const struct json_read *r, struct err *err)
{
	const char *cut = "the file is truncated", *other = "unexpected value";

	return speedscope_bad(s, r, r->at >= r->end ? cut : other, err);
}

static bool is_key(const char *key, size_t len, const char *name)
{
	return len == strlen(name) && !memcmp(key, name, len);
}

/* --- metadata of jhot ----------------------------------------------------------------------------------- */

/* Each text member is a fact. */
static void facts_session(struct speedscope *s, struct json_read r)
{
	const char *key;
	size_t len;
	char name[128];

	json_read_enter(&r, '{');
	while (json_read_key(&r, &key, &len)) {
		buf_clear(&s->text);
		if (!json_read_text(&r, &s->text))
			return;
		snprintf(name, sizeof(name), "%.*s", (int)(len < 127 ? len : 127), key);
		feed_fact(s->im, name, buf_str(&s->text));
		if (!strcmp(name, "duration_s") && atof(buf_str(&s->text)) > 0 &&
			atof(buf_str(&s->text)) < 1e9)
			s->im->out->duration_ns = (uint64_t)(atof(buf_str(&s->text)) * 1e9);
	}
}

static void facts_event(struct speedscope *s, struct json_read *r)
{
	struct facts f = {0};
	const struct {
		const char *key;
		char *to;
		double *number;
	} rows[] = {{"event", f.event, NULL}, {"unit", f.unit, NULL},
		{"interval", NULL, &f.interval}, {"samples", NULL, &f.samples},
		{"value", NULL, &f.value}};
	const char *key;
	size_t len;

	json_read_enter(r, '{');
	while (json_read_key(r, &key, &len)) {
		buf_clear(&s->text);
		json_read_text(r, &s->text);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			if (!is_key(key, len, rows[i].key))
				continue;
			if (rows[i].number)
				*rows[i].number = atof(buf_str(&s->text));
			else
				feed_copy(rows[i].to, FACT_BYTES, buf_str(&s->text), s->text.len);
		}
	}
	if (!r->bad && s->facts_count < PROFILE_EVENTS)
		s->facts[s->facts_count++] = f;
}

/* Metadata of the target and of each event. Errors in them are ignored. */
static void facts_read(struct speedscope *s)
{
	struct json_read r = s->facts_at, events;
	const char *key;
	size_t len;

	json_read_enter(&r, '{');
	while (json_read_key(&r, &key, &len)) {
		events = r;
		if (is_key(key, len, "session"))
			facts_session(s, r);
		else if (is_key(key, len, "events") && json_read_enter(&events, '['))
			while (json_read_item(&events))
				facts_event(s, &events);
		json_read_skip(&r);
	}
}

/* --- frames ------------------------------------------------------------------------------------------ */

static int speedscope_frames(struct speedscope *s, struct err *err)
{
	struct json_read r = s->frames_at;
	const char *key;
	size_t len;

	json_read_enter(&r, '{');
	while (json_read_key(&r, &key, &len)) {
		if (!is_key(key, len, "frames")) {
			json_read_skip(&r);
			continue;
		}
		json_read_enter(&r, '[');
		while (json_read_item(&r)) {
			s->frames = xgrow(
				s->frames, s->frame_count, &s->frames_cap, sizeof(*s->frames));
			s->frames[s->frame_count++] = (struct frame){.at = r};
			json_read_skip(&r);
			s->im->reader_bytes = s->bytes.cap + s->frames_cap * sizeof(*s->frames);
			if (s->frame_count % 65536 == 0 && feed_check(s->im, err))
				return -1;
		}
	}
	return r.bad ? speedscope_no_json(s, &r, err) : 0;
}

/* Reads a frame: its name into s->text, and what classifies it into n. */
static int frame_name(struct speedscope *s, struct frame *f, struct feed_name *n, struct err *err)
{
	struct json_read r = f->at;
	const char *key;
	size_t len;
	double line;

	buf_clear(&s->text);
	buf_clear(&s->file);
	json_read_enter(&r, '{');
	while (json_read_key(&r, &key, &len)) {
		struct json_read value = r;

		json_read_skip(&r);
		/* "file" and "line" may be null. */
		if (is_key(key, len, "name") && !s->text.len && !json_read_text(&value, &s->text))
			r = value;
		else if (is_key(key, len, "file") && !s->file.len)
			json_read_text(&value, &s->file);
		else if (is_key(key, len, "line") && json_read_number(&value, &line) && line > 0 &&
			 line < INT32_MAX)
			n->line = (int)line;
	}
	n->text = buf_str(&s->text);
	n->module = feed_library(buf_str(&s->file));
	n->native = feed_is_native_source(buf_str(&s->file));
	return r.bad ? speedscope_no_json(s, &r, err) : 0;
}

static int frame_id(struct speedscope *s, uint32_t index, bool leaf, uint32_t *id, struct err *err)
{
	struct frame *f = &s->frames[index];
	struct feed_name n = {.signature = "", .leaf = leaf};

	if (!f->known[leaf]) {
		if (frame_name(s, f, &n, err))
			return -1;
		f->id[leaf] = s->file.len ? feed_frame_name(s->im, &n)
					  : feed_frame_text(s->im, n.text, s->text.len, leaf);
		f->known[leaf] = true;
	}
	*id = f->id[leaf];
	return 0;
}

static int frame_index(struct speedscope *s, struct json_read *r, uint32_t *index, struct err *err)
{
	double n;

	if (!json_read_number(r, &n))
		return speedscope_no_json(s, r, err);
	if (!(n >= 0 && n < s->frame_count) || n != floor(n))
		return speedscope_bad(s, r, "there is no frame with this index", err);
	*index = (uint32_t)n;
	return 0;
}

/* --- samples ----------------------------------------------------------------------------------------- */

/*
 * Rounding errors carry over to the next sample. Files of jhot state the number of samples of an
 * event: each sample gets its share of that number by weight.
 */
static int speedscope_sample(
	struct speedscope *s, uint32_t stack, uint32_t thread, double weight, struct err *err)
{
	struct feed_sample f = {.event = s->event, .stack = stack, .thread = thread, .count = 1};
	double exact = weight * s->scale + s->rest;

	if (!(weight >= 0)) {
		s->negative++;
		return 0;
	}
	double whole = floor(exact < 0x1p62 ? exact : 0x1p62);
	s->rest = exact < 0x1p62 ? exact - whole : 0;
	s->decimals += s->counts && weight != floor(weight);
	f.weight = (uint64_t)whole;
	if (s->totals) {
		s->seen_weight += whole;
		exact = floor(s->seen_weight / s->totals->value * s->totals->samples + 0.5);
		f.count = exact > s->seen_count && exact < 0x1p62
				  ? (uint64_t)(exact - s->seen_count)
				  : 0;
		s->seen_count += (double)f.count;
	} else if (s->counts) {
		f.count = f.weight;
	}
	return f.count || f.weight ? feed_sample(s->im, &f, err) : 0;
}

static int speedscope_stack(struct speedscope *s, struct json_read *r, uint32_t *stack,
	uint32_t *thread, struct err *err)
{
	uint32_t depth = 0, from = 0, id;

	json_read_enter(r, '[');
	while (json_read_item(r)) {
		s->stack = xgrow(s->stack, depth, &s->stack_cap, sizeof(*s->stack));
		if (frame_index(s, r, &s->stack[depth++], err))
			return -1;
	}
	*stack = PROFILE_ROOT_STACK;
	*thread = s->thread;
	if (depth > 1 && *thread == PROFILE_NONE) {
		/* "[main tid=7]" below other frames is a thread. */
		struct frame *f = &s->frames[s->stack[0]];
		struct feed_name n = {0};

		if (!f->thread_known) {
			if (frame_name(s, f, &n, err))
				return -1;
			f->thread = feed_thread_text(s->im, n.text, s->text.len);
			f->thread_known = true;
		}
		*thread = f->thread;

		from = *thread != PROFILE_NONE;
	}
	for (uint32_t i = from; i < depth; i++) {
		if (frame_id(s, s->stack[i], i + 1 == depth, &id, err))
			return -1;
		*stack = profile_stack_child(s->im->p, *stack, id);
	}
	return 0;
}

static int speedscope_sampled(struct speedscope *s, const struct part *p, struct err *err)
{
	struct json_read r = p->samples, w = p->weights;
	uint32_t stack, thread;
	double weight;

	json_read_enter(&r, '[');
	json_read_enter(&w, '[');
	while (json_read_item(&r)) {
		if (speedscope_stack(s, &r, &stack, &thread, err))
			return -1;
		if (!json_read_item(&w))
			return speedscope_bad(s, &w, "fewer weights than samples", err);
		if (!json_read_number(&w, &weight))
			return speedscope_no_json(s, &w, err);
		if (speedscope_sample(s, stack, thread, weight, err))
			return -1;
	}
	if (!r.bad && json_read_item(&w))
		return speedscope_bad(s, &w, "more weights than samples", err);
	return r.bad || w.bad ? speedscope_no_json(s, r.bad ? &r : &w, err) : 0;
}

struct event {
	bool opens, closes;
	double at;
	uint32_t frame;
};

static int speedscope_event(
	struct speedscope *s, struct json_read *r, struct event *e, struct err *err)
{
	const char *key;
	size_t len;
	bool has_frame = false;

	*e = (struct event){.at = NAN};
	json_read_enter(r, '{');
	while (json_read_key(r, &key, &len)) {
		if (is_key(key, len, "frame")) {
			if (frame_index(s, r, &e->frame, err))
				return -1;
			has_frame = true;
		} else if (is_key(key, len, "at")) {
			json_read_number(r, &e->at);
		} else if (is_key(key, len, "type")) {
			e->opens = json_read_is(r, "O");
			e->closes = !e->opens && json_read_is(r, "C");
			json_read_skip(r);
		} else {
			json_read_skip(r);
		}
	}
	if (r->bad)
		return speedscope_no_json(s, r, err);
	return has_frame && (e->opens || e->closes) && !isnan(e->at)
		       ? 0
		       : speedscope_bad(s, r, "an event must open or close a frame at a time", err);
}

/* The time between two events is one sample of the open frames. */
static int speedscope_evented(struct speedscope *s, const struct part *p, struct err *err)
{
	struct json_read r = p->events;
	uint32_t depth = 0, id;
	double at = p->start;
	struct event e;

	json_read_enter(&r, '[');
	while (json_read_item(&r)) {
		if (speedscope_event(s, &r, &e, err))
			return -1;
		if (e.at < at)
			return speedscope_bad(
				s, &r, "this event is earlier than the previous one", err);
		if (depth && e.at > at &&
			speedscope_sample(s, s->stack[depth - 1], s->thread, e.at - at, err))
			return -1;
		at = e.at;
		if (e.closes) {
			if (!depth || s->open[depth - 1] != e.frame)
				return speedscope_bad(s, &r,
					"this frame is closed, but is not the innermost open one",
					err);
			depth--;
			continue;
		}
		if (frame_id(s, e.frame, false, &id, err))
			return -1;
		s->open = xgrow(s->open, depth, &s->open_cap, sizeof(*s->open));
		s->stack = xgrow(s->stack, depth, &s->stack_cap, sizeof(*s->stack));
		s->open[depth] = e.frame;
		s->stack[depth] = profile_stack_child(
			s->im->p, depth ? s->stack[depth - 1] : PROFILE_ROOT_STACK, id);
		depth++;
	}
	/* Frames that are not closed last until the end. */
	if (!r.bad && depth && p->end > at)
		return speedscope_sample(s, s->stack[depth - 1], s->thread, p->end - at, err);
	return r.bad ? speedscope_no_json(s, &r, err) : 0;
}

/* --- profiles ---------------------------------------------------------------------------------------- */

static int part_read(struct speedscope *s, struct json_read *r, struct part *p, struct err *err)
{
	const char *key;
	size_t len;

	json_read_enter(r, '{');
	while (json_read_key(r, &key, &len)) {
		if (is_key(key, len, "name") && !p->name.len) {
			json_read_text(r, &p->name);
		} else if (is_key(key, len, "unit") && !p->unit.len) {
			json_read_text(r, &p->unit);
		} else if (is_key(key, len, "type")) {
			p->evented = json_read_is(r, "evented");
			json_read_skip(r);
		} else if (is_key(key, len, "startValue")) {
			json_read_number(r, &p->start);
		} else if (is_key(key, len, "endValue")) {
			json_read_number(r, &p->end);
		} else {
			if (is_key(key, len, "samples"))
				p->samples = *r;
			else if (is_key(key, len, "weights"))
				p->weights = *r;
			else if (is_key(key, len, "events"))
				p->events = *r;
			json_read_skip(r);
		}
	}
	if (r->bad)
		return speedscope_no_json(s, r, err);
	return (p->evented ? p->events.at != NULL : p->samples.at && p->weights.at)
		       ? 0
		       : speedscope_bad(s, r,
				 "this profile has neither samples and weights nor events", err);
}

/* Determines the event and the thread of a profile. */
static int part_event(struct speedscope *s, const struct part *p, bool several, struct err *err)
{
	static const struct {
		const char *unit, *event, *event_unit;
		double scale;
	} units[] = {{"nanoseconds", "time", "ns", 1}, {"microseconds", "time", "ns", 1e3},
		{"milliseconds", "time", "ns", 1e6}, {"seconds", "time", "ns", 1e9},
		{"bytes", "bytes", "bytes", 1}, {"none", "samples", "samples", 1}};
	const struct profile_thread t = {
		.java_tid = -1, .kind = THREAD_JAVA, .name = buf_str(&p->name)};
	size_t i = 0;

	while (i + 1 < sizeof(units) / sizeof(units[0]) &&
		strcmp(units[i].unit, buf_str(&p->unit)) != 0)
		i++;
	s->thread = PROFILE_NONE;
	s->scale = units[i].scale;
	s->counts = !strcmp(units[i].unit, "none");
	s->totals = NULL;
	s->seen_weight = s->seen_count = s->rest = 0;
	for (const struct facts *f = s->facts; f < s->facts + s->facts_count; f++) {
		if (strcmp(f->event, buf_str(&p->name)) != 0)
			continue;
		s->totals = f->samples > 0 && f->value > 0 ? f : NULL;
		s->event = feed_event(s->im, f->event, *f->unit ? f->unit : units[i].event_unit,
			f->interval > 0 && f->interval < 1e18 ? (uint64_t)f->interval : 0, err);
		return s->event < 0 ? -1 : 0;
	}
	if (several && p->name.len)
		s->thread = feed_thread(s->im, &t);
	double lasts = strcmp(units[i].event_unit, "ns") ? 0 : (p->end - p->start) * s->scale;
	if (lasts > (double)s->im->out->duration_ns && lasts < 1e18)
		s->im->out->duration_ns = (uint64_t)lasts;
	s->event = feed_event(s->im, units[i].event, units[i].event_unit, s->counts, err);
	return s->event < 0 ? -1 : 0;
}

static int speedscope_profiles(struct speedscope *s, struct err *err)
{
	struct json_read r = s->profiles_at, count = r;
	uint32_t profiles = 0;
	int rc = 0;

	json_read_enter(&count, '[');
	for (; json_read_item(&count); profiles++)
		json_read_skip(&count);
	json_read_enter(&r, '[');
	while (!rc && json_read_item(&r)) {
		struct part p = {0};

		rc = part_read(s, &r, &p, err);
		if (!rc)
			rc = part_event(s, &p, profiles > 1, err);
		if (!rc)
			rc = p.evented ? speedscope_evented(s, &p, err)
				       : speedscope_sampled(s, &p, err);
		buf_done(&p.name);
		buf_done(&p.unit);
	}
	if (rc || profiles)
		return !rc && r.bad ? speedscope_no_json(s, &r, err) : rc;
	return err_set(err, ERR_INPUT, "%s contains no profiles.", input_name(s->im->in));
}

/* Finds the members, which may have any order. */
static int speedscope_top(struct speedscope *s, struct err *err)
{
	struct json_read r = json_read_of(&s->bytes);
	struct buf name = {0};
	const char *key;
	size_t len;

	json_read_enter(&r, '{');
	while (json_read_key(&r, &key, &len)) {
		if (is_key(key, len, "shared"))
			s->frames_at = r;
		else if (is_key(key, len, "profiles"))
			s->profiles_at = r;
		else if (is_key(key, len, "jhot"))
			s->facts_at = r;
		if (is_key(key, len, "name") && !name.len)
			json_read_text(&r, &name);
		else
			json_read_skip(&r);
	}
	feed_fact(s->im, "name", buf_str(&name));
	buf_done(&name);
	if (r.bad)
		return speedscope_no_json(s, &r, err);
	if (!s->frames_at.at || !s->profiles_at.at)
		return err_set(err, ERR_INPUT, "%s contains no %s.", input_name(s->im->in),
			s->frames_at.at ? "profiles" : "shared frames");
	if (s->facts_at.at)
		facts_read(s);
	return 0;
}

int import_speedscope(struct import *im, struct err *err)
{
	struct speedscope s = {.im = im};
	int rc = input_read_rest(im->in, &s.bytes, SPEEDSCOPE_BYTES, err);

	im->reader_bytes = s.bytes.cap;
	if (!rc)
		rc = feed_check(im, err);
	if (!rc)
		rc = speedscope_top(&s, err);
	if (!rc)
		rc = speedscope_frames(&s, err);
	if (!rc)
		rc = speedscope_profiles(&s, err);
	if (!rc)
		rc = feed_check(im, err);
	if (s.negative)
		snprintf(im->out->note, sizeof(im->out->note),
			"%llu sample%s left out because of a negative weight.",
			(unsigned long long)s.negative, s.negative == 1 ? " was" : "s were");
	else if (s.decimals)
		snprintf(im->out->note, sizeof(im->out->note),
			"%llu sample%s decimals, which are included in the total but not in each "
			"stack.",
			(unsigned long long)s.decimals, s.decimals == 1 ? " has" : "s have");
	buf_done(&s.bytes);
	buf_done(&s.text);
	buf_done(&s.file);
	free(s.frames);
	free(s.stack);
	free(s.open);
	return rc;
}

/* An object whose first bytes contain the schema, as speedscope requires. */
bool import_is_speedscope(const unsigned char *head, size_t bytes)
{
	size_t at = 0;

	while (at < bytes && memchr(" \t\r\n", head[at], 4))
		at++;
	return at < bytes && head[at] == '{' && memmem(head, bytes, SCHEMA, strlen(SCHEMA));
}
