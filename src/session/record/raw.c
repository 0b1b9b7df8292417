/* SPDX-License-Identifier: Apache-2.0 */
/* Writing and reading recorded sessions. */
#include "session/record/raw.h"

#include "base/buf.h"
#include "base/clean.h"
#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RAW_BUFFER     (64u << 10)
#define RAW_RECORD_MAX (1u << 17) /* FILE_ records may be larger than the ring's */

struct raw_writer {
	struct file file;
	struct buf pending;
	char *path;
	bool begun; /* an event has been switched on: from here on it is worth an older file */
	int error;  /* errno of the first failure */
	struct buf scratch;
};

static void raw_send(struct raw_writer *w)
{
	if (w->file.path && !w->error && w->pending.len &&
		file_write(w->file.fd, w->pending.data, w->pending.len))
		w->error = errno ? errno : EIO;
	buf_clear(&w->pending);
}

void raw_record(struct raw_writer *w, const void *record, size_t size)
{
	if (!w->file.path || w->error)
		return;
	buf_add(&w->pending, record, size);
	if (w->pending.len >= RAW_BUFFER)
		raw_send(w);
}

/* A record of a fixed part and texts behind it, padded to 8. */
static void raw_put(struct raw_writer *w, uint16_t type, void *fixed, size_t fixed_bytes)
{
	struct wire_record *rec = fixed;
	static const char zeros[8];
	size_t size = fixed_bytes + w->scratch.len, padded = (size + 7) & ~(size_t)7;

	*rec = (struct wire_record){.size = (uint32_t)padded, .type = type};
	raw_record(w, fixed, fixed_bytes);
	raw_record(w, buf_str(&w->scratch), w->scratch.len);
	raw_record(w, zeros, padded - size);
	buf_clear(&w->scratch);
}

static void raw_target(struct raw_writer *w, const struct hotspot *jvm)
{
	struct wire_file_target rec = {.pid = jvm->pid};
	const char *const texts[] = {jvm->name, jvm->jdk, jvm->user};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		buf_add(&w->scratch, texts[i], strlen(texts[i]) + 1);
	rec.text_bytes = (uint32_t)w->scratch.len;
	raw_put(w, WIRE_REC_FILE_TARGET, &rec, sizeof(rec));
}

struct raw_writer *raw_create(const char *path, struct err *err)
{
	struct raw_writer *w = xcalloc(1, sizeof(*w));

	if (file_create(&w->file, path, err)) {
		free(w);
		return NULL;
	}
	w->path = xstrdup(path);
	return w;
}

void raw_begin(struct raw_writer *w, const struct wire_header *header, const struct hotspot *jvm)
{
	raw_record(w, header, sizeof(*header));
	raw_target(w, jvm);
}

void raw_symbol(
	struct raw_writer *w, uint64_t frame, char kind, const char *name, const char *module)
{
	struct wire_file_symbol rec = {.frame = frame, .kind = (uint32_t)(unsigned char)kind};
	size_t name_bytes = strlen(name), module_bytes = strlen(module);

	rec.name_bytes = (uint16_t)(name_bytes < UINT16_MAX ? name_bytes : UINT16_MAX);
	rec.module_bytes = (uint16_t)(module_bytes < UINT16_MAX ? module_bytes : UINT16_MAX);
	buf_add(&w->scratch, name, rec.name_bytes);
	buf_add(&w->scratch, module, rec.module_bytes);
	raw_put(w, WIRE_REC_FILE_SYMBOL, &rec, sizeof(rec));
}

void raw_status(struct raw_writer *w, const struct wire_status *status, const struct vitals *vitals)
{
	struct wire_file_status rec = {.time_ns = vitals->time_ns};
	struct wire_file_vitals v = {.time_ns = vitals->time_ns, .vitals_bytes = sizeof(*vitals)};

	memcpy(&rec.status, status, sizeof(rec.status));
	raw_put(w, WIRE_REC_FILE_STATUS, &rec, sizeof(rec));
	buf_add(&w->scratch, vitals, sizeof(*vitals));
	raw_put(w, WIRE_REC_FILE_VITALS, &v, sizeof(v));
	raw_send(w); /* a killed jhot loses a second, not more */
}

void raw_event(struct raw_writer *w, uint64_t time_ns, int event, bool on,
	const struct profile_event *what)
{
	struct wire_file_event rec = {.time_ns = time_ns, .event = (uint32_t)event, .on = on};

	if (what) {
		buf_add(&w->scratch, what->name, strlen(what->name) + 1);
		buf_add(&w->scratch, what->unit, strlen(what->unit) + 1);
	}
	raw_put(w, WIRE_REC_FILE_EVENT, &rec, sizeof(rec));
	if (!on || w->begun)
		return;
	w->begun = true;
	raw_send(w);
	file_appear(&w->file);
}

int raw_failed(const struct raw_writer *w, struct err *err)
{
	if (!w->error)
		return 0;
	errno = w->error;
	err_set_errno(err, ERR_OUTPUT, "The recording %s could not be written on", w->path);
	if (w->begun)
		err_hint(err, "it can be read up to there: jhot report %s",
			w->file.part ? w->file.part : w->path);
	return -1;
}

