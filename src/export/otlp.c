/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OTLP profiles: ProfilesData of opentelemetry.proto.profiles.v1development, protocol version 1.11,
 * which is experimental. All that depends on it is in this file.
 *
 * Two profiles per event, of weights and of counts, share one dictionary. As the protocol demands,
 * entry 0 of each of its tables is empty and means "none", entries are unique, and all are used.
 * Names are those of the collapsed format with dots; libraries are mappings; the metadata are
 * attributes of the resource.
 */
#include "export/export.h"
#include "export/facts.h"
#include "export/ids.h"
#include "export/links.h"
#include "export/proto.h"
#include "export/text.h"

#include <stdlib.h>
#include <string.h>

/* Fields of profiles.proto, common.proto and resource.proto, by message. */
enum { DATA_RESOURCES = 1, DATA_DICTIONARY };
enum { RESOURCES_RESOURCE = 1, RESOURCES_SCOPES };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPES_SCOPE = 1, SCOPES_PROFILES };
enum { SCOPE_NAME = 1 };
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLES, PROFILE_TIME, PROFILE_DURATION };
enum { PROFILE_PERIOD_TYPE = 5, PROFILE_PERIOD, PROFILE_ATTRIBUTES = 11 };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_LINK, SAMPLE_VALUES };
enum { MAPPING_FILE = 4 };
enum { STACK_LOCATIONS = 1 };
enum { LOCATION_MAPPING = 1, LOCATION_LINES = 3, LOCATION_ATTRIBUTES };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME };
enum { LINK_TRACE = 1, LINK_SPAN };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum { VALUE_TEXT = 1, VALUE_NUMBER = 3 };

/* Tables of the dictionary, numbered as its fields. */
enum otlp_table {
	OTLP_MAPPINGS = 1,
	OTLP_LOCATIONS,
	OTLP_FUNCTIONS,
	OTLP_LINKS,
	OTLP_STRINGS,
	OTLP_ATTRIBUTES,
	OTLP_STACKS,
	OTLP_TABLES
};

/* Samples with the same stack, attributes and link are merged. */
struct otlp_sample {
	uint32_t stack, attributes, link; /* attributes: in w->sets */
	uint64_t count, weight;
};

struct otlp {
	const struct profile *p;
	const struct export_options *o;
	struct ids tables[OTLP_TABLES];
	struct ids sets; /* lists of attributes, encoded */
	struct ids frames, stacks;
	uint32_t *location, location_cap; /* by the id in frames */
	uint32_t *stack, stack_cap;       /* by the id in stacks */
	struct ids keys;                  /* (stack, attributes, link) of samples */
	struct links *links;              /* of the current event */
	struct otlp_sample *samples;
	uint32_t sample_count, sample_cap;
	struct ids names;                /* of the resource's attributes, which are unique */
	struct buf resource, attributes; /* attributes: of the current profile */
};

static uint32_t otlp_string(struct otlp *w, const char *text)
{
	struct buf clean = {0};

	export_clean(&clean, text, 0, 0);
	uint32_t id = ids_of(&w->tables[OTLP_STRINGS], buf_str(&clean), clean.len);
	buf_done(&clean);
	return id;
}

/* Finds or adds the entry with this message. Frees the message. */
static uint32_t otlp_entry(struct otlp *w, enum otlp_table table, struct buf *message)
{
	uint32_t id = ids_of(&w->tables[table], buf_str(message), message->len);

	buf_done(message);
	return id;
}

/* An attribute with a text, or with a number if text is NULL. */
static uint32_t otlp_attribute(struct otlp *w, const char *key, const char *text, int64_t number)
{
	struct buf attribute = {0}, value = {0}, clean = {0};

	if (text) {
		export_clean(&clean, text, 0, 0);
		proto_text(&value, VALUE_TEXT, buf_str(&clean));
	} else {
		proto_number(&value, VALUE_NUMBER, (uint64_t)number);
	}
	proto_number(&attribute, ATTRIBUTE_KEY, otlp_string(w, key));
	proto_message(&attribute, ATTRIBUTE_VALUE, &value);
	buf_done(&value);
	buf_done(&clean);
	return otlp_entry(w, OTLP_ATTRIBUTES, &attribute);
}

/* --- stacks ------------------------------------------------------------------------------------------ */

static uint32_t otlp_function(struct otlp *w, const char *name, const char *signature)
{
	struct buf function = {0}, whole = {0};

	proto_number(&function, FUNCTION_NAME, otlp_string(w, name));
	if (*signature) {
		buf_printf(&whole, "%s%s", name, signature);
		proto_number(&function, FUNCTION_SYSTEM_NAME, otlp_string(w, whole.data));
	}
	buf_done(&whole);
	return otlp_entry(w, OTLP_FUNCTIONS, &function);
}

