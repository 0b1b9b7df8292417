/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file chunk by chunk, up to its end, the point where it was truncated, or the first error. */
#include "recording/reader.h"

#include "base/clock.h"
#include "profile/history.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define MEMORY_DEFAULT ((uint64_t)1 << 30) /* limit of the profile, bytes */
#define ZIP_PIECE      (1u << 16)

/* --- decompression ----------------------------------------------------------------------------------- */

struct unzip {
	gzFile file;
	char *path;
};

struct unzip *unzip_open(const char *path, struct err *err)
{
	struct unzip *in;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	gzFile file = fd < 0 ? NULL : gzdopen(fd, "rb");

	if (!file) {
		err_set_errno(err, ERR_INPUT, "Cannot open recording %s", path);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	gzbuffer(file, ZIP_PIECE);
	in = xcalloc(1, sizeof(*in));
	in->file = file;
	in->path = xstrdup(path);
	return in;
}

void unzip_close(struct unzip *in)
{
	if (!in)
		return;
	gzclose(in->file);
	free(in->path);
	free(in);
}

ssize_t unzip_read(void *ctx, void *bytes, size_t count, struct err *err)
{
	struct unzip *in = ctx;
	int n = gzread(in->file, bytes, count < ZIP_PIECE ? (unsigned)count : ZIP_PIECE), why;

	if (n >= 0)
		return n;
	const char *text = gzerror(in->file, &why);
	if (why == Z_ERRNO)
		return err_set_errno(err, ERR_INPUT, "Cannot read recording %s", in->path);
	return err_set(err, ERR_INPUT, "Cannot decompress recording %s near byte %lld: %s.",
		in->path, (long long)gzoffset(in->file), text);
}

/* --- bytes ------------------------------------------------------------------------------------------- */

/* Reads exactly count bytes. Returns 1, 0 if the file ends before (*got were read), or -1 with an error. */
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

static int damaged(struct recording *r, struct err *err, const char *what)
{
	r->over = true;
	err_set(err, ERR_INPUT,
		"The recording is damaged at byte %llu of its uncompressed data: %s.",
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

/*
 * Reads the next chunk, if there is one. Sets r->over at the end of the file and after an error.
 * Returns 0, or -1 with an error.
 */
static int read_chunk(struct recording *r, struct err *err)
{
	struct format_chunk head;
	size_t got;

	r->offset = r->next;
	int rc = fill(r, &head, sizeof(head), &got, err);
	if (rc > 0) {
		head.bytes = le32toh(head.bytes);
		head.type = le32toh(head.type);
		if (!chunks_known(head.type)) {
			rc = skip(r, head.bytes, err);
		} else if (head.bytes > FORMAT_CHUNK_MAX) {
			return damaged(r, err, "a chunk is too large");
		} else {
			buf_clear(&r->body);
			buf_reserve(&r->body, head.bytes);
			rc = fill(r, r->body.data, head.bytes, &r->body.len, err);
			if (rc > 0 && !chunks_read(r, head.type))
				return damaged(r, err, "invalid content");
			if (rc > 0 && profile_info(r->profile).bytes > r->memory) {
				r->over = true;
				err_set(err, ERR_INPUT,
					"The recording does not fit into %llu MiB of memory (read "
					"so far: %llu bytes).",
					(unsigned long long)(r->memory >> 20),
					(unsigned long long)r->offset);
				err_hint(err, "--memory SIZE raises the limit");
				return -1;
			}
		}
	}
	r->starved = !rc && !got && r->grows;
	if (r->starved)
		return 0;
	r->over = rc <= 0;
	if (!rc)
		snprintf(r->note, sizeof(r->note),
			"the recording is incomplete: it ends after %llu bytes, without an end "
			"mark",
			(unsigned long long)r->offset);
	return rc < 0 ? -1 : 0;
}

void recording_grows(struct recording *r)
{
	r->grows = true;
}

void recording_limit(struct recording *r, uint64_t bytes)
{
	r->memory = bytes;
}

int recording_read(struct recording *r, uint32_t before, struct err *err)
{
	size_t got;
	char more;

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
		if (r->ended) { /* read past CHUNK_END, so that gzip verifies its checksum */
			r->over = true;
			if (fill(r, &more, 1, &got, err) < 0)
				return -1;
		} else if (read_chunk(r, err) < 0) {
			return -1;
		} else if (r->starved) {
			return 1;
		}
	}
	return 0;
}

/* --- from the beginning to the end ------------------------------------------------------------------- */

static void pin_list(const struct profile *p, const struct id_list *n)
{
	for (uint32_t i = 0; i < n->count; i++)
		profile_pin(p, n->list[i]);
}

/* Pins everything that has an id in the file, since later chunks may refer to it. */
static void pin(void *ctx, enum profile_kind kind, bool leaving)
{
	const struct recording *r = ctx;

	if (leaving)
		return;
	switch (kind) {
	case PROFILE_STACKS: pin_list(r->profile, &r->stacks); break;
	case PROFILE_FRAMES: pin_list(r->profile, &r->frames); break;
	case PROFILE_METHODS: pin_list(r->profile, &r->methods); break;
	case PROFILE_THREADS: pin_list(r->profile, &r->threads); break;
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
			got ? "This is not a jhot recording (.jhot)."
			    : "This recording is empty, or not a .jhot file.");
	if (le16toh(head.major) == FORMAT_MAJOR)
		return 0;
	err_set(err, ERR_INPUT,
		"Cannot read this recording: its format version is %u.%u, this jhot reads %u.%u.",
		le16toh(head.major), le16toh(head.minor), FORMAT_MAJOR, FORMAT_MINOR);
	err_hint(err, "read it with the version of jhot that wrote it, or a later one");
	return -1;
}

struct recording *recording_open_input(
	recording_input *fn, void *ctx, struct profile *p, struct err *err)
{
	struct recording *r = xcalloc(1, sizeof(*r));

	r->input = fn;
	r->input_ctx = ctx;
	r->profile = p;
	r->memory = MEMORY_DEFAULT;
	r->pending = PROFILE_NONE;
	vitals_unknown(&r->vitals);
	profile_set_history(p, UINT32_MAX);
	profile_pin_register(p, pin, r);
	if (!open_head(r, err))
		return r;
	recording_free(r);
	return NULL;
}

struct recording *recording_open(const char *path, struct profile *p, struct err *err)
{
	struct unzip *zip = unzip_open(path, err);
	struct recording *r = zip ? recording_open_input(unzip_read, zip, p, err) : NULL;

	if (r)
		r->zip = zip;
	else
		unzip_close(zip);
	if (!r && zip)
		err_prefix(err, "%s: ", path);
	return r;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	profile_pin_unregister(r->profile, r);
	unzip_close(r->zip);
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

/* --- what was read ------------------------------------------------------------------------------------ */

const struct vitals *recording_vitals_now(const struct recording *r)
{
	return &r->vitals;
}

/* A truncated file does not contain it: then the time from the start of the first event to the last second. */
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
