/* SPDX-License-Identifier: Apache-2.0 */
/* A file chunk by chunk, up to where it ends, is cut off or makes no sense. */
#include "recording/reader.h"

#include "base/clock.h"
#include "profile/whole.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

#define MEMORY_MAX ((uint64_t)1 << 30) /* bytes of the profile */

/* --- bytes ------------------------------------------------------------------------------------------- */

/* All of so many: 1; the file ends before: 0, with *got; -1. */
static int fill(struct recording *r, void *out, size_t count, size_t *got, struct err *err)
{
	ssize_t n = 1;

	for (*got = 0; *got < count && n > 0; *got += (size_t)n) {
		n = r->input(r->input_ctx, (char *)out + *got, count - *got, err);
		if (n < 0)
			return -1;
	}
	r->next += *got;
	return *got == count;
}

static int cut(struct recording *r)
{
	r->over = true;
	snprintf(r->note, sizeof(r->note),
		"the recording was not finished: it holds what had been written until then, %llu "
		"bytes",
		(unsigned long long)r->offset);
	return 0;
}

static int damaged(struct recording *r, struct err *err, const char *what)
{
	r->over = true;
	err_set(err, ERR_INPUT, "The recording is damaged at byte %llu of what it unpacks to: %s.",
		(unsigned long long)r->offset, what);
	return -1;
}

static int skip(struct recording *r, size_t bytes, struct err *err)
{
	char away[4096];
	size_t got;
	int rc = 1;

	while (rc > 0 && bytes) {
		rc = fill(r, away, bytes < sizeof(away) ? bytes : sizeof(away), &got, err);
		bytes -= got;
	}
	return rc;
}

/* --- chunks ------------------------------------------------------------------------------------------ */

static int take(struct recording *r, uint32_t type, struct err *err)
{
	if (!chunks_take(r, type))
		return damaged(r, err, "it says what cannot be");
	if (profile_info(r->profile).bytes > MEMORY_MAX)
		return damaged(r, err, "it would take more than a GB of memory");
	return 1;
}

/* One chunk: 1, or 0 at the end, or -1. */
static int step(struct recording *r, struct err *err)
{
	struct format_chunk head;
	size_t got;
	int rc;

	r->offset = r->next;
	rc = fill(r, &head, sizeof(head), &got, err);
	if (rc > 0) {
		head.bytes = le32toh(head.bytes);
		head.type = le32toh(head.type);
		if (!chunks_known(head.type)) {
			rc = skip(r, head.bytes, err);
		} else if (head.bytes > FORMAT_CHUNK_MAX) {
			return damaged(r, err, "a part of it is too large");
		} else {
			buf_clear(&r->body);
			buf_reserve(&r->body, head.bytes);
			rc = fill(r, r->body.data, head.bytes, &r->body.len, err);
			if (rc > 0)
				return take(r, head.type, err);
		}
	}
	if (rc < 0)
		r->over = true;
	return rc ? rc : cut(r);
}

/* Behind the end nothing comes but what says that all was unpacked well. */
static int ending(struct recording *r, struct err *err)
{
	char more;
	size_t got;

	r->over = true;
	return fill(r, &more, 1, &got, err) < 0 ? -1 : 0;
}