static uint32_t otlp_location(
	struct otlp *w, uint32_t mapping, uint32_t function, int line, const char *frame_type)
{
	struct buf location = {0}, inner = {0};

	proto_number(&location, LOCATION_MAPPING, mapping);
	proto_number(&inner, LINE_FUNCTION, function);
	proto_number(&inner, LINE_LINE, line > 0 ? (uint64_t)line : 0);
	proto_message(&location, LOCATION_LINES, &inner);
	buf_clear(&inner);
	if (frame_type) {
		proto_varint(&inner, otlp_attribute(w, "profile.frame.type", frame_type, 0));
		proto_packed(&location, LOCATION_ATTRIBUTES, &inner);
	}
	buf_done(&inner);
	return otlp_entry(w, OTLP_LOCATIONS, &location);
}

static uint32_t otlp_frame(struct otlp *w, uint32_t frame)
{
	const struct profile_frame *f = profile_get_frame(w->p, frame);
	const struct profile_method *m = profile_get_method(w->p, f->method);
	bool is_new;
	uint32_t at = ids_of_u64(&w->frames, frame, &is_new);
	struct buf name = {0}, mapping = {0};
	const char *type; /* of the semantic conventions; NULL: not a frame of code */

	if (!is_new)
		return w->location[at];
	type = frame_is_java(f->type)                           ? "jvm"
	       : f->type == FRAME_NATIVE || f->type == FRAME_VM ? "native"
	       : f->type == FRAME_KERNEL                        ? "kernel"
								: NULL;
	proto_number(&mapping, MAPPING_FILE, otlp_string(w, m->module));
	uint32_t mapping_id = otlp_entry(w, OTLP_MAPPINGS, &mapping);
	export_frame_name(&name, m, f->type, false);
	w->location = xgrow(w->location, at, &w->location_cap, sizeof(*w->location));
	w->location[at] = otlp_location(
		w, mapping_id, otlp_function(w, buf_str(&name), m->signature), f->line, type);
	buf_done(&name);
	return w->location[at];
}

static uint32_t otlp_stack(struct otlp *w, const struct profile_part *part)
{
	uint64_t who = w->o->threads ? part->thread + 1ull : 0;
	bool is_new;
	uint32_t at = ids_of_u64(&w->stacks, who << 32 | part->stack, &is_new);
	struct buf list = {0}, stack = {0}, name = {0};
	const char *key, *value;

	if (!is_new)
		return w->stack[at];
	for (uint32_t i = part->stack; i != PROFILE_ROOT_STACK;
		i = profile_get_stack(w->p, i).parent)
		if (!links_attribute(w->p, profile_get_stack(w->p, i).frame, &key, &value))
			proto_varint(&list, otlp_frame(w, profile_get_stack(w->p, i).frame));
	if (who) {
		export_thread_name(&name, profile_get_thread(w->p, part->thread));
		proto_varint(
			&list, otlp_location(w, 0, otlp_function(w, buf_str(&name), ""), 0, NULL));
		buf_done(&name);
	}
	proto_packed(&stack, STACK_LOCATIONS, &list);
	w->stack = xgrow(w->stack, at, &w->stack_cap, sizeof(*w->stack));
	w->stack[at] = otlp_entry(w, OTLP_STACKS, &stack);
	buf_done(&list);
	return w->stack[at];
}

/* --- samples ----------------------------------------------------------------------------------------- */

static uint32_t otlp_set(struct otlp *w, const struct profile_part *part)
{
	const struct profile_thread *t = profile_get_thread(w->p, part->thread);
	struct buf list = {0};
	const char *key, *value;

	if (*t->name)
		proto_varint(&list, otlp_attribute(w, "thread.name", t->name, 0));
	if (t->java_tid > 0)
		proto_varint(&list, otlp_attribute(w, "thread.id", NULL, t->java_tid));
	if (t->tid > 0)
		proto_varint(&list, otlp_attribute(w, "tid", NULL, t->tid));
	if (part->state != THREAD_STATE_NONE)
		proto_varint(&list,
			otlp_attribute(w, "thread.state", thread_states[part->state].name, 0));
	for (uint32_t i = part->stack; i != PROFILE_ROOT_STACK;
		i = profile_get_stack(w->p, i).parent)
		if (links_attribute(w->p, profile_get_stack(w->p, i).frame, &key, &value))
			proto_varint(&list, otlp_attribute(w, key, value, 0));
	uint32_t set = ids_of(&w->sets, buf_str(&list), list.len);
	buf_done(&list);
	return set;
}

