/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the options of outputs: files with their formats, labels, filters, appearance. */
#include "cli/outputs/outputs.h"

#include "base/buf.h"
#include "cli/line/units.h"
#include "export/web/flame.h"

#include <stdlib.h>
#include <string.h>

#define STDOUT_PATH       "-"
#define PATTERNS          "pnhte%" /* letters after % in file names */
#define OUTPUTS_NARROWEST 300      /* px */
#define OUTPUTS_WIDEST    20000

bool outputs_is_stdout(const struct output *f)
{
	return !strcmp(f->path, STDOUT_PATH);
}

static int outputs_suffix(const char *path, struct err *err)
{
	struct buf known = {0};

	buf_adds(&known, outputs_jhot.suffixes[0]);
	for (const struct export_format *f = export_formats; f->name; f++)
		buf_printf(&known, " %s", f->suffixes[0]);
	err_set(err, ERR_USAGE, "The suffix of \"%s\" does not select a format.", path);
	err_hint(err, "use one of the suffixes %s", buf_str(&known));
	err_hint(err, "give the format: --format %s -o %s", export_formats[0].name, path);
	buf_done(&known);
	return -1;
}

/* The format of --format; NULL in *format without it. */
static int outputs_format(
	const struct export_format **format, const struct args *args, struct err *err)
{
	const char *name = args_get(args, OPT_FORMAT);
	struct buf known = {0};

	*format = name ? export_format_by_name(name) : NULL;
	if (name && !strcmp(name, outputs_jhot.name))
		*format = &outputs_jhot;
	if (!name || *format)
		return 0;
	buf_adds(&known, outputs_jhot.name);
	for (const struct export_format *f = export_formats; f->name; f++)
		buf_printf(&known, " %s", f->name);
	err_set(err, ERR_USAGE, "Unknown format \"%s\".", name);
	err_hint(err, "use one of: %s", buf_str(&known));
	buf_done(&known);
	return -1;
}

static int outputs_patterns(const char *path, struct err *err)
{
	for (const char *at = strchr(path, '%'); at; at = strchr(at + 2, '%')) {
		size_t len;

		if ((at[1] && strchr(PATTERNS, at[1])) ||
			(at[1] == '{' && outputs_variable(at + 1, &len)))
			continue;
		if (at[1] == '{')
			return err_set(err, ERR_USAGE,
				"The environment variable %.*s in \"%s\" is not set.",
				(int)strcspn(at + 2, "}"), at + 2, path);
		err_set(err, ERR_USAGE, "\"%s\" contains an unknown %% pattern.", path);
		err_hint(err, "%%p pid, %%n name, %%h host, %%t start, %%e event");
		err_hint(err, "%%{NAME}     the environment variable NAME");
		err_hint(err, "%%%%     a percent sign");
		return -1;
	}
	return 0;
}

static int outputs_files(struct outputs *out, const struct args *args, struct err *err)
{
	const struct export_format *chosen;
	bool used = false;

	if (args_count(args, OPT_OUTPUT) > OUTPUTS_MAX)
		return err_set(
			err, ERR_USAGE, "At most %d output files can be given.", OUTPUTS_MAX);
	if (outputs_format(&chosen, args, err))
		return -1;
	for (; out->count < args_count(args, OPT_OUTPUT); out->count++) {
		struct output *f = &out->files[out->count];

		f->path = args_nth(args, OPT_OUTPUT, out->count);
		if (outputs_is_stdout(f))
			f->format = NULL;
		else if (export_format_suffix(&outputs_jhot, f->path))
			f->format = &outputs_jhot;
		else
			f->format = export_format_by_path(f->path);
		used |= !f->format;
		if (!f->format)
			f->format = !chosen && outputs_is_stdout(f)
					    ? export_format_by_name("collapsed")
					    : chosen;
		if (!f->format)
			return outputs_suffix(f->path, err);
		if (outputs_patterns(f->path, err))
			return -1;
	}
	if (chosen && !used)
		return err_set(err, ERR_USAGE,
			"--format applies only to \"-o -\" and to names without a known suffix.");
	return 0;
}

