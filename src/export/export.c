/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, and writing one. */
#include "export/export.h"

#include "base/file.h"

#include <string.h>

const struct export_format export_formats[] = {
	{".svg", "flame graph, one self-contained file for any browser", export_svg},
	{".collapsed", "one line per stack, for scripts and other viewers", export_collapsed},
	{".folded", "the same as .collapsed", export_collapsed},
	{NULL, NULL, NULL},
};

const struct export_format *export_format_by_path(const char *path)
{
	size_t len = strlen(path), suffix;

	for (const struct export_format *f = export_formats; f->suffix; f++) {
		suffix = strlen(f->suffix);
		if (len > suffix && !strcasecmp(path + len - suffix, f->suffix))
			return f;
	}
	return NULL;
}

int export_write(const char *path, const struct export_format *format, const struct profile *p,
	const struct export_options *o, struct err *err)
{
	struct buf out = {0};
	int result;

	format->write(&out, p, o);
	result = file_put(path, buf_str(&out), out.len, err);
	buf_done(&out);
	return result;
}
