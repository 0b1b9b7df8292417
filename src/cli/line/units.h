/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsing and formatting of numbers with units: intervals, durations, sizes.
 *
 * Parsers return 0, or -1 with an error that shows the accepted forms. Formatters fill the caller's
 * buffer and return it.
 */
#ifndef JHOT_CLI_LINE_UNITS_H
#define JHOT_CLI_LINE_UNITS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum units_kind { UNITS_PLAIN, UNITS_TIME, UNITS_BYTES };

/*
 * units_interval: "10ms", "500us", "1s", "512k", "100000", not 0. *value is in nanoseconds for
 * times, in bytes for sizes, and in the event's own unit for plain numbers (nanoseconds, or bytes
 * for alloc).
 */
int units_interval(const char *text, uint64_t *value, enum units_kind *kind, struct err *err);

/* units_duration: "5", "0.5", "90s", "2m", "1h" -> nanoseconds; a plain number is seconds. */
int units_duration(const char *text, uint64_t *ns, struct err *err);

/* units_count: an integer from 1 to most; `option` is for the error. */
int units_count(
	const char *text, const char *option, unsigned most, unsigned *value, struct err *err);

/* units_per_mille: "2", "2%", "0.5%" of a core -> thousandths; "off" -> 0. */
int units_per_mille(const char *text, int *value, struct err *err);

/* units_percent: "2", "0.5%" -> 2, 0.5. Not negative; the caller checks the range. */
bool units_percent(const char *text, double *percent);

/* Formats a value given in its event's unit: "1.20 s", "34.5 ms", "1.2 GB", "12.3 k". */
const char *units_value(uint64_t value, const char *unit, char *out, size_t size);

#endif
