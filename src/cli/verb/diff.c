/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot diff`: two sides of recordings, what changed, and whether that is more than chance. */
#include "cli/diff/diff.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/line/units.h"
#include "cli/line/verb.h"
#include "cli/outputs/outputs.h"
#include "cli/reading.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS      30
#define ROWS_MOST 100000

struct diffing {
	const struct args *args;
	struct diff_question question;
	const char *const *files[DIFF_SIDES];
	struct imported **read[DIFF_SIDES]; /* one list, of all operands */
	struct outputs outputs;
	struct comparison shown;
	int mode; /* -1: as can be */
};

/* --- the command line -------------------------------------------------------------------------------- */

/* Behind "--" there are only names, so an option there is none. */
static int diffing_late(const struct args *args, int first, struct err *err)
{
	for (int i = first; args->operands_before >= 0 && i < args->operand_count; i++) {
		const char *word = args->operands[i];

		if (word[0] != '-' || !word[1] || !access(word, F_OK))
			continue;
		err_set(err, ERR_USAGE, "\"%s\" is behind \"--\", where all words are files.",
			word);
		err_hint(err, "jhot diff %s ... BEFORE... -- AFTER...", word);
		return -1;
	}
	return 0;
}

/* A B, or A... -- B... */
static int diffing_sides(struct diffing *d, struct err *err)
{
	const struct args *args = d->args;
	int first = args->operands_before < 0 ? 1 : args->operands_before;

	if (args->operands_before < 0 && args->operand_count != 2)
		err_set(err, ERR_USAGE,
			"Of %d files `jhot diff` cannot tell which are to be compared with which.",
			args->operand_count);
	else if (!first || first == args->operand_count)
		err_set(err, ERR_USAGE, "On one side of \"--\" there is no file.");
	else if (diffing_late(args, first, err))
		return -1;
	else if (first > DIFF_RUNS || args->operand_count - first > DIFF_RUNS)
		return err_set(err, ERR_USAGE, "A side has at most %d recordings.", DIFF_RUNS);
	else {
		d->files[DIFF_A] = args->operands;
		d->files[DIFF_B] = args->operands + first;
		d->question.counts[DIFF_A] = first;
		d->question.counts[DIFF_B] = args->operand_count - first;
		return 0;
	}
	err_hint(err, "jhot diff BEFORE AFTER");
	err_hint(err, "jhot diff BEFORE-1 BEFORE-2 BEFORE-3 -- AFTER-1 AFTER-2 AFTER-3");
	return -1;
}

static int diffing_mode(struct diffing *d, struct err *err)
{
	static const char *const names[DIFF_MODES] = {"rate", "share", "raw"};
	const char *text = args_get(d->args, OPT_MODE);

	d->mode = -1;
	for (int i = 0; text && i < DIFF_MODES; i++)
		if (!strcmp(text, names[i]))
			d->mode = i;
	if (text && d->mode < 0)
		return err_set(err, ERR_USAGE, "--mode is rate, share or raw, not \"%s\".", text);
	return 0;
}

static int diffing_fail_over(struct diffing *d, struct err *err)
{
	const char *text = args_get(d->args, OPT_FAIL_OVER);
	char *end;

	d->shown.fail_over = -1;
	if (!text)
		return 0;
	d->shown.fail_over = strtod(text, &end);
	end += *end == '%';
	if (!strspn(text, "0123456789.") || *end || !(d->shown.fail_over <= 1000))
		return err_set(err, ERR_USAGE,
			"--fail-over takes a part of all in per cent, as in 3%%, not \"%s\".",
			text);
	return 0;
}

static int diffing_outputs(struct diffing *d, struct err *err)
{
	struct outputs *o = &d->outputs;

	if (outputs_parse(o, d->args, err))
		return -1;
	/* How threads come to the program is the same on both sides, and would be the first rows. */
	if (!o->filter)
		o->filter = filter_new();
	filter_set_hide(o->filter, filter_hide(o->filter) | FILTER_ENTRY);
	for (int i = 0; i < o->count; i++) {
		if (!o->files[i].format->compares) {
			err_set(err, ERR_USAGE, "A comparison cannot be written as %s.",
				o->files[i].format->name);
			err_hint(err, "-o NAME.svg          a flame graph of what changed");
			err_hint(err, "-o NAME.collapsed    a line per stack with both numbers");
			err_hint(err, "-o NAME.txt          the table");
			return -1;
		}
		if (file_check(o->files[i].path, err))
			return -1;
	}
	return 0;
}

static int diffing_parse(struct diffing *d, struct err *err)
{
	const char *rows = args_get(d->args, OPT_ROWS);

	d->shown.rows = ROWS;
	if (diffing_sides(d, err) || diffing_mode(d, err) || diffing_fail_over(d, err) ||
		(rows && units_count(rows, "rows", ROWS_MOST, &d->shown.rows, err)))
		return -1;
	if (args_has(d->args, OPT_VIEW) &&
		(args_has(d->args, OPT_JSON) || args_has(d->args, OPT_OUTPUT)))
		return err_set(err, ERR_USAGE,
			"--view shows the live view, and neither prints JSON nor writes files.");
	return diffing_outputs(d, err);
}

/* --- reading ----------------------------------------------------------------------------------------- */

/* The one event that a file has samples of; -1: it has none, or several. */
static int only_event(const struct imported *file)
{
	int only = -1;

	for (int i = 0; i < PROFILE_EVENTS; i++) {
		struct profile_query q = profile_whole(i);

		if (!profile_sum(file->profile, &q).count)
			continue;
		if (only >= 0)
			return -1;
		only = i;
	}
	return only;
}

/* The name of the event in formats that do not say what was sampled, such as collapsed stacks. It matches any event. */
static bool event_untold(const struct imported *file)
{
	int only = only_event(file);

	return only >= 0 && !strcmp(profile_get_event(file->profile, only)->name, "samples");
}

static int event_told(const struct imported *file, const char *name)
{
	for (int i = 0; i < PROFILE_EVENTS; i++) {
		struct profile_query q = profile_whole(i);

		if (profile_sum(file->profile, &q).count &&
			!strcmp(profile_get_event(file->profile, i)->name, name))
			return i;
	}
	return -1;
}

/* The number that a file has for an event; -1: it has no samples of it. */
static int event_in(const struct imported *file, const char *name)
{
	int event = event_told(file, name);

	return event < 0 && event_untold(file) ? only_event(file) : event;
}

/* Do all files have this event, and does one of them say so? */
static bool all_have(const struct diffing *d, const char *name, const char **missing)
{
	bool told = false;

	*missing = d->files[DIFF_A][0];
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (int i = 0; i < d->question.counts[side]; i++) {
			told |= event_told(d->read[side][i], name) >= 0;
			if (event_in(d->read[side][i], name) >= 0)
				continue;
			*missing = d->files[side][i];
			return false;
		}
	}
	return told;
}

static void hint_events(const struct diffing *d, int side, struct err *err)
{
	struct buf names = {0};

	for (int i = 0; i < PROFILE_EVENTS; i++) {
		const struct profile *p = d->read[side][0]->profile;
		struct profile_query q = profile_whole(i);

		if (profile_sum(p, &q).count)
			buf_printf(&names, " %s", profile_get_event(p, i)->name);
	}
	err_detail(
		err, "%s has:%s", d->files[side][0], names.len ? buf_str(&names) : " no samples");
	buf_done(&names);
}

/* The event by -e, else the first one that all files have. */
static const char *diffing_event(const struct diffing *d, struct err *err)
{
	const char *name = args_get(d->args, OPT_EVENT), *missing = NULL;

	if (name) {
		if (all_have(d, name, &missing))
			return name;
		err_set(err, ERR_INPUT, "%s has no samples of \"%s\".", missing, name);
	} else {
		for (int i = 0; i < PROFILE_EVENTS; i++) {
			const struct profile *p = d->read[DIFF_A][0]->profile;

			name = profile_get_event(p, i)->name;
			if (event_in(d->read[DIFF_A][0], name) == i && all_have(d, name, &missing))
				return name;
		}
		/* Where A does not tell its event, it is the one that B has. */
		if (only_event(d->read[DIFF_B][0]) >= 0) {
			name = profile_get_event(
				d->read[DIFF_B][0]->profile, only_event(d->read[DIFF_B][0]))
				       ->name;
			if (all_have(d, name, &missing))
				return name;
		}
		err_set(err, ERR_INPUT,
			"The files have no event in common that could be compared.");
	}
	hint_events(d, DIFF_A, err);
	hint_events(d, DIFF_B, err);
	return NULL;
}

/* Where a sample's weight is nothing but its number, as in collapsed stacks, numbers are compared. */
static bool diffing_weights(const struct diffing *d, const char *event)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (int i = 0; i < d->question.counts[side]; i++) {
			const struct profile *p = d->read[side][i]->profile;
			struct profile_query q = profile_whole(event_in(d->read[side][i], event));
			struct profile_sum sum = profile_sum(p, &q);

			if (!sum.weight || sum.weight == sum.count)
				return false;
		}
	}
	return true;
}

static int diffing_run(const struct diffing *d, const struct imported *file, const char *event,
	struct diff_run *run, struct err *err)
{
	run->profile = file->profile;
	run->query = profile_whole(event_in(file, event));
	run->query.filter = d->outputs.filter;
	if (reading_span(d->args, file, &run->query.from, &run->query.to, err))
		return -1;
	run->seconds = (double)reading_duration_ns(file, run->query.from, run->query.to) /
		       (double)NS_PER_S;
	return 0;
}

/* Collapsed stacks, for one, do not tell libraries: they are compared among files of one format only. */
static bool diffing_alike(const struct diffing *d)
{
	for (int i = 1; i < d->args->operand_count; i++)
		if (d->read[DIFF_A][i]->format != d->read[DIFF_A][0]->format)
			return false;
	return true;
}

static int diffing_runs(struct diffing *d, struct err *err)
{
	const char *event = diffing_event(d, err);
	bool weights, timed = true;

	if (!event)
		return -1;
	weights = diffing_weights(d, event);
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (int i = 0; i < d->question.counts[side]; i++) {
			struct diff_run *run = &d->question.runs[side][i];

			if (diffing_run(d, d->read[side][i], event, run, err))
				return -1;
			run->query.by_weight = weights;
			run->bare = !diffing_alike(d);
			timed &= run->seconds > 0;
		}
	}
	d->question.mode = d->mode >= 0 ? (enum diff_mode)d->mode : timed ? DIFF_RATE : DIFF_SHARE;
	return 0;
}

/* --- writing ----------------------------------------------------------------------------------------- */

static int diffing_text(const struct diffing *d, const char *path, struct err *err)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int rc = -1;

	if (out) {
		comparison_print(&d->shown, out);
		if (!fclose(out))
			rc = file_put(path, text, bytes, err);
	} else {
		err_set_errno(err, ERR_FAILED, "The table could not be made");
	}
	free(text);
	return rc;
}

static int diffing_write(const struct diffing *d, struct diff *diff, struct err *err)
{
	if (d->outputs.count)
		diff_draw(diff);

	for (int i = 0; i < d->outputs.count; i++) {
		const struct output *f = &d->outputs.files[i];
		struct export_options how = d->outputs.options;

		how.query = diff->query_graph;
		how.diff = diff;
		if (!strcmp(f->format->name, "text")
				? diffing_text(d, f->path, err)
				: export_write(f->path, f->format, diff->both, &how, err))
			return -1;
		fprintf(stderr, "wrote %s\n", f->path);
	}
	return 0;
}

static int diffing_show(struct diffing *d, struct diff *diff, struct err *err)
{
	const char *name;

	if (diffing_write(d, diff, err))
		return -1;
	if (args_has(d->args, OPT_VIEW))
		return comparison_view(&d->shown, d->args, err);
	if (args_has(d->args, OPT_JSON))
		comparison_print_json(&d->shown, stdout);
	else
		comparison_print(&d->shown, stdout);
	if (!comparison_slower(&d->shown, &name))
		return 0;
	err->kind = ERR_SLOWER;
	return -1;
}

static int run_diff(const struct args *args, struct err *err)
{
	struct diffing *d = xcalloc(1, sizeof(*d));
	struct diff *diff = NULL;
	int rc = -1;

	d->args = args;
	d->read[DIFF_A] = xcalloc((size_t)args->operand_count, sizeof(*d->read[DIFF_A]));
	if (!diffing_parse(d, err) && !reading_each(args, d->read[DIFF_A], err)) {
		d->read[DIFF_B] = d->read[DIFF_A] + d->question.counts[DIFF_A];
		if (!diffing_runs(d, err))
			diff = diff_new(&d->question, err);
	}
	for (int i = 0; i < args->operand_count; i++)
		import_free(d->read[DIFF_A][i]);
	free(d->read[DIFF_A]);
	d->shown.files[DIFF_A] = d->files[DIFF_A];
	d->shown.files[DIFF_B] = d->files[DIFF_B];
	d->shown.diff = diff;
	if (diff)
		rc = diffing_show(d, diff, err);
	diff_free(diff);
	outputs_done(&d->outputs);
	free(d);
	return rc;
}

const struct verb verb_diff = {
	.bit = VERB_DIFF,
	.name = "diff",
	.synopsis = "[OPTION]... BEFORE AFTER | [OPTION]... BEFORE... -- AFTER...",
	.help = "compare profiles: what has become slower, and whether that is more than chance",
	.text = "Reads what `jhot convert` reads and prints what each method had before (A), what "
		"it has after (B) and the difference, in total and itself, in per cent of all of "
		"A. A * marks what is more than chance, so that of reports where nothing has "
		"changed at most one in 30 has one; what has more of the time gets one earlier.\n\n"
		"Several recordings a side tell how much recordings of the same program differ; "
		"five of a minute find a method that has 20 % and became a tenth slower, if those "
		"of a side differ by no more than 2 %. One a side finds only large differences. "
		"Options stand before the files. Names that the JVM or a compiler has numbered "
		"($$Lambda/0x7f.., $Proxy12, lambda$main$3) are one, with * for the number; "
		"frames by which threads begin are left out.\n\n"
		"With --fail-over 3% the exit code is 10 if anything has surely become slower by "
		"more than that part of all. -o NAME.svg draws what changed: red is more, blue is "
		"less, grey no more than chance; -o NAME.collapsed has both numbers behind each "
		"stack, -o NAME.txt is the table. --view opens the live view of B: D switches "
		"between what it has and what it has gained.",
	.min_operands = 1,
	.max_operands = 2 * DIFF_RUNS,
	.run = run_diff,
};
