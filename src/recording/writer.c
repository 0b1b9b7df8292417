/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides when a second is written: LATE_S after its end, when no more samples of it can arrive.
 *
 *   writer.c   which seconds are due
 *   second.c   a second as chunks       file_ids.c, fields.c   ids of names, stacks and threads; changed vitals
 *   out.c      chunks as bytes of a compressed file
 */
#include "recording/recording.h"

#include "recording/second.h"

#include <stdio.h>
#include <stdlib.h>

#define LATE_S 2u /* samples may arrive this late */
/* The longest run of seconds without samples that is searched for vitals. */
#define VITALS_S (1u << 18)

struct recording_writer {
	struct out out;
	struct second second;
	const struct profile *profile;
	uint32_t next; /* the first second that has not been written */
	bool any;      /* at least one second has been written */
	bool follows; /* a growing file: unwritten seconds are retained, an unfinished file is kept */
	struct vitals_due { /* vitals that await their second */
		uint32_t second;
		struct vitals v;
	} * due;
	uint32_t due_count, due_cap;
};

/* --- which seconds ----------------------------------------------------------------------------------- */

static void write_second(struct recording_writer *w, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	while (n < w->due_count && w->due[n].second <= from)
		w->second.vitals = w->due[n++].v;
	w->due_count -= n;
	if (n)
		memmove(w->due, w->due + n, w->due_count * sizeof(*w->due));
	second_write(&w->second, from, to);
	w->any = true;
}

/* The next non-empty second up to `last`, or PROFILE_NONE. */
static uint32_t next_second(const struct recording_writer *w, uint32_t last)
{
	uint32_t next = profile_next_retained(w->profile, w->next);

	for (uint32_t s = w->next; s < next && s <= last && s - w->next < VITALS_S; s++)
		if (profile_vitals(w->profile, s))
			return s;
	return next <= last ? next : PROFILE_NONE;
}

/* Writes all seconds up to `last`. */
static void write_until(struct recording_writer *w, uint32_t last)
{
	uint32_t second, oldest = profile_info(w->profile).oldest;

	if (!w->any && oldest) {
		write_second(w, 0, oldest);
		w->next = oldest;
	}
	while ((second = next_second(w, last)) != PROFILE_NONE) {
		write_second(w, second, second + 1);
		w->next = second + 1;
	}
	if (last >= w->next)
		w->next = last + 1;
	if (w->follows)
		profile_retain_unwritten(w->profile, w->next);
}

/* --- from the beginning to the end ------------------------------------------------------------------- */

struct recording_writer *recording_create(const char *path, struct err *err)
{
	struct recording_writer *w = xcalloc(1, sizeof(*w));

	if (out_open(&w->out, path, err)) {
		free(w);
		return NULL;
	}
	w->second.out = &w->out;
	return w;
}

struct recording_writer *recording_create_stream(struct buf *stream)
{
	struct recording_writer *w = xcalloc(1, sizeof(*w));

	out_open_stream(&w->out, stream);
	w->second.out = &w->out;
	return w;
}

static void meta_add(struct recording_writer *w, const char *name, const char *text)
{
	format_add_text(&w->out.chunk, name);
	format_add_text(&w->out.chunk, text);
}

static void begin(
	struct recording_writer *w, const struct profile *p, const struct recording_meta *meta)
{
	struct profile_info info = profile_info(p);
	char number[32];

	w->profile = w->second.profile = p;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)info.start_wall_ns);
	meta_add(w, "start_ns", number);
	if (meta->host)
		meta_add(w, "host", meta->host);
	for (int i = 0; i < meta->label_count; i++)
		meta_add(w, "label", meta->labels[i]);
	out_write(&w->out, CHUNK_META, &w->out.chunk);
	if (info.oldest || info.merged_before)
		OUT(&w->out, CHUNK_RETAINED, info.oldest, info.merged_before);
}

void recording_begin(
	struct recording_writer *w, const struct profile *p, const struct recording_meta *meta)
{
	begin(w, p, meta);
	if (w->out.stream)
		return;
	w->follows = true;
	out_flush(&w->out, ZIP_FLUSH);
	file_appear(&w->out.file);
	profile_retain_unwritten(p, profile_info(p).oldest);
}

void recording_vitals(struct recording_writer *w, const struct vitals *v)
{
	w->due = xgrow(w->due, w->due_count, &w->due_cap, sizeof(*w->due));
	w->due[w->due_count++] = (struct vitals_due){profile_info(w->profile).now, *v};
	if (w->any || w->second.fields.begun)
		return;
	/* so that even a file without seconds identifies its JVM */
	w->second.vitals = *v;
	second_write_vitals(&w->second, CHUNK_STATE, v);
	out_flush(&w->out, ZIP_FLUSH);
}

int recording_follow(struct recording_writer *w, struct err *err)
{
	uint32_t now = profile_info(w->profile).now;

	if (now <= LATE_S || now - LATE_S <= w->next)
		return out_check(&w->out, err);
	write_until(w, now - LATE_S - 1);
	out_flush(&w->out, ZIP_FLUSH);
	return out_check(&w->out, err);
}

int recording_finish(struct recording_writer *w, uint64_t duration_ns, struct err *err)
{
	uint32_t now = profile_info(w->profile).now;

	write_until(w, now);
	write_second(w, now, now); /* events, gaps and waits up to the end */
	second_write_runs(&w->second);
	second_write_calls(&w->second, now, true);
	if (w->due_count)
		w->second.vitals = w->due[w->due_count - 1].v;
	second_write_vitals(&w->second, CHUNK_STATE, &w->second.vitals);
	OUT(&w->out, CHUNK_END, duration_ns);
	out_flush(&w->out, ZIP_LAST);
	if (w->follows)
		profile_retain_unwritten(w->profile, PROFILE_NONE);
	w->profile = NULL;
	if (out_check(&w->out, err))
		return -1;
	return w->out.stream ? 0 : file_commit(&w->out.file, err);
}

void recording_close(struct recording_writer *w)
{
	if (!w)
		return;
	if (w->profile && w->follows) {
		profile_retain_unwritten(w->profile, PROFILE_NONE);
		out_flush(&w->out, ZIP_FLUSH);
	}
	out_close(&w->out, w->follows);
	second_done(&w->second);
	free(w->due);
	free(w);
}

int recording_save(const char *path, const struct profile *p, const struct recording_meta *meta,
	const struct vitals *v, uint64_t duration_ns, struct err *err)
{
	struct recording_writer *w = recording_create(path, err);
	int rc = -1;

	if (!w)
		return -1;
	begin(w, p, meta);
	w->second.vitals = *v; /* earlier seconds have only the vitals that the profile keeps */
	w->second.vitals.host = vitals_host_unknown;
	w->second.vitals.safepoint_count = w->second.vitals.safepoint_time_ms =
		w->second.vitals.safepoint_sync_ms = -1;
	w->second.vitals.classes_loaded = w->second.vitals.classes_unloaded = -1;
	second_write_vitals(&w->second, CHUNK_STATE, &w->second.vitals);
	w->due = xgrow(w->due, w->due_count, &w->due_cap, sizeof(*w->due));
	w->due[w->due_count++] = (struct vitals_due){PROFILE_NONE, *v};
	rc = recording_finish(w, duration_ns, err);
	recording_close(w);
	return rc;
}
