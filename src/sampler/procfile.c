/* SPDX-License-Identifier: Apache-2.0 */
/* Reads small files of /proc without stdio. */
#include "sampler/procfile.h"

#include "sampler/signal/raw.h"

#include <linux/seccomp.h>

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

bool procfile_status(char out[PROCFILE_STATUS])
{
	/* The process's own file reports no sizes once its first thread has exited; before Linux 3.17 there is no other. */
	return procfile_read("/proc/thread-self/status", out, PROCFILE_STATUS) ||
	       procfile_read("/proc/self/status", out, PROCFILE_STATUS);
}

bool procfile_lines(const char *path, char *buffer, size_t bytes, procfile_line_fn *fn, void *ctx)
{
	long fd = raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0), got;
	size_t have = 0;

	if (fd < 0)
		return false;
	while ((got = raw(SYS_read, fd, buffer + have, bytes - have)) > 0) {
		char *line = buffer, *end = buffer + have + got, *newline;

		while ((newline = memchr(line, '\n', (size_t)(end - line)))) {
			*newline = '\0';
			fn(ctx, line, (size_t)(newline - line));
			line = newline + 1;
		}
		/* The incomplete line at the end moves to the front. */
		have = (size_t)(end - line);
		if (have == bytes)
			have = 0;
		memmove(buffer, line, have);
	}
	raw(SYS_close, fd);
	return true;
}

bool procfile_maps(char *buffer, size_t bytes, procfile_line_fn *fn, void *ctx)
{
	/* The process's own file is empty once its first thread has exited; before Linux 3.17 there is no other. */
	return procfile_lines("/proc/thread-self/maps", buffer, bytes, fn, ctx) ||
	       procfile_lines("/proc/self/maps", buffer, bytes, fn, ctx);
}

uint64_t procfile_digits(const char **at, unsigned base)
{
	uint64_t n = 0;

	for (;; ++*at) {
		unsigned digit = **at >= '0' && **at <= '9'   ? (unsigned)(**at - '0')
				 : **at >= 'a' && **at <= 'f' ? (unsigned)(**at - 'a' + 10)
							      : base;

		if (digit >= base)
			return n;
		n = n * base + digit;
	}
}

const char *procfile_find(const char *text, const char *name)
{
	size_t bytes = strlen(name);

	while (text && (strlen(text) < bytes || memcmp(text, name, bytes))) {
		text = memchr(text, '\n', strlen(text));
		text += text != NULL;
	}
	if (!text)
		return NULL;
	for (text += bytes; *text == ' ' || *text == '\t';)
		text++;
	return text;
}

uint64_t procfile_number(const char *text, const char *name, uint64_t otherwise)
{
	const char *at = procfile_find(text, name);

	return at ? procfile_digits(&at, 10) : otherwise;
}

uint32_t procfile_filters(const char *status)
{
	uint64_t mode = procfile_number(status, "Seccomp:", 0);

	if (mode != SECCOMP_MODE_FILTER)
		return mode == SECCOMP_MODE_STRICT ? PROCFILE_STRICT : 0;
	return (uint32_t)procfile_number(status, "Seccomp_filters:", PROCFILE_FILTERS);
}

bool procfile_linux_since(uint64_t major, uint64_t minor)
{
	char release[64]; /* "6.1.0-13-amd64" */
	const char *at = release;

	procfile_read("/proc/sys/kernel/osrelease", release, sizeof(release));
	uint64_t is = procfile_digits(&at, 10);
	at += *at == '.';
	return is > major || (is == major && procfile_digits(&at, 10) >= minor);
}
