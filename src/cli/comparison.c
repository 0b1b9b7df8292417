/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as text, as JSON, and in the live view. */
#include "cli/comparison.h"

#include "base/clock.h"
#include "base/json.h"
#include "cli/batch.h"
#include "cli/line/units.h"
#include "cli/live/live.h"
#include "cli/screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILES_SHOWN 4
#define FACTS_MOST  (2 * DIFF_RUNS)

/* Percent of side A's total; in mode DIFF_SHARE, where values are shares already, of their own side's total. */
static double percent_of_total(const struct diff *d, double value)
{
	if (d->mode == DIFF_SHARE)
		return 100 * value;
	return d->all.of[DIFF_A] > 0 ? 100 * value / d->all.of[DIFF_A] : 0;
}

/* "new" or "gone" if only one side has the method, else "". */
static const char *row_word(const struct diff_row *row)
{
	return row->total.of[DIFF_A] <= 0 ? "new" : row->total.of[DIFF_B] <= 0 ? "gone" : "";
}

static const char *row_name(const struct diff *d, const struct diff_row *row)
{
	return profile_get_method(d->both, row->method)->full;
}

const struct diff_value *comparison_slower(const struct comparison *c, const char **name)
{
	const struct diff_value *worst = NULL, *values[2];
	double most = c->fail_over;

	if (c->fail_over < 0)
		return NULL;
	if (c->diff->all.sure && percent_of_total(c->diff, diff_delta(&c->diff->all)) > most) {
		worst = &c->diff->all;
		most = percent_of_total(c->diff, diff_delta(worst));
		*name = "the total";
	}
	for (uint32_t i = 0; i < c->diff->count; i++) {
		values[0] = &c->diff->rows[i].self;
		values[1] = &c->diff->rows[i].total;
		for (int k = 0; k < 2; k++) {
			double percent = percent_of_total(c->diff, diff_delta(values[k]));

			if (!values[k]->sure || percent <= most)
				continue;
			most = percent;
			worst = values[k];
			*name = row_name(c->diff, &c->diff->rows[i]);
		}
	}
	return worst;
}

static void print_amount(const struct diff *d, double value, FILE *out)
{
	const struct profile_event *event = profile_get_event(d->both, d->query_all.event);
	char text[32];

	if (!d->by_weight)
		fprintf(out, "%.1f samples", value);
	else
		fputs(units_value((uint64_t)(value + 0.5), event->unit, text, sizeof(text)), out);
	fputs(d->mode == DIFF_RATE ? " per second" : "", out);
}

static void print_all(const struct diff *d, FILE *out)
{
	const struct diff_value *all = &d->all;

	fprintf(out, "%s, compared %s", profile_get_event(d->both, d->query_all.event)->name,
		diff_modes[d->mode].words);
	if (d->mode == DIFF_SHARE) {
		fputs("\n", out);
		return;
	}
	fputs(": ", out);
	print_amount(d, all->of[DIFF_A], out);
	fputs(" -> ", out);
	print_amount(d, all->of[DIFF_B], out);
	fprintf(out, ", %+.1f %% +-%.1f%s\n", percent_of_total(d, diff_delta(all)),
		percent_of_total(d, all->error), all->sure ? " *" : "");
}

/* --- methods ----------------------------------------------------------------------------------------- */

static void print_value(const struct diff *d, const struct diff_value *v, FILE *out)
{
	fprintf(out, "%6.1f %6.1f %+6.1f%c %5.1f", percent_of_total(d, v->of[DIFF_A]),
		percent_of_total(d, v->of[DIFF_B]), percent_of_total(d, diff_delta(v)),
		v->sure ? '*' : ' ', percent_of_total(d, v->error));
}

/* True when a change is large enough to show in the digits that are printed. */
static bool row_shows(const struct diff *d, const struct diff_row *row)
{
	return fabs(percent_of_total(d, diff_delta(&row->total))) >= 0.05 ||
	       fabs(percent_of_total(d, diff_delta(&row->self))) >= 0.05;
}

