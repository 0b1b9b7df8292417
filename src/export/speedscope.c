/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope JSON: a "sampled" profile per event, its stacks in order of time, weighted.
 *
 * Frames are named as in the collapsed format with dots. Each method is one frame: speedscope
 * distinguishes frames by name, file and line, so lines would split a method. Metadata are in a
 * member "jhot", which is not in the schema and which speedscope ignores.
 */
#include "base/intern.h"
#include "base/json.h"
#include "export/export.h"
#include "export/facts.h"
#include "export/ids.h"
#include "export/seconds.h"
#include "export/text.h"

#include <stdlib.h>
#include <string.h>

#define SCHEMA     "https://www.speedscope.app/file-format-schema.json"
#define KEY_THREAD (1ull << 32)

struct speedscope {
	const struct profile *p;
	const struct export_options *o;
	struct intern names;               /* ids: those of the frames in the file */
	struct ids frames;                 /* the profile's */
	uint32_t *name, name_cap;          /* by the id in frames: the id in names */
	struct buf text, samples, weights; /* of the current event */
	struct json json_samples, json_weights;
	uint32_t *stack, stack_cap;
	uint64_t sum;
};

static uint32_t speedscope_name(struct speedscope *w, uint64_t key)
{
	bool is_new;
	uint32_t at = ids_of_u64(&w->frames, key, &is_new);
	struct buf name = {0};

	if (!is_new)
		return w->name[at];
	buf_clear(&w->text);
	if (key & KEY_THREAD) {
		export_thread_name(&w->text, profile_get_thread(w->p, (uint32_t)key));
	} else {
		const struct profile_frame *f = profile_get_frame(w->p, (uint32_t)key);
		export_frame_name(&w->text, profile_get_method(w->p, f->method), f->type, false);
	}
	export_clean(&name, buf_str(&w->text), 0, 0);
	w->name = xgrow(w->name, at, &w->name_cap, sizeof(*w->name));
	w->name[at] = intern_add(&w->names, buf_str(&name), name.len);
	buf_done(&name);
	return w->name[at];
}

static void speedscope_part(
	void *ctx, const struct seconds_span *span, const struct profile_part *part)
{
	struct speedscope *w = ctx;
	uint32_t depth = 0;

	if (!part->weight || w->samples.len >= EXPORT_BYTES_MAX)
		return;
	for (uint32_t at = part->stack; at != PROFILE_ROOT_STACK;
		at = profile_get_stack(w->p, at).parent) {
		w->stack = xgrow(w->stack, depth, &w->stack_cap, sizeof(*w->stack));
		w->stack[depth++] = speedscope_name(w, profile_get_stack(w->p, at).frame);
	}
	json_begin(&w->json_samples, NULL, '[');
	if (w->o->threads)
		json_int(&w->json_samples, NULL, speedscope_name(w, KEY_THREAD | part->thread));
	while (depth--)
		json_int(&w->json_samples, NULL, w->stack[depth]);
	json_end(&w->json_samples, ']');
	json_int(&w->json_weights, NULL, (int64_t)part->weight);
	w->sum += part->weight;
}

static void speedscope_event(struct speedscope *w, struct json *j, int id)
{
	const struct profile_event *event = profile_get_event(w->p, id);
	const char *unit = event->weight_is_time          ? "nanoseconds"
			   : strcmp(event->unit, "bytes") ? "none"
							  : "bytes";
	struct profile_query q = w->o->query;

	q.event = id;
	w->sum = 0;
	buf_clear(&w->samples);
	buf_clear(&w->weights);
	w->json_samples = (struct json){.out = &w->samples};
	w->json_weights = (struct json){.out = &w->weights};
	seconds_each(w->p, &q, speedscope_part, w);
	json_begin(j, NULL, '{');
	json_str(j, "type", "sampled");
	json_str(j, "name", event->name);
	json_str(j, "unit", unit);
	json_int(j, "startValue", 0);
	json_int(j, "endValue", (int64_t)w->sum);
	json_begin(j, "samples", '[');
	buf_add(j->out, w->samples.data, w->samples.len);
	json_end(j, ']');
	json_begin(j, "weights", '[');
	buf_add(j->out, w->weights.data, w->weights.len);
	json_end(j, ']');
	json_end(j, '}');
}

static void speedscope_fact(void *ctx, const char *key, const char *value)
{
	json_str(ctx, key, value);
}

static void speedscope_facts(const struct speedscope *w, struct json *j)
{
	const struct export_meta *m = &w->o->meta;

	json_begin(j, "jhot", '{');
	json_begin(j, "session", '{');
	export_facts(w->o, speedscope_fact, j);
	json_end(j, '}');
	json_begin(j, "events", '[');
	for (int i = 0; i < (m->event_count ? m->event_count : 1); i++) {
		json_begin(j, NULL, '{');
		export_event_facts(w->p, w->o,
			m->event_count ? m->events[i].event : w->o->query.event, speedscope_fact,
			j);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

bool export_speedscope(struct buf *out, const struct profile *p, const struct export_options *o)
{
	const struct export_meta *m = &o->meta;
	const char *name = o->title ? o->title : m->name;
	struct speedscope w = {.p = p, .o = o};
	struct json j = {.out = out};

	json_begin(&j, NULL, '{');
	json_str(&j, "$schema", SCHEMA);
	json_str(&j, "name", name && *name ? name : "profile");
	json_str(&j, "exporter", "jhot " JHOT_VERSION);
	json_int(&j, "activeProfileIndex", 0);
	json_begin(&j, "profiles", '[');
	for (int i = 0; i < m->event_count; i++)
		speedscope_event(&w, &j, m->events[i].event);
	if (!m->event_count)
		speedscope_event(&w, &j, o->query.event);
	json_end(&j, ']');
	json_begin(&j, "shared", '{');
	json_begin(&j, "frames", '[');
	for (uint32_t i = 0; i < w.names.count; i++) {
		json_begin(&j, NULL, '{');
		json_str(&j, "name", intern_text(&w.names, i));
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
	speedscope_facts(&w, &j);
	json_end(&j, '}');
	buf_addc(out, '\n');
	bool whole = out->len < EXPORT_BYTES_MAX;
	buf_done(&w.text);
	buf_done(&w.samples);
	buf_done(&w.weights);
	ids_done(&w.frames);
	intern_done(&w.names);
	free(w.name);
	free(w.stack);
	return whole;
}
