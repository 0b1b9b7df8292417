/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded session in place of a live one: the same records, into the same reader. */
#include "base/buf.h"
#include "base/clean.h"
#include "base/clock.h"
#include "session/state.h"

#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct replay {
	struct raw_reader *raw;
	struct wire_header header;
	bool clock_step;
	uint64_t begin_ns; /* when the replay began, on our clock */
	uint64_t step_s;   /* seconds that have been stepped */
};

void replay_free(struct replay *r)
{
	if (!r)
		return;
	raw_close_reader(r->raw);
	free(r);
}

/* --- recorded vitals --------------------------------------------------------------------------------- */

static void replay_text(char *text, size_t bytes)
{
	char copy[sizeof(((struct vitals *)NULL)->vm_args)]; /* the longest of them */
	size_t len = strnlen(text, bytes < sizeof(copy) ? bytes : sizeof(copy) - 1);

	memcpy(copy, text, len);
	clean_text(text, bytes, copy, len);
}
#define REPLAY_TEXT(field) replay_text(field, sizeof(field))

/* The file may say anything. */
static void replay_clean_vitals(struct vitals *v)
{
	REPLAY_TEXT(v->name), REPLAY_TEXT(v->jdk), REPLAY_TEXT(v->vm), REPLAY_TEXT(v->user);
	REPLAY_TEXT(v->gc_name), REPLAY_TEXT(v->vitals_note);
	REPLAY_TEXT(v->walker), REPLAY_TEXT(v->walker_note);
	REPLAY_TEXT(v->command), REPLAY_TEXT(v->vm_args), REPLAY_TEXT(v->vm_flags);
	REPLAY_TEXT(v->agent_note);
	for (int i = 0; i < VITALS_EVENTS; i++) {
		REPLAY_TEXT(v->events[i].engine), REPLAY_TEXT(v->events[i].note);
		if (v->events[i].state < WIRE_EVENT_OFF || v->events[i].state > WIRE_EVENT_FAILED)
			v->events[i].state = WIRE_EVENT_OFF;
	}
	vitals_bound(v);
	for (int i = 0; i < v->counter_count; i++)
		REPLAY_TEXT(v->counters[i].name);
}

/* What an older version had not yet stays empty, what a newer one added is passed over. */
static void replay_take_vitals(struct session *s, const struct wire_record *rec, uint32_t size)
{
	const struct wire_file_vitals *v = (const struct wire_file_vitals *)rec;
	size_t bytes = size - sizeof(*v);

	if (size < sizeof(*v) || v->vitals_bytes > bytes ||
		v->vitals_bytes < offsetof(struct vitals, command))
		return;
	bytes = v->vitals_bytes < sizeof(s->vitals) ? v->vitals_bytes : sizeof(s->vitals);
	memset(&s->vitals, 0, sizeof(s->vitals));
	memcpy(&s->vitals, v->vitals, bytes);
	vitals_unknown_from(&s->vitals, bytes);
	/* A bool must be one; in a recording nothing is alive or stalled. */
	memset(&s->vitals.alive, 0, sizeof(s->vitals.alive));
	memset(&s->vitals.stalled, 0, sizeof(s->vitals.stalled));
	replay_clean_vitals(&s->vitals);
}

static void replay_take_status(struct session *s, const struct wire_record *rec, uint32_t size)
{
	struct wire_file_status whole = {.time_ns = 0};

	if (size < offsetof(struct wire_file_status, status.walk_cost))
		return;
	memcpy(&whole, rec, size < sizeof(whole) ? size : sizeof(whole));
	gauges_status(&whole.status, &s->vitals);
	session_runs(s);
}

/* --- records ----------------------------------------------------------------------------------------- */

static int replay_damaged(struct session *s, const struct err *cause)
{
	struct err why;

	err_set(&why, ERR_INPUT, "The recording is damaged at byte %llu: %s",
		(unsigned long long)raw_offset(s->replay->raw), cause->what);
	err_hint(&why, "what stands before is shown");
	return session_end(s, &why, NULL);
}

/* Takes records up to the first TICK at or after this time. 1 = there is more, 0 = the end. */
static int replay_until(struct session *s, uint64_t time_ns)
{
	const struct wire_record *rec;
	struct err why = {0};
	uint32_t size;
	int more;

	while (!s->over && (more = raw_next(s->replay->raw, &rec, &size, &why))) {
		if (more < 0)
			return session_end(s, &why, NULL);
		if (rec->type == WIRE_REC_FILE_VITALS)
			replay_take_vitals(s, rec, size);
		else if (rec->type == WIRE_REC_FILE_STATUS)
			replay_take_status(s, rec, size);
		else if (session_take(s, rec, size, &why))
			return replay_damaged(s, &why);
		if (rec->type == WIRE_REC_TICK && s->vitals.time_ns)
			profile_vitals_set(s->profile, &s->vitals);
		if (rec->type == WIRE_REC_TICK && reader_stats(s->reader)->tick_ns >= time_ns)
			return 1;
	}
	err_set(&why, ERR_GONE, "The recording is over.");
	session_end(s, &why, NULL);
	return 0;
}

bool session_replay_step(struct session *s)
{
	struct replay *r = s->replay;

	if (!r || s->over)
		return false;
	r->step_s++;
	return replay_until(s, r->header.start_mono_ns + r->step_s * NS_PER_S) > 0;
}

int replay_drain(struct session *s, struct err *err)
{
	struct replay *r = s->replay;
	uint64_t before = reader_stats(s->reader)->samples;

	if (!r->clock_step && !s->over)
		replay_until(s, r->header.start_mono_ns + (clock_mono_ns() - r->begin_ns));
	if (s->over && reader_stats(s->reader)->samples == before)
		return session_end(s, &s->over_err, err);
	return (int)(reader_stats(s->reader)->samples - before);
}

int replay_wait(struct session *s, int timeout_ms)
{
	if (s->over)
		return 1;
	poll(NULL, 0, timeout_ms < 100 ? timeout_ms : 100); /* ticks were 100 ms apart */
	return !s->replay->clock_step;
}

const struct vitals *replay_vitals(struct session *s)
{
	struct vitals *v = &s->vitals;
	const struct hotspot *jvm = &s->jvm;

	if (v->pid == jvm->pid && v->name[0])
		return v;
	v->pid = jvm->pid;
	memcpy(v->name, jvm->name, sizeof(v->name));
	memcpy(v->jdk, jvm->jdk, sizeof(v->jdk));
	memcpy(v->user, jvm->user, sizeof(v->user));
	return v;
}

/* --- opening ----------------------------------------------------------------------------------------- */

struct session *session_replay(
	const char *path, bool clock_step, struct profile *profile, struct err *err)
{
	struct wire_header header;
	struct hotspot jvm;
	struct raw_reader *raw = raw_open(path, &header, &jvm, err);
	struct session *s;

	if (!raw)
		return NULL;
	s = session_new(&jvm, profile);
	s->replay = xcalloc(1, sizeof(*s->replay));
	s->replay->raw = raw;
	s->replay->header = header;
	s->replay->clock_step = clock_step;
	s->replay->begin_ns = clock_mono_ns();
	s->frames = frames_new(profile, NULL);
	s->reader = reader_new(profile, s->frames, header.start_mono_ns);
	profile_keeper_add(profile, session_keep, s);
	profile_set_start(profile, header.start_wall_ns);
	return s;
}