static uint32_t count_sure(const struct diff *d)
{
	uint32_t n = 0;

	while (n < d->count && (d->rows[n].self.sure || d->rows[n].total.sure))
		n++;
	return n;
}

static void print_end(const struct comparison *c, FILE *out)
{
	const struct diff *d = c->diff;
	uint32_t sure = count_sure(d);
	const char *name;

	if (sure || d->all.sure)
		fprintf(out,
			"\n*: statistically significant (if nothing changed, at most 1 report in "
			"30 shows one). %u of %u methods differ significantly.\n",
			sure, d->count);
	else
		fprintf(out, "\nNo statistically significant difference (%u methods).\n", d->count);
	if (d->runs[DIFF_A] == 1 && d->runs[DIFF_B] == 1)
		fprintf(out,
			"One recording per side does not show how much recordings of the same "
			"program vary; %.0f %% is assumed.\n"
			"Several recordings measure it: jhot diff A1 A2 A3 -- B1 B2 B3\n",
			100 * DIFF_NOISE);
	else
		fprintf(out, "Recordings of the same side vary by %.1f %% in addition to chance.\n",
			100 * d->noise);
	const struct diff_value *slower = comparison_slower(c, &name);
	if (slower)
		fprintf(out, "Slower by more than %g %%: %s, by %.1f %% of the total.\n",
			c->fail_over, name, percent_of_total(d, diff_delta(slower)));
}

void comparison_print(const struct comparison *c, FILE *out)
{
	const struct diff *d = c->diff;
	uint32_t sure = count_sure(d), rows = sure > c->rows ? sure : c->rows;

	for (int side = 0; side < DIFF_SIDES; side++) {
		uint64_t samples = d->all.samples[side];

		fprintf(out, "%c ", 'A' + side);
		for (int i = 0; i < d->runs[side] && i < FILES_SHOWN; i++)
			fprintf(out, " %s", c->files[side][i]);
		if (d->runs[side] > FILES_SHOWN)
			fprintf(out, " and %d more", d->runs[side] - FILES_SHOWN);
		if (d->runs[side] > 1)
			fprintf(out, ": %d recordings", d->runs[side]);
		if (d->seconds[side] > 0)
			fprintf(out, "%s %.1f s", d->runs[side] > 1 ? "," : ":", d->seconds[side]);
		fprintf(out, "%s %llu sample%s\n",
			d->runs[side] > 1 || d->seconds[side] > 0 ? "," : ":",
			(unsigned long long)samples, plural(samples));
	}
	print_all(d, out);
	fprintf(out,
		"\nTOTAL%%                        SELF%%\n%6s %6s %6s  %5s  %6s %6s %6s  %5s       "
		"%s\n",
		"A", "B", "DELTA", "+-", "A", "B", "DELTA", "+-", "METHOD");
	for (uint32_t i = 0; i < d->count && i < rows && (i < sure || row_shows(d, &d->rows[i]));
		i++) {
		const struct diff_row *row = &d->rows[i];

		print_value(d, &row->total, out);
		fputs("  ", out);
		print_value(d, &row->self, out);
		fprintf(out, "  %-4s %s\n", row_word(row), row_name(d, row));
	}
	print_end(c, out);
}

/* --- JSON: doc/diff.schema.json defines each value --------------------------------------------------- */

static void json_value(
	struct json *j, const char *key, const struct diff *d, const struct diff_value *v)
{
	const struct {
		const char *key;
		double number;
	} numbers[] = {
		{"a", v->of[DIFF_A]},
		{"b", v->of[DIFF_B]},
		{"delta", diff_delta(v)},
		{"error", v->error},
		{"delta_pct", percent_of_total(d, diff_delta(v))},
		{"error_pct", percent_of_total(d, v->error)},
		{"p", v->p},
	};