static bool otlp_full(const struct otlp *w)
{
	return w->tables[OTLP_STACKS].bytes.len >= EXPORT_BYTES_MAX;
}

static uint32_t otlp_link(struct otlp *w, const uint8_t *trace_id, const uint8_t *span_id)
{
	struct buf link = {0};

	proto_bytes(&link, LINK_TRACE, (const char *)trace_id, 16);
	proto_bytes(&link, LINK_SPAN, (const char *)span_id, 8);
	return otlp_entry(w, OTLP_LINKS, &link);
}

static void otlp_of_span(
	void *ctx, const struct profile_part *part, const struct profile_link *link)
{
	struct otlp *w = ctx;

	if (otlp_full(w))
		return;
	struct otlp_sample s = {.stack = otlp_stack(w, part),
		.attributes = otlp_set(w, part),
		.link = link ? otlp_link(w, link->trace_id, link->span_id) : 0,
		.count = part->count,
		.weight = part->weight};
	const uint32_t key[] = {s.stack, s.attributes, s.link};
	uint32_t at = ids_of(&w->keys, key, sizeof(key));
	if (at == w->sample_count) {
		w->samples = xgrow(w->samples, at, &w->sample_cap, sizeof(*w->samples));
		w->samples[at] = s;
		w->sample_count = at + 1;
		return;
	}
	w->samples[at].count += s.count;
	w->samples[at].weight += s.weight;
}

static void otlp_part(void *ctx, const struct profile_part *part)
{
	links_split(((struct otlp *)ctx)->links, part, otlp_of_span, ctx);
}

static void otlp_sample(
	const struct otlp *w, struct buf *profile, const struct otlp_sample *s, uint64_t value)
{
	struct buf sample = {0}, values = {0}, set = {0};
	size_t len;
	const char *attributes = ids_key(&w->sets, s->attributes, &len);

	proto_number(&sample, SAMPLE_STACK, s->stack);
	buf_add(&set, attributes, len);
	proto_packed(&sample, SAMPLE_ATTRIBUTES, &set);
	proto_number(&sample, SAMPLE_LINK, s->link);
	proto_varint(&values, value);
	proto_packed(&sample, SAMPLE_VALUES, &values);
	proto_message(profile, PROFILE_SAMPLES, &sample);
	buf_done(&sample);
	buf_done(&values);
	buf_done(&set);
}

/* --- profiles ---------------------------------------------------------------------------------------- */

static void otlp_type(
	struct otlp *w, struct buf *profile, unsigned field, const char *type, const char *unit)
{
	struct buf message = {0};

	proto_number(&message, TYPE_TYPE, otlp_string(w, type));
	proto_number(&message, TYPE_UNIT, otlp_string(w, unit));
	proto_message(profile, field, &message);
	buf_done(&message);
}

static void otlp_event_fact(void *ctx, const char *key, const char *value)
{
	struct otlp *w = ctx;
	struct buf name = {0};

	buf_printf(&name, "jhot.%s", key);
	proto_varint(&w->attributes, otlp_attribute(w, name.data, value, 0));
	buf_done(&name);
}

/* The profile of either counts or weights of an event. */
static void otlp_profile(struct otlp *w, struct buf *scopes, int event, bool counts)
{
	const struct export_meta *m = &w->o->meta;
	struct export_measure measure = export_measure_of(w->p, event);
	struct buf profile = {0};

	otlp_type(w, &profile, PROFILE_SAMPLE_TYPE, counts ? measure.count : measure.weight,
		counts ? "count" : measure.unit);
	for (uint32_t i = 0; i < w->sample_count; i++)
		otlp_sample(w, &profile, &w->samples[i],
			counts ? w->samples[i].count : w->samples[i].weight);
	proto_fixed64(&profile, PROFILE_TIME, m->start_wall_ns);
	proto_number(&profile, PROFILE_DURATION, m->duration_ns);
	otlp_type(w, &profile, PROFILE_PERIOD_TYPE, measure.weight, measure.unit);
	proto_number(&profile, PROFILE_PERIOD, export_event_of(w->o, event).interval);
	proto_packed(&profile, PROFILE_ATTRIBUTES, &w->attributes);
	proto_message(scopes, SCOPES_PROFILES, &profile);
	buf_done(&profile);
}

