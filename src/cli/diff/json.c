/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as JSON: doc/diff.schema.json says what each value is. */
#include "base/json.h"
#include "cli/diff/diff.h"

#include <stdio.h>

static const char *const mode_names[DIFF_MODES] = {"rate", "share", "raw"};

static void json_value(struct json *j, const struct diff *d, const struct diff_value *v)
{
	const struct {
		const char *key;
		double number;
	} numbers[] = {
		{"a", v->of[DIFF_A]},
		{"b", v->of[DIFF_B]},
		{"delta", diff_delta(v)},
		{"error", v->error},
		{"delta_pct", comparison_percent(d, diff_delta(v))},
		{"error_pct", comparison_percent(d, v->error)},
		{"p", v->p},
	};

	json_begin(j, '{');
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		json_key(j, numbers[i].key);
		json_num(j, numbers[i].number);
	}
	json_key(j, "sure");
	json_bool(j, v->sure);
	json_key(j, "a_samples");
	json_int(j, (int64_t)v->samples[DIFF_A]);
	json_key(j, "b_samples");
	json_int(j, (int64_t)v->samples[DIFF_B]);
	json_end(j, '}');
}

static void json_side(struct json *j, const struct comparison *c, int side)
{
	const struct diff *d = c->diff;

	json_begin(j, '{');
	json_key(j, "files");
	json_begin(j, '[');
	for (int i = 0; i < d->runs[side]; i++)
		json_str(j, c->files[side][i]);
	json_end(j, ']');
	json_key(j, "seconds");
	if (d->seconds[side] > 0)
		json_num(j, d->seconds[side]);
	else
		json_null(j);
	json_end(j, '}');
}

static void json_row(struct json *j, const struct diff *d, const struct diff_row *row)
{
	json_begin(j, '{');
	json_key(j, "name");
	json_str(j, profile_get_method(d->both, row->method)->full);
	json_key(j, "only");
	if (*comparison_word(row))
		json_str(j, comparison_word(row));
	else
		json_null(j);
	json_key(j, "total");
	json_value(j, d, &row->total);
	json_key(j, "self");
	json_value(j, d, &row->self);
	json_end(j, '}');
}

void comparison_print_json(const struct comparison *c, FILE *out)
{
	const struct diff *d = c->diff;
	const struct profile_event *event = profile_get_event(d->both, d->query_all.event);
	struct buf text = {0};
	struct json j = {&text, false};
	const char *name;

	json_begin(&j, '{');
	json_key(&j, "event");
	json_str(&j, event->name);
	json_key(&j, "unit");
	json_str(&j, d->by_weight ? event->unit : "samples");
	json_key(&j, "mode");
	json_str(&j, mode_names[d->mode]);
	json_key(&j, "noise_pct");
	json_num(&j, 100 * d->noise);
	json_key(&j, "a");
	json_side(&j, c, DIFF_A);
	json_key(&j, "b");
	json_side(&j, c, DIFF_B);
	json_key(&j, "slower");
	json_bool(&j, comparison_slower(c, &name) != NULL);
	json_key(&j, "all");
	json_value(&j, d, &d->all);
	json_key(&j, "methods");
	json_begin(&j, '[');
	for (uint32_t i = 0; i < d->count; i++)
		json_row(&j, d, &d->rows[i]);
	json_end(&j, ']');
	json_end(&j, '}');
	buf_addc(&text, '\n');
	fwrite(text.data, 1, text.len, out);
	buf_done(&text);
}
