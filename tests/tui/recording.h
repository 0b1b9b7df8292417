/* SPDX-License-Identifier: Apache-2.0 */
/* A packed recording as a file that jhot can read. */
#ifndef JHOT_TESTS_TUI_RECORDING_H
#define JHOT_TESTS_TUI_RECORDING_H

#include "tests/tap.h"

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

/* path: as for mkstemp; the caller removes the file. Where it cannot be unpacked, the test is skipped. */
static inline void recording_unpack(const char *packed, char *path)
{
	int fd = mkstemp(path);
	gzFile in = gzopen(packed, "rb");
	char bytes[65536];
	int n = -1;

	while (in && fd >= 0 && (n = gzread(in, bytes, sizeof(bytes))) > 0)
		if (write(fd, bytes, (size_t)n) != n)
			break;
	if (in)
		gzclose(in);
	if (fd >= 0)
		close(fd);
	if (n)
		tap_skip_all("the recording cannot be unpacked");
}

#endif
