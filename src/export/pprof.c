/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof: a gzipped profile.proto of one event, with two values per sample: count and weight.
 *
 * One location per frame and one function per method, named as in the collapsed format with dots;
 * file names are libraries. Ids count from 1 in order of first use. Samples are labeled with
 * thread, tid and, if known, thread state, the request's attributes and its span. The metadata are
 * in the comments.
 */
#include "base/intern.h"
#include "base/zip.h"
#include "export/export.h"
#include "export/facts.h"
#include "export/ids.h"
#include "export/links.h"
#include "export/proto.h"
#include "export/text.h"

#include <string.h>

/* Fields of profile.proto, by message. */
enum { PROFILE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION };
enum { PROFILE_STRING = 6, PROFILE_TIME = 9, PROFILE_DURATION, PROFILE_PERIOD_TYPE };
enum { PROFILE_PERIOD = 12, PROFILE_COMMENT, PROFILE_DEFAULT };
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

/* Added to the id of a thread that is shown as a frame: no frame and no method has such a key. */
#define KEY_THREAD (1ull << 32)

struct pprof {
	const struct profile *p;
	const struct export_options *o;
	struct links *links;
	struct intern strings;
	struct ids functions, locations;
	struct buf samples, tables; /* encoded samples; encoded locations and functions */
	struct buf text, message, inner;
};

static uint32_t pprof_string(struct pprof *w, const char *text)
{
	size_t at = w->text.len;

	export_clean(&w->text, text, 0, 0);
	uint32_t id = intern_add(&w->strings, buf_str(&w->text) + at, w->text.len - at);
	w->text.len = at;
	return id;
}

/* The function named by w->text, which is cleared. */
static uint32_t pprof_function(
	struct pprof *w, uint64_t key, const char *signature, const char *file)
{
	bool is_new;
	uint32_t id = ids_of_u64(&w->functions, key, &is_new) + 1;
	struct buf function = {0}, name = {0};

	if (is_new) {
		buf_adds(&name, buf_str(&w->text));
		buf_clear(&w->text);
		proto_number(&function, FUNCTION_ID, id);
		proto_number(&function, FUNCTION_NAME, pprof_string(w, buf_str(&name)));
		buf_adds(&name, signature);
		proto_number(&function, FUNCTION_SYSTEM_NAME, pprof_string(w, buf_str(&name)));
		proto_number(&function, FUNCTION_FILE, pprof_string(w, file));
		proto_message(&w->tables, PROFILE_FUNCTION, &function);
	}
	buf_done(&function);
	buf_done(&name);
	buf_clear(&w->text);
	return id;
}

static void pprof_location(struct pprof *w, uint32_t id, uint32_t function, int line)
{
	struct buf location = {0}, inner = {0};

	proto_number(&inner, LINE_FUNCTION, function);
	proto_number(&inner, LINE_NUMBER, line > 0 ? (uint64_t)line : 0);
	proto_number(&location, LOCATION_ID, id);
	proto_number(&location, LOCATION_MAPPING, 1);
	proto_message(&location, LOCATION_LINE, &inner);
	proto_message(&w->tables, PROFILE_LOCATION, &location);
	buf_done(&inner);
	buf_done(&location);
}

static uint32_t pprof_frame(struct pprof *w, uint32_t frame)
{
	const struct profile_frame *f = profile_get_frame(w->p, frame);
	const struct profile_method *m = profile_get_method(w->p, f->method);
	bool is_new;
	uint32_t id = ids_of_u64(&w->locations, frame, &is_new) + 1;

	if (is_new) {
		buf_clear(&w->text);
		export_frame_name(&w->text, m, f->type, false);
		pprof_location(w, id,
			pprof_function(w, f->method, m->signature,
				f->type == FRAME_KERNEL ? "[kernel]" : m->module),
			f->line);
	}
	return id;
}

static uint32_t pprof_thread(struct pprof *w, uint32_t thread)
{
	bool is_new;
	uint32_t id = ids_of_u64(&w->locations, KEY_THREAD | thread, &is_new) + 1;

	if (is_new) {
		buf_clear(&w->text);
		export_thread_name(&w->text, profile_get_thread(w->p, thread));
		pprof_location(w, id, pprof_function(w, KEY_THREAD | thread, "", ""), 0);
	}
	return id;
}

static void pprof_label(
	struct pprof *w, struct buf *sample, const char *key, const char *text, uint64_t number)
{
	buf_clear(&w->inner);
	proto_number(&w->inner, LABEL_KEY, pprof_string(w, key));
	proto_number(&w->inner, LABEL_TEXT, pprof_string(w, text));
	proto_number(&w->inner, LABEL_NUMBER, number);
	proto_message(sample, SAMPLE_LABEL, &w->inner);
}

/* Ids as labels; link NULL: none. */
static void pprof_span(struct pprof *w, struct buf *sample, const struct profile_link *link)
{
	char hex[LINKS_HEX];

	if (!link)
		return;
	pprof_label(
		w, sample, "trace_id", links_hex(hex, link->trace_id, sizeof(link->trace_id)), 0);
	pprof_label(w, sample, "span_id", links_hex(hex, link->span_id, sizeof(link->span_id)), 0);
}

