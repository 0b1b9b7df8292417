/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles from files. */
#include "import/feed.h"
#include "tests/fuzz/targets.h"

#include <unistd.h>

#define MEMORY ((uint64_t)256 << 20)

static void read_as(
	const uint8_t *data, size_t bytes, int (*reader)(struct import *im, struct err *err))
{
	const struct import_options options = {.memory = MEMORY};
	struct import im = {0};
	struct imported *out;
	struct err err;
	char path[64];
	int fd = fuzz_file(data, bytes, path);

	out = feed_begin(&im, path, &options);
	im.in = input_open(path, &err);
	if (im.in)
		reader(&im, &err);
	input_close(im.in);
	feed_end(&im);
	import_free(out);
	close(fd);
}

void fuzz_collapsed(const uint8_t *data, size_t bytes)
{
	read_as(data, bytes, import_collapsed);
}

void fuzz_pprof(const uint8_t *data, size_t bytes)
{
	read_as(data, bytes, import_pprof);
}

void fuzz_jfr(const uint8_t *data, size_t bytes)
{
	read_as(data, bytes, import_jfr);
}