int recording_read(struct recording *r, uint32_t before, struct err *err)
{
	int rc = 1;

	while (!r->over) {
		if (r->pending != PROFILE_NONE) {
			if (r->pending >= before) {
				profile_advance(r->profile, before);
				return 1;
			}
			r->second = r->pending;
			r->pending = PROFILE_NONE;
			r->timed = true;
			profile_advance(r->profile, r->second);
		}
		rc = r->ended ? ending(r, err) : step(r, err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* --- from the beginning to the end ------------------------------------------------------------------- */

static void keep_all(const struct profile *p, const struct numbers *n)
{
	for (uint32_t i = 0; i < n->count; i++)
		profile_keep(p, n->list[i]);
}

/* What the file has numbers for may come again. */
static void keep(void *ctx, enum profile_kind kind, bool leaving)
{
	const struct recording *r = ctx;

	if (leaving)
		return;
	switch (kind) {
	case PROFILE_STACKS: keep_all(r->profile, &r->stacks); break;
	case PROFILE_FRAMES: keep_all(r->profile, &r->frames); break;
	case PROFILE_METHODS: keep_all(r->profile, &r->methods); break;
	case PROFILE_THREADS: keep_all(r->profile, &r->threads); break;
	default: break;
	}
}

bool recording_is(const void *bytes, size_t count)
{
	return count >= strlen(FORMAT_MAGIC) && !memcmp(bytes, FORMAT_MAGIC, strlen(FORMAT_MAGIC));
}

static int open_head(struct recording *r, struct err *err)
{
	struct format_head head;
	size_t got;
	int rc = fill(r, &head, sizeof(head), &got, err);

	if (rc < 0)
		return -1;
	if (!rc || !recording_is(&head, sizeof(head)))
		return err_set(err, ERR_INPUT,
			got ? "This is not a recording of jhot's (.jhot)."
			    : "This recording is empty: nothing was written, or it is no .jhot.");
	if (le16toh(head.major) == FORMAT_MAJOR)
		return 0;
	err_set(err, ERR_INPUT,
		"This recording cannot be read: its format is %u.%u, this jhot reads %u.%u.",
		le16toh(head.major), le16toh(head.minor), FORMAT_MAJOR, FORMAT_MINOR);
	err_hint(err, "the jhot that wrote it, or a later one, reads it");
	return -1;
}

struct recording *recording_open_input(
	recording_input *fn, void *ctx, struct profile *p, struct err *err)
{
	struct recording *r = xcalloc(1, sizeof(*r));

	r->input = fn;
	r->input_ctx = ctx;
	r->profile = p;
	r->pending = PROFILE_NONE;
	vitals_unknown(&r->vitals);
	profile_set_history(p, UINT32_MAX);
	profile_keeper_add(p, keep, r);
	if (!open_head(r, err))
		return r;
	recording_free(r);
	return NULL;
}

struct recording *recording_open(const char *path, struct profile *p, struct err *err)
{
	struct zip_in *zip = zip_in_open(path, err);
	struct recording *r = zip ? recording_open_input(zip_in_read, zip, p, err) : NULL;

	if (r)
		r->zip = zip;
	else
		zip_in_close(zip);
	if (!r && zip)
		err_prefix(err, "%s: ", path);
	return r;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	profile_keeper_remove(r->profile, r);
	zip_in_close(r->zip);
	buf_done(&r->body);
	free(r->methods.list);
	free(r->frames.list);
	free(r->stacks.list);
	free(r->threads.list);
	fields_done(&r->fields);
	for (int i = 0; i < r->label_count; i++)
		free(r->labels[i]);
	free(r);
}

/* --- what it says ------------------------------------------------------------------------------------ */

const struct vitals *recording_vitals_now(const struct recording *r)
{
	return &r->vitals;
}

/* Of one that was cut off: from the first event on. */
uint64_t recording_duration_ns(const struct recording *r)
{
	uint32_t from = UINT32_MAX, now = profile_info(r->profile).now;
	struct profile_run run;

	if (r->ended)
		return r->duration_ns;
	for (int e = 0; e < PROFILE_EVENTS; e++)
		if (profile_get_run(r->profile, e, 0, &run) && run.from < from)
			from = run.from;
	return from <= now ? (now + 1 - from) * NS_PER_S : 0;
}

const char *recording_host(const struct recording *r)
{
	return r->host;
}

int recording_labels(const struct recording *r, const char *const **labels)
{
	*labels = (const char *const *)r->labels;
	return r->label_count;
}

const char *recording_note(const struct recording *r)
{
	return r->note;
}
