/* SPDX-License-Identifier: Apache-2.0 */
/* The importers, and the exporters applied to their results. */
#include "export/export.h"
#include "import/feed.h"
#include "tests/fuzz/targets.h"

#include <unistd.h>

#define MEMORY ((uint64_t)256 << 20)

/* In one format, of the event that has samples. */
static void write_one(const struct imported *i, size_t number)
{
	struct export_options o = {.query = profile_whole(EVENT_CPU)};
	struct buf out = {0};
	size_t formats = 0;
	struct err err;

	while (export_formats[formats].name)
		formats++;
	for (int e = 0; e < PROFILE_EVENTS; e++) {
		struct profile_query q = profile_whole(e);

		if (profile_sum(i->profile, &q).count)
			o.query.event = e;
	}
	o.query.by_weight = true;
	o.meta.vitals = &i->vitals;
	o.meta.labels = (const char *const *)i->labels;
	o.meta.label_count = i->label_count;
	export_make(&out, &export_formats[number % formats], i->profile, &o, &err);
	buf_done(&out);
}

static size_t read_as(
	const uint8_t *data, size_t bytes, int (*reader)(struct import *im, struct err *err))
{
	const struct import_options options = {.memory = MEMORY};
	struct import im = {0};
	struct imported *out;
	size_t read = bytes;
	struct err err;
	char path[64];
	int fd = fuzz_file(data, bytes, path);

	out = feed_begin(&im, path, &options);
	im.in = input_open(path, &err);
	if (im.in) {
		reader(&im, &err);
		read = input_offset(im.in) > bytes ? (size_t)input_offset(im.in) : bytes;
	}
	input_close(im.in);
	feed_end(&im);
	write_one(out, bytes);
	import_free(out);
	close(fd);
	return read;
}

size_t fuzz_collapsed(const uint8_t *data, size_t bytes)
{
	return read_as(data, bytes, import_collapsed);
}

size_t fuzz_pprof(const uint8_t *data, size_t bytes)
{
	return read_as(data, bytes, import_pprof);
}

size_t fuzz_jfr(const uint8_t *data, size_t bytes)
{
	return read_as(data, bytes, import_jfr);
}

size_t fuzz_perf(const uint8_t *data, size_t bytes)
{
	return read_as(data, bytes, import_perf);
}

size_t fuzz_speedscope(const uint8_t *data, size_t bytes)
{
	return read_as(data, bytes, import_speedscope);
}

size_t fuzz_jhot(const uint8_t *data, size_t bytes)
{
	return read_as(data, bytes, import_jhot);
}
