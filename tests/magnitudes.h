/* SPDX-License-Identifier: Apache-2.0 */
/* Formatters of numbers over all magnitudes: the formatted text is parsed again and compared with the value. */
#ifndef JHOT_TESTS_MAGNITUDES_H
#define JHOT_TESTS_MAGNITUDES_H

#include "tests/tap.h"

#include <math.h>

struct magnitude_unit {
	const char *text; /* after the number, without blanks */
	double factor;
};

/* The value of a text like "12.3 k" or "2 294"; NAN if it cannot be parsed. units ends with a NULL text. */
__attribute__((unused)) static double magnitude_read(
	const char *text, const struct magnitude_unit *units)
{
	char digits[64], unit[16];
	size_t n = 0, u = 0;

	for (; *text; text++) {
		if ((*text >= '0' && *text <= '9') || *text == '.') {
			if (u || n + 1 == sizeof(digits))
				return NAN;
			digits[n++] = *text;
		} else if (*text != ' ' && *text != ',') {
			if (u + 1 == sizeof(unit))
				return NAN;
			unit[u++] = *text;
		}
	}
	digits[n] = unit[u] = '\0';
	for (; n && units->text; units++)
		if (!strcmp(units->text, unit))
			return strtod(digits, NULL) * units->factor;
	return NAN;
}

/*
 * Checks the format of values at, beside and between powers of 2 and of 10, up to `most`: the text is within `error`
 * (0.06: 6 %) or half of the smallest unit, and has at most `longest` characters.
 */
__attribute__((unused)) static void magnitude_check(void (*format)(char out[64], uint64_t value),
	const struct magnitude_unit *units, uint64_t most, double error, size_t longest,
	const char *what)
{
	static const double parts[] = {1, 1.04999, 1.05, 1.5, 2, 5, 9.5, 9.94, 9.95, 9.994, 9.995};
	unsigned checked = 0, wrong = 0;

	for (int base = 2; base <= 10; base += 8) {
		for (double power = 1; power <= (double)most; power *= base) {
			for (size_t i = 0; i < 3 * sizeof(parts) / sizeof(parts[0]); i++) {
				double at = floor(power * parts[i / 3]) + (double)(i % 3) - 1;
				uint64_t value;
				char text[64];
				double said;

				if (at < 0 || at > (double)most || at >= 0x1p63)
					continue;
				value = (uint64_t)at;
				format(text, value);
				said = magnitude_read(text, units);
				checked++;
				if (fabs(said - (double)value) <= 0.5 + error * (double)value &&
					strlen(text) <= longest)
					continue;
				if (!wrong++)
					diag("%llu is shown as \"%s\"", (unsigned long long)value,
						text);
			}
		}
	}
	ok(checked > 300 && !wrong, "%s: %u values from 0 to %.0e, %u wrong", what, checked,
		(double)most, wrong);
}

#endif