int raw_finish(struct raw_writer *w, struct err *err)
{
	raw_send(w);
	if (raw_failed(w, err) || !w->begun || !w->file.path)
		return w->error ? -1 : 0;
	return file_commit(&w->file, err);
}

void raw_close(struct raw_writer *w)
{
	if (!w)
		return;
	raw_finish(w, NULL);
	if (w->begun)
		file_leave(&w->file);
	else
		file_abandon(&w->file);
	free(w->path);
	buf_done(&w->pending);
	buf_done(&w->scratch);
	free(w);
}

/* --- reading ----------------------------------------------------------------------------------------- */

struct raw_reader {
	FILE *file;
	char *path;
	uint64_t offset, next;
	_Alignas(8) unsigned char record[RAW_RECORD_MAX];
};

static int raw_header(struct raw_reader *r, struct wire_header *h, struct err *err)
{
	if (fread(h, 1, sizeof(*h), r->file) != sizeof(*h) || h->magic != WIRE_MAGIC)
		return err_set(
			err, ERR_INPUT, "%s is not a recording of jhot's (record --raw).", r->path);
	/* Where the areas lay in the agent's memory says nothing about the records. */
	if (h->major != WIRE_MAJOR || h->header_bytes < sizeof(*h))
		return err_set(err, ERR_INPUT,
			"The recording %s cannot be read: its format is %u.%u, this jhot reads "
			"%u.%u.",
			r->path, h->major, h->minor, WIRE_MAJOR, WIRE_MINOR);
	r->next = sizeof(*h);
	return 0;
}

/* "name\0jdk\0user\0" */
static void raw_read_target(const struct wire_file_target *rec, uint32_t size, struct hotspot *out)
{
	struct {
		char *text;
		size_t bytes;
	} const parts[] = {{out->name, sizeof(out->name)}, {out->jdk, sizeof(out->jdk)},
		{out->user, sizeof(out->user)}};
	const char *at = rec->text;
	size_t left = size - sizeof(*rec) < rec->text_bytes ? size - sizeof(*rec) : rec->text_bytes;

	out->pid = out->nspid = rec->pid;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && left; i++) {
		size_t len = strnlen(at, left);

		clean_text(parts[i].text, parts[i].bytes, at, len);
		at += len + (len < left);
		left -= len + (len < left);
	}
}

struct raw_reader *raw_open(
	const char *path, struct wire_header *header, struct hotspot *jvm, struct err *err)
{
	struct raw_reader *r;
	const struct wire_record *rec;
	uint32_t size;
	FILE *f = fopen(path, "re");

	memset(jvm, 0, sizeof(*jvm));
	if (!f) {
		err_set_errno(err, ERR_INPUT, "The recording %s cannot be opened", path);
		return NULL;
	}
	r = xcalloc(1, sizeof(*r));
	r->file = f;
	r->path = xstrdup(path);
	if (raw_header(r, header, err) || raw_next(r, &rec, &size, err) < 0) {
		raw_close_reader(r);
		return NULL;
	}
	if (r->offset != r->next && rec->type == WIRE_REC_FILE_TARGET &&
		size >= sizeof(struct wire_file_target)) {
		raw_read_target((const struct wire_file_target *)rec, size, jvm);
		return r;
	}
	err_set(err, ERR_INPUT, "The recording %s does not say of which JVM it is; it is damaged.",
		path);
	raw_close_reader(r);
	return NULL;
}

static int raw_cut(const struct raw_reader *r, struct err *err)
{
	if (ferror(r->file))
		return err_set(err, ERR_INPUT, "The recording %s cannot be read at byte %llu.",
			r->path, (unsigned long long)r->offset);
	return err_set(err, ERR_INPUT,
		"The recording %s ends in the middle of a record, at byte %llu.", r->path,
		(unsigned long long)r->offset);
}

int raw_next(struct raw_reader *r, const struct wire_record **out, uint32_t *size, struct err *err)
{
	struct wire_record *rec = (struct wire_record *)r->record;
	size_t n;

	*out = rec;
	*size = 0;
	r->offset = r->next;
	n = fread(rec, 1, sizeof(*rec), r->file);
	if (!n && feof(r->file))
		return 0;
	if (n != sizeof(*rec))
		return raw_cut(r, err);
	if (rec->size < sizeof(*rec) || rec->size % 8 || rec->size > RAW_RECORD_MAX)
		return err_set(err, ERR_INPUT,
			"The recording %s is damaged at byte %llu: a record of %u bytes.", r->path,
			(unsigned long long)r->offset, rec->size);
	n = rec->size - sizeof(*rec);
	if (fread(rec + 1, 1, n, r->file) != n)
		return raw_cut(r, err);
	*size = rec->size;
	r->next += rec->size;
	return 1;
}

uint64_t raw_offset(const struct raw_reader *r)
{
	return r->offset;
}

void raw_close_reader(struct raw_reader *r)
{
	if (!r)
		return;
	fclose(r->file);
	free(r->path);
	free(r);
}
