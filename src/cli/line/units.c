/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with units; one table of suffixes per kind. */
#include "cli/line/units.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct suffix {
	const char *text;
	double factor;
	enum units_kind kind;
};

static const struct suffix interval_suffixes[] = {
	{"", 1, UNITS_PLAIN},
	{"ns", 1, UNITS_TIME},
	{"us", NS_PER_US, UNITS_TIME},
	{"ms", NS_PER_MS, UNITS_TIME},
	{"s", NS_PER_S, UNITS_TIME},
	{"b", 1, UNITS_BYTES},
	{"k", 1024, UNITS_BYTES},
	{"kb", 1024, UNITS_BYTES},
	{"m", 1024.0 * 1024, UNITS_BYTES},
	{"mb", 1024.0 * 1024, UNITS_BYTES},
	{"g", 1024.0 * 1024 * 1024, UNITS_BYTES},
	{"gb", 1024.0 * 1024 * 1024, UNITS_BYTES},
	{NULL, 0, UNITS_PLAIN},
};

static const struct suffix duration_suffixes[] = {
	{"", NS_PER_S, UNITS_TIME},
	{"ms", NS_PER_MS, UNITS_TIME},
	{"s", NS_PER_S, UNITS_TIME},
	{"m", 60.0 * NS_PER_S, UNITS_TIME},
	{"h", 3600.0 * NS_PER_S, UNITS_TIME},
	{NULL, 0, UNITS_PLAIN},
};

/*
 * Parses digits with at most one point, and a suffix of the table. Stores the product. Returns the
 * suffix; NULL if the text is malformed, or the product is below 1 or at least 9e18.
 */
static const struct suffix *parse(const char *text, const struct suffix *table, uint64_t *value)
{
	size_t digits = strspn(text, "0123456789.");
	char *end;

	if (!digits || digits > 20)
		return NULL;
	double number = strtod(text, &end);
	if (end != text + digits)
		return NULL;
	for (const struct suffix *s = table; s->text; s++) {
		double product = round(number * s->factor);

		if (strcasecmp(s->text, end))
			continue;
		if (product < 1 || product >= 9e18)
			return NULL;
		*value = (uint64_t)product;
		return s;
	}
	return NULL;
}

int units_interval(const char *text, uint64_t *value, enum units_kind *kind, struct err *err)
{
	const struct suffix *s = parse(text, interval_suffixes, value);

	if (!s) {
		err_set(err, ERR_USAGE, "\"%s\" is not an interval.", text);
		err_hint(err, "10ms, 500us, 1s, or 100000 for nanoseconds");
		err_hint(err, "512k or 1m for the bytes between two samples of alloc");
		return -1;
	}
	*kind = s->kind;
	return 0;
}

int units_duration(const char *text, uint64_t *ns, struct err *err)
{
	if (parse(text, duration_suffixes, ns))
		return 0;
	err_set(err, ERR_USAGE, "\"%s\" is not a duration.", text);
	err_hint(err, "5, 0.5, 90s, 2m or 1h");
	return -1;
}

int units_count(
	const char *text, const char *option, unsigned most, unsigned *value, struct err *err)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long n = strtoul(text, NULL, 10);

	if (!digits || text[digits] || digits > 9 || n < 1 || n > most)
		return err_set(err, ERR_USAGE, "%s must be a number from 1 to %u, not \"%s\".",
			option, most, text);
	*value = (unsigned)n;
	return 0;
}

bool units_percent(const char *text, double *percent)
{
	char *end;

	*percent = strtod(text, &end);
	end += *end == '%';
	return strspn(text, "0123456789.") && !*end;
}

int units_per_mille(const char *text, int *value, struct err *err)
{
	double percent;

	if (!strcmp(text, "off")) {
		*value = 0;
		return 0;
	}
	if (units_percent(text, &percent) && percent >= 0.1 && percent <= 100) {
		*value = (int)(percent * 10 + 0.5);
		return 0;
	}
	err_set(err, ERR_USAGE, "\"%s\" is not a budget.", text);
	err_hint(err, "--budget=2%%    two percent of one core");
	err_hint(err, "--budget=off   no limit");
	return -1;
}

const char *units_value(uint64_t value, const char *unit, char *out, size_t size)
{
	static const struct {
		const char *unit; /* of the event */
		double from; /* minimum; smaller values have a smaller unit, in which rounding never yields 1000 */
		double factor;
		const char *shown;
	} rows[] = {
		{"ns", 0.9995e9, 1e9, "s"},
		{"ns", 0.9995e6, 1e6, "ms"},
		{"ns", 1e3, 1e3, "us"},
		{"bytes", 999.5 * 0x1p20, 0x1p30, "GB"},
		{"bytes", 999.5 * 0x1p10, 0x1p20, "MB"},
		{"bytes", 1024, 1024, "kB"},
		{"events", 0.9995e9, 1e9, "G"},
		{"events", 0.9995e6, 1e6, "M"},
		{"events", 1e4, 1e3, "k"},
	};
	const char *kind = strcmp(unit, "ns") && strcmp(unit, "bytes") ? "events" : unit;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double v = (double)value / rows[i].factor;

		if (strcmp(rows[i].unit, kind) || (double)value < rows[i].from)
			continue;
		snprintf(out, size, "%.*f %s", v < 9.995 ? 2 : v < 99.95, v, rows[i].shown);
		return out;
	}
	if (!strcmp(kind, "events"))
		snprintf(out, size, "%llu", (unsigned long long)value);
	else
		snprintf(out, size, "%llu %s", (unsigned long long)value,
			!strcmp(unit, "bytes") ? "B" : unit);
	return out;
}
