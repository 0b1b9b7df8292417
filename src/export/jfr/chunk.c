/* SPDX-License-Identifier: Apache-2.0 */
/* The file: its header, metadata of the session, and all parts in order. */
#include "export/export.h"
#include "export/facts.h"
#include "export/jfr/jfr.h"

#include "base/clock.h"

#define HEAD_BYTES      68
#define HEAD_COMPRESSED 1 /* integers are varints */

/* --- metadata of the session ----------------------------------------------------------------------------------- */

struct settings {
	struct jfr *j;
	enum jfr_type event; /* that they describe */
};

static void chunk_setting(void *ctx, const char *key, const char *value)
{
	const struct settings *s = ctx;

	buf_clear(&s->j->body);
	jfr_varint(&s->j->body, JFR_ACTIVE_SETTING);
	jfr_varint(&s->j->body, 0);
	jfr_varint(&s->j->body, s->event);
	jfr_text(&s->j->body, key);
	jfr_text(&s->j->body, value);
	jfr_block(&s->j->events, &s->j->body);
}

static void chunk_jvm(struct jfr *j, const struct export_meta *m)
{
	const struct vitals *v = m->vitals;
	uint64_t ended_ms = (m->start_wall_ns + m->duration_ns) / NS_PER_MS;
	uint64_t up_ms = v && v->uptime_s > 0 ? (uint64_t)v->uptime_s * 1000 : 0;

	buf_clear(&j->body);
	jfr_varint(&j->body, JFR_JVM_INFORMATION);
	jfr_varint(&j->body, 0);
	jfr_clean_text(&j->body, v ? v->vm : "");
	jfr_clean_text(&j->body, m->jdk);
	jfr_clean_text(&j->body, v ? v->vm_args : "");
	jfr_clean_text(&j->body, v ? v->vm_flags : "");
	jfr_clean_text(&j->body, v && *v->command ? v->command : m->name);
	jfr_varint(&j->body, up_ms && ended_ms > up_ms ? ended_ms - up_ms : 0);
	jfr_varint(&j->body, m->pid > 0 ? (uint64_t)m->pid : 0);
	jfr_block(&j->events, &j->body);
}

static void chunk_event(struct jfr *j, const struct export_options *o, int event)
{
	static const enum jfr_type types[EVENT_USER_FIRST] = {
		[EVENT_CPU] = JFR_EXECUTION_SAMPLE,
		[EVENT_ALLOC] = JFR_ALLOCATION,
		[EVENT_LOCK] = JFR_MONITOR_ENTER,
		[EVENT_WALL] = JFR_WALL_SAMPLE,
	};
	struct settings settings = {j, event < EVENT_USER_FIRST ? types[event] : JFR_PERF_SAMPLE};
	struct export_options options = *o;
	struct profile_query q = o->query;

	q.event = event;
	j->per_event = jfr_samples_per_event(j->p, &q);
	for (int i = 0; i < options.meta.event_count; i++)
		if (options.meta.events[i].event == event)
			options.meta.events[i].interval *= j->per_event;
	export_event_facts(j->p, &options, event, chunk_setting, &settings);
	if (event == EVENT_LOCK)
		jfr_locks(j, &q);
	else
		jfr_event(j, &q);
}

/* --- the file ---------------------------------------------------------------------------------------- */

static void chunk_big_endian(struct buf *out, uint64_t value, int bytes)
{
	while (bytes--)
		buf_addc(out, (char)(value >> 8 * bytes));
}

bool export_jfr(struct buf *out, const struct profile *p, const struct export_options *o)
{
	const struct export_meta *m = &o->meta;
	struct jfr j = {.p = p};
	struct settings settings = {&j, JFR_JVM_INFORMATION}, collections = {&j, JFR_COLLECTION};
	const struct vitals_second *first = profile_vitals_first(p);
	struct buf rest = {0};

	chunk_jvm(&j, m);
	export_facts(o, chunk_setting, &settings);
	for (int i = 0; i < m->event_count; i++)
		chunk_event(&j, o, m->events[i].event);
	if (!m->event_count)
		chunk_event(&j, o, o->query.event);
	/* Enabled, so that a reader that finds no collection knows that there was none. */
	if (first && first->gc_count >= 0)
		chunk_setting(&collections, "enabled", "true");
	jfr_calls(&j, &o->query);
	jfr_vitals(&j, &o->query);
	jfr_constants(&j, m->vitals ? m->vitals->gc_name : "", &rest);
	size_t metadata = HEAD_BYTES + j.events.len + rest.len;
	jfr_metadata(&rest);
	struct profile_info info = profile_info(j.p);
	/* The chunk begins with the session, even if only a later window is written. */
	uint64_t before = o->meta.start_wall_ns > info.start_wall_ns
				  ? o->meta.start_wall_ns - info.start_wall_ns
				  : 0;
	buf_add(out, "FLR", 4);
	chunk_big_endian(out, 2, 2);
	chunk_big_endian(out, 0, 2);
	chunk_big_endian(out, (HEAD_BYTES + j.events.len + rest.len), 8);
	chunk_big_endian(out, HEAD_BYTES + j.events.len, 8);
	chunk_big_endian(out, metadata, 8);
	chunk_big_endian(out, info.start_wall_ns, 8);
	chunk_big_endian(out, before + o->meta.duration_ns, 8);
	chunk_big_endian(out, 0, 8); /* time begins */
	chunk_big_endian(out, NS_PER_S, 8);
	chunk_big_endian(out, HEAD_COMPRESSED, 4);
	buf_add(out, j.events.data, j.events.len);
	buf_add(out, rest.data, rest.len);
	bool whole = !jfr_full(&j);
	jfr_constants_done(&j);
	buf_done(&rest);
	buf_done(&j.events);
	buf_done(&j.body);
	buf_done(&j.text);
	return whole;
}
