/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, and detection. */
#include "import/import.h"

#include "import/feed.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Formats with a reliable signature precede those that almost any text matches. */
const struct import_format import_formats[] = {
	{.name = "jhot",
		.suffixes = {".jhot"},
		.what = "a jhot recording",
		.is = import_is_jhot,
		.read = import_jhot},
	{.name = "jfr",
		.suffixes = {".jfr"},
		.what = "flight recordings of the JDK, jhot, async-profiler",
		.is = import_is_jfr,
		.read = import_jfr},
	{.name = "pprof",
		.suffixes = {".pb.gz", ".pprof", ".pb"},
		.what = "pprof of jhot, Go, async-profiler, Pyroscope",
		.is = import_is_pprof,
		.read = import_pprof},
	{.name = "speedscope",
		.suffixes = {".speedscope.json"},
		.what = "speedscope files of jhot and others, sampled and evented",
		.is = import_is_speedscope,
		.read = import_speedscope},
	{.name = "perf",
		.suffixes = {".perf"},
		.what = "the output of perf script",
		.is = import_is_perf,
		.read = import_perf},
	{.name = "collapsed",
		.suffixes = {".collapsed", ".folded"},
		.what = "collapsed stacks of jhot, async-profiler, FlameGraph",
		.is = import_is_collapsed,
		.read = import_collapsed},
	{.name = NULL},
};

/* The length of a name without the suffix of a compressed file. */
static size_t import_unpacked_length(const char *name)
{
	static const char *const suffixes[] = {".gz", ".zst", ".xz", ".lz4"};
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t end = strlen(suffixes[i]);
		if (len > end && !strcasecmp(name + len - end, suffixes[i]))
			return len - end;
	}
	return len;
}

/* "x.pb.gz" has the suffix ".pb.gz", and also ".pb", compressed. */
static bool import_has_suffix(const char *path, const char *suffix)
{
	const size_t lengths[] = {strlen(path), import_unpacked_length(path)};
	size_t end = strlen(suffix);

	for (int i = 0; i < 2; i++)
		if (lengths[i] > end && !strncasecmp(path + lengths[i] - end, suffix, end))
			return true;
	return false;
}

static const struct import_format *import_find_suffix(const char *path)
{
	for (const struct import_format *f = import_formats; f->name; f++)
		for (int i = 0; i < IMPORT_SUFFIXES && f->suffixes[i]; i++)
			if (import_has_suffix(path, f->suffixes[i]))
				return f;
	return NULL;
}

/* Detects by the first bytes, else by the name. */
static const struct import_format *import_find(
	const char *path, const unsigned char *head, size_t bytes)
{
	for (const struct import_format *f = import_formats; f->name; f++)
		if (f->is && f->is(head, bytes))
			return f;
	return import_find_suffix(path);
}

bool import_accepts(const char *path)
{
	const unsigned char *head;
	struct stat st;

	if (import_find_suffix(path))
		return true;
	/* Reading from a pipe would consume its data. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	struct input *in = input_open(path, NULL);
	if (!in)
		return false;
	int bytes = input_peek(in, &head, NULL);
	input_close(in);
	return bytes > 0 && import_find(path, head, (size_t)bytes);
}

static int import_all(struct import *im, struct err *err)
{
	struct vitals *v = &im->out->vitals;
	const unsigned char *head;
	int bytes = input_peek(im->in, &head, err);

	if (bytes < 0)
		return -1;
	if (!bytes)
		return err_set(err, ERR_INPUT, "%s is empty.", input_name(im->in));
	if (bytes >= 8 && !memcmp(head, "PERFILE2", 8)) {
		err_set(err, ERR_INPUT,
			"%s is a file of perf record; jhot reads the output of perf script.",
			input_name(im->in));
		err_hint(err, "perf script -i %s | jhot view -", im->path);
		return -1;
	}
	if (bytes >= 4 && !memcmp(head, "BZh", 3)) {
		err_set(err, ERR_INPUT,
			"%s is compressed with bzip2; jhot supports gzip, zstd, xz and lz4.",
			input_name(im->in));
		err_hint(err, "bzip2 -dc %s | jhot view -", im->path);
		return -1;
	}
	im->out->format = import_find(im->path, head, (size_t)bytes);
	if (!im->out->format) {
		err_set(err, ERR_INPUT, "%s is not a profile in a format that jhot can read.",
			input_name(im->in));
		for (const struct import_format *f = import_formats; f->name; f++)
			err_hint(err, "%s: %s", f->name, f->what);
		return -1;
	}
	if (im->out->format->read(im, err))
		return -1;
	if (!v->name[0]) { /* show the name of the file instead */
		const char *name = strrchr(im->path, '/') ? strrchr(im->path, '/') + 1 : im->path;
		name = strcmp(name, IMPORT_STDIN) ? name : input_name(im->in);
		feed_copy(v->name, sizeof(v->name), name, strlen(name));
	}
	return 0;
}

struct imported *import_read(
	const char *path, const struct import_options *options, struct err *err)
{
	struct import im = {0};
	int rc = -1;
	struct imported *out = feed_begin(&im, path, options);

	im.in = input_open(path, err);
	if (im.in)
		rc = import_all(&im, err);
	input_close(im.in);
	feed_end(&im);
	if (rc) {
		import_free(out);
		return NULL;
	}
	return out;
}

void import_free(struct imported *i)
{
	if (!i)
		return;
	profile_free(i->profile);
	for (int k = 0; k < i->label_count; k++)
		free(i->labels[k]);
	free(i);
}
