/* SPDX-License-Identifier: Apache-2.0 */
/* Reads small files of /proc without stdio. */
#include "sampler/procfile.h"

#include "sampler/signal/raw.h"

#include <string.h>

bool procfile_read(const char *path, char *out, size_t bytes)
{
	long fd = raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0), got = -1;

	if (fd >= 0) {
		got = raw(SYS_read, fd, out, bytes - 1);
		raw(SYS_close, fd);
	}
	out[got > 0 ? got : 0] = '\0';
	return got > 0;
}

uint64_t procfile_number(const char *text, const char *name, uint64_t otherwise)
{
	size_t bytes = strlen(name);
	uint64_t n = 0;

	while (text && (strlen(text) < bytes || memcmp(text, name, bytes))) {
		text = memchr(text, '\n', strlen(text));
		text += text != NULL;
	}
	if (!text)
		return otherwise;
	for (text += bytes; *text == ' ' || *text == '\t';)
		text++;
	for (; *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	return n;
}

uint32_t procfile_filters(const char *status)
{
	if (!procfile_number(status, "Seccomp:", 0))
		return 0;
	return (uint32_t)procfile_number(status, "Seccomp_filters:", PROCFILE_FILTERS);
}