static int outputs_labels(struct outputs *out, const struct args *args, struct err *err)
{
	if (args_count(args, OPT_LABEL) > OUTPUTS_LABELS)
		return err_set(
			err, ERR_USAGE, "--label can be given at most %d times.", OUTPUTS_LABELS);
	for (; out->label_count < args_count(args, OPT_LABEL); out->label_count++) {
		const char *label = args_nth(args, OPT_LABEL, out->label_count);
		const char *value = strchr(label, '=');

		if (!value || value == label)
			return err_set(err, ERR_USAGE,
				"--label takes NAME=VALUE, such as version=1.4, not \"%s\".",
				label);
		out->labels[out->label_count] = label;
	}
	return 0;
}

/* The filter of --include and --exclude, all of which must match, and of --io and --fold. */
static int outputs_filter(struct outputs *out, const struct args *args, struct err *err)
{
	static const enum option_id ids[] = {OPT_INCLUDE, OPT_EXCLUDE};

	out->holders = args_has(args, OPT_HOLDERS);
	if (args_has(args, OPT_IO) || args_has(args, OPT_FOLD)) {
		out->filter = filter_new();
		filter_set_io(out->filter, args_has(args, OPT_IO));
		filter_set_hide(out->filter, args_has(args, OPT_FOLD) ? FILTER_FOLDS : 0);
	}
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < args_count(args, ids[k]); i++) {
			const char *name = args_nth(args, ids[k], i);

			if (!out->filter)
				out->filter = filter_new();
			if (!*name || !filter_push(out->filter, ids[k] == OPT_INCLUDE, name))
				return err_set(err, ERR_USAGE,
					*name ? "--include and --exclude can be given at most %d "
						"times."
					      : "--include and --exclude take a name, at most %d "
						"times.",
					FILTER_TERMS);
		}
	}
	return 0;
}

static int outputs_appearance(struct outputs *out, const struct args *args, struct err *err)
{
	const char *narrow = args_get(args, OPT_MINWIDTH);
	struct export_options *how = &out->options;
	struct buf known = {0};

	how->title = args_get(args, OPT_TITLE);
	how->colors = args_get(args, OPT_COLORS);
	how->reverse = args_has(args, OPT_REVERSE);
	how->inverted = args_has(args, OPT_INVERTED);
	if (how->colors && !flame_scheme_by_name(how->colors)) {
		for (const struct flame_scheme *s = flame_schemes; s->name; s++)
			buf_printf(&known, "%s%s", known.len ? " " : "", s->name);
		err_set(err, ERR_USAGE, "Unknown color scheme \"%s\".", how->colors);
		err_hint(err, "use one of: %s", buf_str(&known));
		buf_done(&known);
		return -1;
	}
	if (args_has(args, OPT_WIDTH)) {
		if (units_count(
			    args_get(args, OPT_WIDTH), "--width", OUTPUTS_WIDEST, &how->width, err))
			return -1;
		if (how->width < OUTPUTS_NARROWEST)
			return err_set(err, ERR_USAGE, "--width must be %d to %d pixels, not %u.",
				OUTPUTS_NARROWEST, OUTPUTS_WIDEST, how->width);
	}
	if (narrow) {
		double percent;

		if (!units_percent(narrow, &percent) || !(percent < 100))
			return err_set(err, ERR_USAGE,
				"--minwidth takes a percentage, such as 0.1, not \"%s\".", narrow);
		how->min_share = percent / 100;
	}
	return 0;
}

int outputs_parse(struct outputs *out, const struct args *args, struct err *err)
{
	memset(out, 0, sizeof(*out));
	out->options.threads = args_has(args, OPT_THREADS);
	out->options.annotate = args_has(args, OPT_ANNOTATE);
	out->options.dot = args_has(args, OPT_DOT);
	out->total = args_has(args, OPT_TOTAL);
	out->user_only = args_has(args, OPT_USER);
	out->kernel_only = args_has(args, OPT_KERNEL);
	if (outputs_appearance(out, args, err) || outputs_files(out, args, err) ||
		outputs_labels(out, args, err))
		return -1;
	return outputs_filter(out, args, err);
}
