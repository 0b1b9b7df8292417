/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, and writing one. */
#include "export/export.h"

#include "base/file.h"

#include <string.h>
#include <strings.h>

const struct export_format export_formats[] = {
	{.name = "svg",
		.suffixes = {".svg"},
		.what = "flame graph, one self-contained file for any browser",
		.write = export_svg,
		.compares = true},
	{.name = "html",
		.suffixes = {".html", ".htm"},
		.what = "flame graph, call tree, methods and a heat map over time, all events in "
			"one file",
		.write = export_html,
		.together = true},
	{.name = "collapsed",
		.suffixes = {".collapsed", ".folded"},
		.what = "one line per stack, for scripts and other viewers",
		.write = export_collapsed,
		.compares = true},
	{.name = "jfr",
		.suffixes = {".jfr"},
		.what = "flight recording for JMC, jfr, IDEs: all events in one file",
		.write = export_jfr,
		.together = true,
		.binary = true},
	{.name = "pprof",
		.suffixes = {".pb.gz", ".pprof"},
		.what = "for go tool pprof, Pyroscope, Parca",
		.write = export_pprof,
		.binary = true},
	{.name = "otlp",
		.suffixes = {".otlp"},
		.what = "OTLP profiles (experimental), all events in one file",
		.write = export_otlp,
		.together = true,
		.binary = true},
	{.name = "speedscope",
		.suffixes = {".speedscope.json"},
		.what = "for speedscope.app, all events in one file",
		.write = export_speedscope,
		.together = true},
	{.name = "text",
		.suffixes = {".txt"},
		.what = "hot methods, who calls them, the heaviest stacks",
		.write = export_plain,
		.compares = true},
	{.name = NULL},
};

const struct export_format *export_format_by_name(const char *name)
{
	const struct export_format *f = export_formats;

	while (f->name && strcmp(f->name, name) != 0)
		f++;
	return f->name ? f : NULL;
}

size_t export_format_suffix(const struct export_format *format, const char *path)
{
	size_t len = strlen(path);

	for (int i = 0; i < EXPORT_SUFFIXES && format->suffixes[i]; i++) {
		size_t end = strlen(format->suffixes[i]);
		if (len > end && !strcasecmp(path + len - end, format->suffixes[i]))
			return end;
	}
	return 0;
}

const struct export_format *export_format_by_path(const char *path)
{
	for (const struct export_format *f = export_formats; f->name; f++)
		if (export_format_suffix(f, path))
			return f;
	return NULL;
}

struct export_event export_event_of(const struct export_options *o, int event)
{
	for (int i = 0; i < o->meta.event_count; i++)
		if (o->meta.events[i].event == event)
			return o->meta.events[i];
	return (struct export_event){.event = event};
}

int export_make(struct buf *out, const struct export_format *format, const struct profile *p,
	const struct export_options *o, struct err *err)
{
	if (format->write(out, p, o))
		return 0;
	err_set(err, ERR_OUTPUT, "A %s file of this profile would exceed %zu MiB.", format->name,
		EXPORT_BYTES_MAX >> 20);
	err_hint(err, "export a part of it: --from, --to, --include, --exclude");
	err_hint(err, "use .jhot or .html, which store each stack once");
	return -1;
}

int export_write(const char *path, const struct export_format *format, const struct profile *p,
	const struct export_options *o, struct err *err)
{
	struct buf out = {0};
	int result = export_make(&out, format, p, o, err);

	if (!result)
		result = file_write_whole(path, buf_str(&out), out.len, err);
	buf_done(&out);
	return result;
}
