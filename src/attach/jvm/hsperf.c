/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, validates and reads a JVM's hsperfdata file. */
#include "attach/jvm/hsperf.h"

#include "base/buf.h"
#include "base/clean.h"
#include "base/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_BYTES "\xca\xfe\xc0\xc0" /* in this byte order on every machine */
#define MAX_BYTES   (8u << 20)         /* the default of -XX:PerfDataMemorySize is 32 kB */
#define MAX_ENTRIES 65536
#define LITTLE      1
#define MAX_STRING  65536

struct header {
	uint8_t magic[4];
	uint8_t byte_order, major, minor, accessible;
	int32_t used, overflow;
	int64_t mod_time;
	int32_t entry_offset, entry_count;
};
_Static_assert(sizeof(struct header) == 32, "hsperfdata prologue");
_Static_assert(offsetof(struct header, entry_offset) == 24, "hsperfdata prologue");

struct entry {
	int32_t length, name_offset, vector_length;
	uint8_t type, flags, units, variability;
	int32_t data_offset;
};
_Static_assert(sizeof(struct entry) == 20, "hsperfdata entry");

struct counter {
	char *name;
	char type;       /* 'J': a long, 'B': bytes */
	uint32_t offset; /* in the file */
	uint32_t bytes;
};

struct hsperf {
	int fd;
	struct counter *counters;
	int count;
};

/* --- the file ---------------------------------------------------------------------------------------- */

/* Validates the entry at this offset; false if it is inconsistent. */
static bool parse_entry(
	const struct buf *text, size_t at, const struct entry *e, struct counter *out)
{
	size_t left = text->len - at, size = (size_t)e->length;

	if (e->length < (int32_t)sizeof(*e) || size > left || e->name_offset < 0 ||
		e->data_offset < 0)
		return false;
	size_t name = (size_t)e->name_offset;
	size_t data = (size_t)e->data_offset;
	size_t bytes = e->type == 'J' ? 8 : (size_t)(e->vector_length > 0 ? e->vector_length : 0);
	if (name >= size || data > size || bytes > size - data || bytes > MAX_STRING)
		return false;
	if (!memchr(text->data + at + name, '\0', size - name))
		return false;
	out->name = xstrdup(text->data + at + name);
	out->type = (char)e->type;
	out->offset = (uint32_t)(at + data);
	out->bytes = (uint32_t)bytes;
	return true;
}

static int parse_entries(
	struct hsperf *h, const struct buf *text, const struct header *head, struct err *err)
{
	size_t at = (size_t)head->entry_offset;

	h->counters = xcalloc((size_t)head->entry_count, sizeof(*h->counters));
	for (int i = 0; i < head->entry_count; i++) {
		struct entry e;

		if (at > text->len || text->len - at < sizeof(e))
			return err_set(err, ERR_INPUT, "hsperfdata is truncated in entry %d of %d.",
				i, head->entry_count);
		memcpy(&e, text->data + at, sizeof(e));
		if (!parse_entry(text, at, &e, &h->counters[h->count]))
			return err_set(err, ERR_INPUT, "hsperfdata is corrupt in entry %d of %d.",
				i, head->entry_count);
		h->count++;
		at += (size_t)e.length;
	}
	return 0;
}

static int check_header(const struct buf *text, struct header *head, struct err *err)
{
	if (text->len < sizeof(*head))
		return err_set(err, ERR_INPUT, "hsperfdata is only %zu bytes long.", text->len);
	memcpy(head, text->data, sizeof(*head));
	if (memcmp(head->magic, MAGIC_BYTES, 4))
		return err_set(err, ERR_INPUT, "hsperfdata has an unexpected magic number.");
	if (head->byte_order != LITTLE)
		return err_set(err, ERR_INPUT, "hsperfdata is big-endian.");
	if (head->major != 2)
		return err_set(err, ERR_INPUT, "hsperfdata has version %u.%u; jhot supports 2.0.",
			head->major, head->minor);
	if (!head->accessible)
		return err_set(err, ERR_BUSY, "The JVM has not finished starting.");
	if (head->entry_offset < (int32_t)sizeof(*head) || head->entry_count < 0 ||
		head->entry_count > MAX_ENTRIES)
		return err_set(err, ERR_INPUT, "hsperfdata has a corrupt header.");
	return 0;
}

struct hsperf *hsperf_open_fd(int fd, struct err *err)
{
	struct hsperf *h = xcalloc(1, sizeof(*h));
	struct buf text = {0};
	struct header head;
	struct stat st;
	bool parsed = false;
	int rc;

	h->fd = fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		err_set(err, ERR_INPUT, "hsperfdata is not a regular file.");
	else if ((rc = buf_read_all(&text, fd, MAX_BYTES)) != 0 && rc != -EFBIG)
		err_set(err, ERR_INPUT, "hsperfdata cannot be read: %s", strerror(-rc));
	else
		parsed = !check_header(&text, &head, err) && !parse_entries(h, &text, &head, err);
	buf_done(&text);
	if (parsed)
		return h;
	hsperf_close(h);
	return NULL;
}

void hsperf_close(struct hsperf *h)
{
	if (!h)
		return;
	for (int i = 0; i < h->count; i++)
		free(h->counters[i].name);
	free(h->counters);
	close(h->fd);
	free(h);
}

/* --- finding it -------------------------------------------------------------------------------------- */

/*
 * Opens the very file that the JVM has mapped. A file of the right name may be another JVM's: containers that share /tmp each
 * have a process 1.
 */
struct hsperf *hsperf_open(pid_t pid, pid_t nspid, const struct libjvm *jvm, struct err *err)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)nspid);
	if (!jvm->perf_path[0] || strcmp(path_name(jvm->perf_path), name) != 0) {
		err_set(err, ERR_INPUT, "The JVM publishes no hsperfdata (-XX:-UsePerfData?).");
		return NULL;
	}
	int fd = proc_open_mapped(pid, &jvm->perf);
	if (fd >= 0)
		return hsperf_open_fd(fd, err);
	err_set(err, ERR_INPUT, "hsperfdata of process %d cannot be read: %s", (int)pid,
		strerror(-fd));
	return NULL;
}

/* --- values ------------------------------------------------------------------------------------------ */

int hsperf_count(const struct hsperf *h)
{
	return h->count;
}

const char *hsperf_name(const struct hsperf *h, int index)
{
	return h->counters[index].name;
}

int hsperf_find(const struct hsperf *h, const char *name)
{
	for (int i = 0; i < h->count; i++)
		if (!strcmp(h->counters[i].name, name))
			return i;
	return -1;
}

int hsperf_findf(const struct hsperf *h, const char *format, ...)
{
	char name[64];
	va_list ap;

	va_start(ap, format);
	vsnprintf(name, sizeof(name), format, ap);
	va_end(ap);
	return hsperf_find(h, name);
}

int64_t hsperf_long(const struct hsperf *h, int index)
{
	int64_t v;

	if (index < 0 || index >= h->count || h->counters[index].type != 'J' ||
		pread(h->fd, &v, sizeof(v), (off_t)h->counters[index].offset) != sizeof(v))
		return -1;
	return v;
}

bool hsperf_string(const struct hsperf *h, int index, char *out, size_t bytes)
{
	out[0] = '\0';
	if (index < 0 || index >= h->count || h->counters[index].type != 'B')
		return false;
	const struct counter *c = &h->counters[index];
	ssize_t n = pread(h->fd, out, c->bytes < bytes ? c->bytes : bytes - 1, (off_t)c->offset);
	if (n < 0)
		return false;
	out[n] = '\0'; /* in bounds: n < bytes */
	clean_own(out);
	return true;
}
