/* SPDX-License-Identifier: Apache-2.0 */
/* Reads maps in chunks; an incomplete line at the end of the buffer is moved to its front. */
#include "sampler/maps.h"

#include "sampler/signal/raw.h"

#include <string.h>

bool maps_each(char *buffer, size_t bytes, maps_line_fn *fn, void *ctx)
{
	/* The process's own file is empty once its first thread has exited; kernels before 3.17 have no other. */
	long fd = raw(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0), got;
	size_t have = 0;

	if (fd < 0)
		fd = raw(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	while ((got = raw(SYS_read, fd, buffer + have, bytes - have)) > 0) {
		char *line = buffer, *end = buffer + have + got, *newline;

		while ((newline = memchr(line, '\n', (size_t)(end - line)))) {
			fn(ctx, line, (size_t)(newline - line));
			line = newline + 1;
		}
		have = (size_t)(end - line);
		if (have == bytes)
			have = 0;
		memmove(buffer, line, have);
	}
	raw(SYS_close, fd);
	return true;
}