static void otlp_event(struct otlp *w, struct buf *scopes, int event)
{
	struct profile_query q = w->o->query;

	q.event = event;
	w->links = links_new(w->p, &q);
	profile_each(w->p, &q, otlp_part, w);
	links_free(w->links);
	export_event_facts(w->p, w->o, event, otlp_event_fact, w);
	otlp_profile(w, scopes, event, false);
	otlp_profile(w, scopes, event, true);
	buf_clear(&w->attributes);
	ids_done(&w->keys);
	w->sample_count = 0;
}

/* --- the resource ------------------------------------------------------------------------------------ */

/* Names of facts in the semantic conventions. Others are "jhot.FACT"; labels keep their names. */
static const struct {
	const char *fact, *key;
} otlp_keys[] = {
	{"host", "host.name"},
	{"name", "service.name"},
	{"jdk", "process.runtime.version"},
	{"jvm", "process.runtime.description"},
	{"pid", "process.pid"},
};
#define LABEL "label."

static void otlp_fact(struct otlp *w, const char *key, const char *value)
{
	struct buf attribute = {0}, any = {0};
	uint32_t known = w->names.count;

	if (ids_of(&w->names, key, strlen(key)) < known)
		return; /* a label of that name takes precedence */
	proto_text(&attribute, ATTRIBUTE_KEY, key);
	if (!strcmp(key, "process.pid"))
		proto_number(&any, VALUE_NUMBER, strtoull(value, NULL, 10));
	else
		proto_text(&any, VALUE_TEXT, value);
	proto_message(&attribute, ATTRIBUTE_VALUE, &any);
	proto_message(&w->resource, RESOURCE_ATTRIBUTES, &attribute);
	buf_done(&attribute);
	buf_done(&any);
}

static void otlp_label(void *ctx, const char *key, const char *value)
{
	if (!strncmp(key, LABEL, strlen(LABEL)))
		otlp_fact(ctx, key + strlen(LABEL), value);
}

static void otlp_other(void *ctx, const char *key, const char *value)
{
	struct buf name = {0};

	for (size_t i = 0; i < sizeof(otlp_keys) / sizeof(*otlp_keys); i++)
		if (!strcmp(otlp_keys[i].fact, key))
			buf_adds(&name, otlp_keys[i].key);
	if (!name.len)
		buf_printf(&name, "jhot.%s", key);
	if (strncmp(key, LABEL, strlen(LABEL)) != 0)
		otlp_fact(ctx, name.data, value);
	buf_done(&name);
}

static void otlp_document(struct otlp *w, struct buf *out)
{
	const struct export_meta *m = &w->o->meta;
	struct buf scope = {0}, scopes = {0}, resources = {0};

	proto_text(&scope, SCOPE_NAME, "jhot");
	proto_message(&scopes, SCOPES_SCOPE, &scope);
	for (int i = 0; i < m->event_count; i++)
		otlp_event(w, &scopes, m->events[i].event);
	if (!m->event_count)
		otlp_event(w, &scopes, w->o->query.event);
	proto_message(&resources, RESOURCES_RESOURCE, &w->resource);
	proto_message(&resources, RESOURCES_SCOPES, &scopes);
	proto_message(out, DATA_RESOURCES, &resources);
	struct buf dictionary = {0};
	for (int i = OTLP_MAPPINGS; i < OTLP_TABLES; i++) {
		for (uint32_t n = 0; n < w->tables[i].count; n++) {
			size_t len;
			const char *bytes = ids_key(&w->tables[i], n, &len);
			proto_bytes(&dictionary, (unsigned)i, bytes, len);
		}
	}
	proto_message(out, DATA_DICTIONARY, &dictionary);
	buf_done(&dictionary);
	buf_done(&scope);
	buf_done(&scopes);
	buf_done(&resources);
}

bool export_otlp(struct buf *out, const struct profile *p, const struct export_options *o)
{
	struct otlp w = {.p = p, .o = o};

	/* Entry 0 of each table. The ids of a link must have their full length. */
	static const uint8_t none[16];
	for (int i = OTLP_MAPPINGS; i < OTLP_TABLES; i++)
		if (i != OTLP_LINKS)
			ids_of(&w.tables[i], "", 0);
	otlp_link(&w, none, none);
	export_facts(w.o, otlp_label, &w);
	export_facts(w.o, otlp_other, &w);
	otlp_document(&w, out);
	bool whole = !otlp_full(&w);
	for (int i = OTLP_MAPPINGS; i < OTLP_TABLES; i++)
		ids_done(&w.tables[i]);
	ids_done(&w.sets);
	ids_done(&w.names);
	ids_done(&w.frames);
	ids_done(&w.stacks);
	buf_done(&w.resource);
	buf_done(&w.attributes);
	free(w.location);
	free(w.stack);
	free(w.samples);
	return whole;
}