static void pprof_sample(
	void *ctx, const struct profile_part *part, const struct profile_link *link)
{
	struct pprof *w = ctx;
	const char *key, *value;
	const struct profile_thread *t = profile_get_thread(w->p, part->thread);
	struct buf *sample = &w->message;

	if (w->samples.len >= EXPORT_BYTES_MAX)
		return;
	buf_clear(sample);
	buf_clear(&w->inner);
	for (uint32_t at = part->stack; at != PROFILE_ROOT_STACK;
		at = profile_get_stack(w->p, at).parent)
		if (!links_attribute(w->p, profile_get_stack(w->p, at).frame, &key, &value))
			proto_varint(&w->inner, pprof_frame(w, profile_get_stack(w->p, at).frame));
	if (w->o->threads)
		proto_varint(&w->inner, pprof_thread(w, part->thread));
	proto_packed(sample, SAMPLE_LOCATION, &w->inner);
	buf_clear(&w->inner);
	proto_varint(&w->inner, part->count);
	proto_varint(&w->inner, part->weight);
	proto_packed(sample, SAMPLE_VALUE, &w->inner);
	if (*t->name)
		pprof_label(w, sample, "thread", t->name, 0);
	if (t->tid > 0)
		pprof_label(w, sample, "tid", "", (uint64_t)t->tid);
	if (part->state != THREAD_STATE_NONE)
		pprof_label(w, sample, "state", thread_states[part->state].name, 0);
	for (uint32_t at = part->stack; at != PROFILE_ROOT_STACK;
		at = profile_get_stack(w->p, at).parent)
		if (links_attribute(w->p, profile_get_stack(w->p, at).frame, &key, &value))
			pprof_label(w, sample, key, value, 0);
	pprof_span(w, sample, link);
	proto_message(&w->samples, PROFILE_SAMPLE, sample);
}

static void pprof_part(void *ctx, const struct profile_part *part)
{
	links_split(((struct pprof *)ctx)->links, part, pprof_sample, ctx);
}

/* --- the rest ---------------------------------------------------------------------------------------- */

static void pprof_type(
	struct pprof *w, struct buf *out, unsigned field, const char *name, const char *unit)
{
	buf_clear(&w->message);
	proto_number(&w->message, TYPE_NAME, pprof_string(w, name));
	proto_number(&w->message, TYPE_UNIT, pprof_string(w, unit));
	proto_message(out, field, &w->message);
}

static void pprof_comment(void *ctx, const char *key, const char *value)
{
	struct pprof *w = ctx;
	struct buf line = {0};

	buf_printf(&line, "%s=%s", key, value);
	proto_varint(&w->inner, pprof_string(w, line.data));
	buf_done(&line);
}

bool export_pprof(struct buf *out, const struct profile *p, const struct export_options *o)
{
	struct pprof w = {.p = p, .o = o, .links = links_new(p, &o->query)};
	struct zip_out *zip = zip_out_new();
	struct buf plain = {0};

	pprof_string(&w, ""); /* the first string is the empty one */
	profile_each(p, &o->query, pprof_part, &w);
	bool whole = w.samples.len < EXPORT_BYTES_MAX;
	if (whole) {
		const struct export_meta *m = &w.o->meta;
		int event = w.o->query.event;
		struct export_measure measure = export_measure_of(w.p, event);

		pprof_type(&w, &plain, PROFILE_TYPE, measure.count, "count");
		pprof_type(&w, &plain, PROFILE_TYPE, measure.weight, measure.unit);
		pprof_type(&w, &plain, PROFILE_PERIOD_TYPE, measure.weight, measure.unit);
		proto_number(&plain, PROFILE_PERIOD, export_event_of(w.o, event).interval);
		proto_number(&plain, PROFILE_DEFAULT, pprof_string(&w, measure.weight));
		buf_add(&plain, w.samples.data, w.samples.len);
		buf_clear(&w.message);
		proto_number(&w.message, MAPPING_ID, 1);
		proto_number(&w.message, MAPPING_FILE, pprof_string(&w, m->name ? m->name : ""));
		proto_number(&w.message, MAPPING_HAS_FUNCTIONS, 1);
		proto_message(&plain, PROFILE_MAPPING, &w.message);
		buf_add(&plain, w.tables.data, w.tables.len);
		proto_number(&plain, PROFILE_TIME, m->start_wall_ns);
		proto_number(&plain, PROFILE_DURATION, m->duration_ns);
		buf_clear(&w.inner);
		export_facts(w.o, pprof_comment, &w);
		export_event_facts(w.p, w.o, event, pprof_comment, &w);
		proto_packed(&plain, PROFILE_COMMENT, &w.inner);
		for (uint32_t i = 0; i < w.strings.count; i++)
			proto_text(&plain, PROFILE_STRING, intern_text(&w.strings, i));
		zip_out_add(zip, out, &plain, ZIP_LAST);
	}
	zip_out_free(zip);
	links_free(w.links);
	buf_done(&plain);
	buf_done(&w.samples);
	buf_done(&w.tables);
	buf_done(&w.text);
	buf_done(&w.message);
	buf_done(&w.inner);
	ids_done(&w.functions);
	ids_done(&w.locations);
	intern_done(&w.strings);
	return whole;
}
