/* SPDX-License-Identifier: Apache-2.0 */
/* Imports bytes as a file, and writes the result as collapsed stacks. */
#ifndef JHOT_TESTS_IMPORT_READ_H
#define JHOT_TESTS_IMPORT_READ_H

#include "export/export.h"
#include "import/import.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What these bytes are; NULL with an error. */
static inline struct imported *read_bytes(const void *bytes, size_t len, struct err *err)
{
	int fd = memfd_create("profile", MFD_CLOEXEC);
	struct imported *i = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	*err = (struct err){0};
	if (write(fd, bytes, len) == (ssize_t)len)
		i = import_read(path, NULL, err);
	close(fd);
	return i;
}

static inline struct imported *read_text(const char *text, struct err *err)
{
	return read_bytes(text, strlen(text), err);
}

/* Of an event, with threads and how frames ran. */
static inline void read_collapsed(struct buf *out, const struct imported *i, int event)
{
	struct export_options o = {.query = profile_whole(event),
		.threads = profile_thread_count(i->profile) > 0,
		.annotate = true,
		.each = 1};

	o.query.by_weight = true;
	buf_clear(out);
	export_collapsed(out, i->profile, &o);
}

#endif