	json_begin(j, key, '{');
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_num(j, numbers[i].key, numbers[i].number);
	json_bool(j, "sure", v->sure);
	json_int(j, "a_samples", (int64_t)v->samples[DIFF_A]);
	json_int(j, "b_samples", (int64_t)v->samples[DIFF_B]);
	json_end(j, '}');
}

static void json_side(struct json *j, const char *key, const struct comparison *c, int side)
{
	const struct diff *d = c->diff;

	json_begin(j, key, '{');
	json_begin(j, "files", '[');
	for (int i = 0; i < d->runs[side]; i++)
		json_str(j, NULL, c->files[side][i]);
	json_end(j, ']');
	json_num(j, "seconds", d->seconds[side] > 0 ? d->seconds[side] : NAN);
	json_end(j, '}');
}

void comparison_print_json(const struct comparison *c, FILE *out)
{
	const struct diff *d = c->diff;
	const struct profile_event *event = profile_get_event(d->both, d->query_all.event);
	struct buf text = {0};
	struct json j = {.out = &text};
	const char *name;

	json_begin(&j, NULL, '{');
	json_str(&j, "event", event->name);
	json_str(&j, "unit", d->by_weight ? event->unit : "samples");
	json_str(&j, "mode", diff_modes[d->mode].name);
	json_num(&j, "noise_pct", 100 * d->noise);
	json_side(&j, "a", c, DIFF_A);
	json_side(&j, "b", c, DIFF_B);
	json_bool(&j, "slower", comparison_slower(c, &name) != NULL);
	json_value(&j, "all", d, &d->all);
	json_begin(&j, "methods", '[');
	for (uint32_t i = 0; i < d->count; i++) {
		const struct diff_row *row = &d->rows[i];

		json_begin(&j, NULL, '{');
		json_str(&j, "name", row_name(d, row));
		json_str(&j, "only", *row_word(row) ? row_word(row) : NULL);
		json_value(&j, "total", d, &row->total);
		json_value(&j, "self", d, &row->self);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
	json_print(&j, out);
}

/* --- the live view ----------------------------------------------------------------------------------- */

/* Shows B, with its change from A beside each row. */
static int view_run(const struct comparison *c, struct app_options *screen,
	const struct batch *batch, struct err *err)
{
	const struct diff *d = c->diff;
	struct imported *file = xcalloc(1, sizeof(*file));
	struct app_fact facts[FACTS_MOST + 1], *fact = facts;
	struct app_file shown = {.name = "B vs A",
		.host = "",
		.from = DIFF_B,
		.to = UINT32_MAX,
		.compared = true,
		.facts = facts};
	struct events events = {.count = 0};

	for (int side = 0; side < DIFF_SIDES; side++) {
		const char *label = side == DIFF_A ? "A" : "B";

		for (int i = 0; i < d->runs[side]; i++, label = "")
			*fact++ = (struct app_fact){label, c->files[side][i]};
	}
	*fact = (struct app_fact){NULL, NULL};
	file->profile = d->both;
	vitals_unknown(&file->vitals);
	file->duration_ns = (uint64_t)(d->seconds[DIFF_B] / d->runs[DIFF_B] * (double)NS_PER_S);
	events_insert(&events, d->both, d->query_all.event);
	screen->event = d->query_all.event;
	screen->events = 1u << d->query_all.event;
	int rc = live_show_file(file, &shown, &events, screen, batch, err);
	free(file);
	return rc;
}

int comparison_view(const struct comparison *c, const struct args *args, struct err *err)
{
	struct app_options screen = {.interval_ms = 1000};
	struct config *config = settings_load(err);
	struct batch batch;
	int rc = -1;

	if (!config || screen_options(&screen, args, config, err) ||
		batch_options(&batch, args, err))
		goto out;
	if (!batch.wanted && screen_check_terminal("--view", err)) {
		err_hint(err, "jhot diff BEFORE AFTER     prints the table");
		goto out;
	}
	batch.count = 1; /* nothing would change */
	rc = view_run(c, &screen, &batch, err);
out:
	config_free(config);
	return rc;
}
