/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a comparison as text: the sides, the total, and a row per method. */
#include "cli/diff/diff.h"

#include "base/buf.h"
#include "cli/line/units.h"

#include <math.h>
#include <string.h>

#define FILES_SHOWN 4

static const char *const mode_words[DIFF_MODES] = {
	[DIFF_RATE] = "per second",
	[DIFF_SHARE] = "as a share of the total",
	[DIFF_RAW] = "as raw counts",
};

double comparison_percent(const struct diff *d, double value)
{
	if (d->mode == DIFF_SHARE)
		return 100 * value;
	return d->all.of[DIFF_A] > 0 ? 100 * value / d->all.of[DIFF_A] : 0;
}

const char *comparison_word(const struct diff_row *row)
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
	if (c->diff->all.sure && comparison_percent(c->diff, diff_delta(&c->diff->all)) > most) {
		worst = &c->diff->all;
		most = comparison_percent(c->diff, diff_delta(worst));
		*name = "the total";
	}
	for (uint32_t i = 0; i < c->diff->count; i++) {
		values[0] = &c->diff->rows[i].self;
		values[1] = &c->diff->rows[i].total;
		for (int k = 0; k < 2; k++) {
			double percent = comparison_percent(c->diff, diff_delta(values[k]));

			if (!values[k]->sure || percent <= most)
				continue;
			most = percent;
			worst = values[k];
			*name = row_name(c->diff, &c->diff->rows[i]);
		}
	}
	return worst;
}

/* --- the sides --------------------------------------------------------------------------------------- */

static void print_side(const struct comparison *c, int side, FILE *out)
{
	const struct diff *d = c->diff;
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
	fprintf(out, "%s %llu sample%s\n", d->runs[side] > 1 || d->seconds[side] > 0 ? "," : ":",
		(unsigned long long)samples, plural(samples));
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
		mode_words[d->mode]);
	if (d->mode == DIFF_SHARE) {
		fputs("\n", out);
		return;
	}
	fputs(": ", out);
	print_amount(d, all->of[DIFF_A], out);
	fputs(" -> ", out);
	print_amount(d, all->of[DIFF_B], out);
	fprintf(out, ", %+.1f %% +-%.1f%s\n", comparison_percent(d, diff_delta(all)),
		comparison_percent(d, all->error), all->sure ? " *" : "");
}

/* --- methods ----------------------------------------------------------------------------------------- */

static void print_value(const struct diff *d, const struct diff_value *v, FILE *out)
{
	fprintf(out, "%6.1f %6.1f %+6.1f%c %5.1f", comparison_percent(d, v->of[DIFF_A]),
		comparison_percent(d, v->of[DIFF_B]), comparison_percent(d, diff_delta(v)),
		v->sure ? '*' : ' ', comparison_percent(d, v->error));
}

static void print_row(const struct diff *d, const struct diff_row *row, FILE *out)
{
	const char *word = comparison_word(row);

	print_value(d, &row->total, out);
	fputs("  ", out);
	print_value(d, &row->self, out);
	fprintf(out, "  %-4s %s\n", word, row_name(d, row));
}

/* True when a change is large enough to show in the digits that are printed. */
static bool row_shows(const struct diff *d, const struct diff_row *row)
{
	return fabs(comparison_percent(d, diff_delta(&row->total))) >= 0.05 ||
	       fabs(comparison_percent(d, diff_delta(&row->self))) >= 0.05;
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
	const struct diff_value *slower;
	const char *name;

	if (sure || d->all.sure)
		fprintf(out,
			"\n*: statistically significant (if nothing changed, at most 1 report in "
			"30 "
			"shows one). %u of %u methods differ significantly.\n",
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
	slower = comparison_slower(c, &name);
	if (slower)
		fprintf(out, "Slower by more than %g %%: %s, by %.1f %% of the total.\n",
			c->fail_over, name, comparison_percent(d, diff_delta(slower)));
}

void comparison_print(const struct comparison *c, FILE *out)
{
	const struct diff *d = c->diff;
	uint32_t sure = count_sure(d), rows = sure > c->rows ? sure : c->rows;

	for (int side = 0; side < DIFF_SIDES; side++)
		print_side(c, side, out);
	print_all(d, out);
	fprintf(out,
		"\nTOTAL%%                        SELF%%\n%6s %6s %6s  %5s  %6s %6s %6s  %5s       "
		"%s\n",
		"A", "B", "DELTA", "+-", "A", "B", "DELTA", "+-", "METHOD");
	for (uint32_t i = 0; i < d->count && i < rows && (i < sure || row_shows(d, &d->rows[i]));
		i++)
		print_row(d, &d->rows[i], out);
	print_end(c, out);
}
