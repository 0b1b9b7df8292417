/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot diff`: compares two sets of recordings: what changed, and which changes are statistically significant. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/comparison.h"
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
	int mode; /* enum diff_mode; -1: DIFF_RATE if possible, else DIFF_SHARE */
};

/* --- the command line -------------------------------------------------------------------------------- */

/* Detects options after "--", where they would be taken for files. */
static int diffing_late(const struct args *args, int first, struct err *err)
{
	for (int i = first; args->operands_before >= 0 && i < args->operand_count; i++) {
		const char *word = args->operands[i];

		if (word[0] != '-' || !word[1] || !access(word, F_OK))
			continue;
		err_set(err, ERR_USAGE,
			"\"%s\" comes after \"--\", where every argument is a file.", word);
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
			"`jhot diff` needs two files, or \"--\" between the two sides, not %d "
			"file%s.",
			args->operand_count, plural((uint64_t)args->operand_count));
	else if (!first || first == args->operand_count)
		err_set(err, ERR_USAGE, "There is no file on one side of \"--\".");
	else if (diffing_late(args, first, err))
		return -1;
	else if (first > DIFF_RUNS || args->operand_count - first > DIFF_RUNS)
		return err_set(err, ERR_USAGE, "A side can have at most %d recordings.", DIFF_RUNS);
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
	const char *text = args_get(d->args, OPT_MODE);

	d->mode = -1;
	for (int i = 0; text && i < DIFF_MODES; i++)
		if (!strcmp(text, diff_modes[i].name))
			d->mode = i;
	if (text && d->mode < 0)
		return err_set(
			err, ERR_USAGE, "--mode must be rate, share or raw, not \"%s\".", text);
	return 0;
}

static int diffing_fail_over(struct diffing *d, struct err *err)
{
	const char *text = args_get(d->args, OPT_FAIL_OVER);

	d->shown.fail_over = -1;
	if (!text)
		return 0;
	if (!units_percent(text, &d->shown.fail_over) || !(d->shown.fail_over <= 1000))
		return err_set(err, ERR_USAGE,
			"--fail-over takes a percentage of the total, such as 3%%, not \"%s\".",
			text);
	return 0;
}

static int diffing_outputs(struct diffing *d, struct err *err)
{
	struct outputs *o = &d->outputs;

	if (outputs_parse(o, d->args, err))
		return -1;
	/* Thread entry frames are the same on both sides, and would fill the first rows. */
	if (!o->filter)
		o->filter = filter_new();
	filter_set_hide(o->filter, filter_hide(o->filter) | FILTER_ENTRY);
	for (int i = 0; i < o->count; i++) {
		if (!o->files[i].format->compares) {
			err_set(err, ERR_USAGE, "A comparison cannot be written in the format %s.",
				o->files[i].format->name);
			err_hint(err, "-o NAME.svg           a flame graph of the differences");
			err_hint(err, "-o NAME.collapsed     one line per stack with both values");
			err_hint(err, "-o NAME.txt           the table");
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
		(rows && units_count(rows, "--rows", ROWS_MOST, &d->shown.rows, err)))
		return -1;
	if (args_has(d->args, OPT_VIEW) &&
		(args_has(d->args, OPT_JSON) || args_has(d->args, OPT_OUTPUT)))
		return err_set(
			err, ERR_USAGE, "--view cannot be used together with --json or --output.");
	return diffing_outputs(d, err);
}

/* --- reading ----------------------------------------------------------------------------------------- */

/* The one event that a file has samples of; -1: it has none, or several. */
static int only_event(const struct imported *file)
{
	int only = -1;

	for (int i = 0; i < PROFILE_EVENTS; i++) {
		if (!events_sampled(file->profile, i))
			continue;
		if (only >= 0)
			return -1;
		only = i;
	}
	return only;
}

static int event_named(const struct imported *file, const char *name)
{
	for (int i = 0; i < PROFILE_EVENTS; i++)
		if (!strcmp(profile_get_event(file->profile, i)->name, name) &&
			events_sampled(file->profile, i))
			return i;
	return -1;
}

/*
 * The id of an event in a file; -1: the file has no samples of it. Formats that do not record what
 * was sampled, such as collapsed stacks, call their event "samples", which matches any other.
 */
static int event_in(const struct imported *file, const char *name)
{
	int event = event_named(file, name);

	if (event >= 0)
		return event;
	event = only_event(file);
	return event >= 0 && !strcmp(profile_get_event(file->profile, event)->name, "samples")
		       ? event
		       : -1;
}

/* True when all files have this event, and at least one of them by its name. *missing: the first without it. */
static bool all_have(const struct diffing *d, const char *name, const char **missing)
{
	bool named = false;

	*missing = d->files[DIFF_A][0];
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (int i = 0; i < d->question.counts[side]; i++) {
			named |= event_named(d->read[side][i], name) >= 0;
			if (event_in(d->read[side][i], name) >= 0)
				continue;
			*missing = d->files[side][i];
			return false;
		}
	}
	return named;
}

static void hint_events(const struct diffing *d, int side, struct err *err)
{
	struct buf names = {0};

	for (int i = 0; i < PROFILE_EVENTS; i++) {
		const struct profile *p = d->read[side][0]->profile;

		if (events_sampled(p, i))
			buf_printf(&names, " %s", profile_get_event(p, i)->name);
	}
	err_detail(
		err, "%s has:%s", d->files[side][0], names.len ? buf_str(&names) : " no samples");
	buf_done(&names);
}

/* The event given by -e, else the first that all files have. */
static const char *diffing_event(const struct diffing *d, struct err *err)
{
	const char *name = args_get(d->args, OPT_EVENT), *missing = NULL;

	if (name) {
		if (all_have(d, name, &missing))
			return name;
		err_set(err, ERR_INPUT, "%s has no samples of the event \"%s\".", missing, name);
	} else {
		for (int i = 0; i < PROFILE_EVENTS; i++) {
			const struct profile *p = d->read[DIFF_A][0]->profile;

			name = profile_get_event(p, i)->name;
			if (event_in(d->read[DIFF_A][0], name) == i && all_have(d, name, &missing))
				return name;
		}
		/* If A does not name its event, it is that of B. */
		if (only_event(d->read[DIFF_B][0]) >= 0) {
			name = profile_get_event(
				d->read[DIFF_B][0]->profile, only_event(d->read[DIFF_B][0]))
				       ->name;
			if (all_have(d, name, &missing))
				return name;
		}
		err_set(err, ERR_INPUT,
			"The files cannot be compared: they have no event in common.");
	}
	hint_events(d, DIFF_A, err);
	hint_events(d, DIFF_B, err);
	return NULL;
}

/* True when weights are compared; false if weights are only counts, as in collapsed stacks. */
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

static int diffing_runs(struct diffing *d, struct err *err)
{
	const char *event = diffing_event(d, err);
	bool mixed = false, timed = true;

	if (!event)
		return -1;
	bool weights = diffing_weights(d, event);
	for (int i = 1; i < d->args->operand_count; i++)
		mixed |= d->read[DIFF_A][i]->format != d->read[DIFF_A][0]->format;
	for (int side = 0; side < DIFF_SIDES; side++) {
		for (int i = 0; i < d->question.counts[side]; i++) {
			struct diff_run *run = &d->question.runs[side][i];
			const struct imported *file = d->read[side][i];

			run->profile = file->profile;
			run->bare = mixed; /* not every format records libraries */
			run->query = profile_whole(event_in(file, event));
			run->query.filter = d->outputs.filter;
			run->query.by_weight = weights;
			if (reading_span(d->args, file, &run->query.from, &run->query.to, err))
				return -1;
			run->seconds =
				(double)reading_duration_ns(file, run->query.from, run->query.to) /
				(double)NS_PER_S;
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
			rc = file_write_whole(path, text, bytes, err);
	} else {
		err_set_errno(err, ERR_FAILED, "Cannot format the table");
	}
	free(text);
	return rc;
}

static int diffing_show(struct diffing *d, struct diff *diff, struct err *err)
{
	const char *name;

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
	.help = "compare profiles: what became slower, and whether that is significant",
	.text = "Reads the formats that `jhot convert` reads, and prints for each method its time "
		"before (A), after (B) and the difference, total and self, in percent of the total "
		"of A. * marks statistically significant differences. If nothing changed, at most "
		"1 report in 30 shows one. Differences of methods with a larger share are detected "
		"first.\n\n"
		"Several recordings per side measure how much recordings of the same program vary. "
		"Five recordings of a minute per side detect that a method with a share of 20 % "
		"became a tenth slower, if recordings of one side vary by at most 2 %. One "
		"recording per side detects only large differences. Options come before the files. "
		"Names that the JVM or a compiler numbers ($$Lambda/0x7f.., $Proxy12, "
		"lambda$main$3) are merged, with * for the number; thread entry frames are "
		"omitted.\n\n"
		"With --fail-over 3%, the exit status is 10 if anything is significantly slower, "
		"by more than 3 % of the total. -o NAME.svg draws the differences: red is more, "
		"blue is less, grey is not significant. -o NAME.collapsed has both values after "
		"each stack, -o NAME.txt is the table. --view opens the live view of B, where D "
		"switches between values and changes.",
	.min_operands = 1,
	.max_operands = 2 * DIFF_RUNS,
	.run = run_diff,
};
