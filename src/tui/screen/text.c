/* SPDX-License-Identifier: Apache-2.0 */
/* Code points, widths, numbers. */
#include "tui/screen/text.h"

#include "profile/query/match.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct range {
	uint32_t first, last;
};

/* East Asian Wide and Fullwidth, and the emoji blocks; from Unicode's EastAsianWidth.txt, merged. */
static const struct range wide[] = {{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2e80, 0x303e},
	{0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf}, {0xa960, 0xa97c},
	{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6},
	{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
/* Combining marks and format characters: dropped by the canvas. */
static const struct range zero[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd},
	{0x0610, 0x061a}, {0x064b, 0x065f}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f},
	{0x20d0, 0x20f0}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef}};

static bool in_ranges(uint32_t ch, const struct range *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ch >= r[i].first && ch <= r[i].last)
			return true;
	return false;
}

uint32_t text_next(const char **s)
{
	uint32_t ch;
	int len;

	if (!**s)
		return 0;
	if (**s >= ' ' && **s < 0x7f)
		return (uint32_t) * (*s)++;
	len = utf8_len(*s);
	ch = utf8_value(*s, len ? len : 1);
	*s += len ? len : 1;
	return !len || ch < 0x20 || (ch >= 0x7f && ch < 0xa0) ? '?' : ch; /* controls */
}

int text_char_width(uint32_t ch)
{
	if (ch < 0x300)
		return 1;
	if (in_ranges(ch, zero, sizeof(zero) / sizeof(zero[0])))
		return 0;
	return in_ranges(ch, wide, sizeof(wide) / sizeof(wide[0])) ? 2 : 1;
}

int text_width(const char *s)
{
	int width = 0;

	for (uint32_t ch; (ch = text_next(&s));)
		width += text_char_width(ch);
	return width;
}

size_t text_prefix(const char *s, int columns)
{
	const char *p = s;

	for (const char *next = s;; p = next) {
		uint32_t ch = text_next(&next);

		if (!ch)
			return (size_t)(p - s);
		columns -= text_char_width(ch);
		if (columns < 0)
			return (size_t)(p - s);
	}
}

size_t text_wrap(const char *s, int columns, const char **next)
{
	size_t fits = text_prefix(s, columns), cut = fits;

	while (s[fits] && cut > 0 && s[cut] != ' ')
		cut--;
	cut = cut ? cut : fits;
	*next = s + cut + (s[cut] == ' ');
	return cut;
}

const char *text_find(const char *s, const char *needle)
{
	size_t bytes;

	return match_find(s, needle, &bytes);
}

char *text_count(char *out, int64_t v)
{
	char digits[TEXT_NUMBER];
	int n, o = 0;

	if (v < 0)
		return strcpy(out, "-");
	n = snprintf(digits, sizeof(digits), "%lld", (long long)v);
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			out[o++] = ' ';
		out[o++] = digits[i];
	}
	out[o] = '\0';
	return out;
}

char *text_counted(char *out, int64_t n, const char *noun)
{
	char number[TEXT_NUMBER];

	snprintf(out, TEXT_NUMBER, "%.12s %.16s%s", text_count(number, n), noun,
		n == 1                          ? ""
		: noun[strlen(noun) - 1] == 'x' ? "es"
						: "s");
	return out;
}

static const char units[] = " KMGTPE";

/* The power of 1024 in which v has at most three digits before the point. */
static int unit_of(int64_t v)
{
	int unit = 0;

	for (double x = (double)v; x >= 999.5 && unit < 6; x /= 1024)
		unit++;
	return unit;
}

static double in_unit(int64_t v, int unit)
{
	double x = (double)v;

	while (unit-- > 0)
		x /= 1024;
	return x;
}

char *text_bytes(char *out, int64_t v)
{
	int unit = unit_of(v);
	double x = in_unit(v, unit);

	if (v < 0)
		return strcpy(out, "-");
	if (!unit)
		snprintf(out, TEXT_NUMBER, "%dB", (int)v);
	else
		snprintf(out, TEXT_NUMBER, x < 9.95 ? "%.1f%c" : "%.0f%c", x, units[unit]);
	return out;
}

char *text_bytes_of(char *out, int64_t used, int64_t max)
{
	int unit = unit_of(max);

	if (used < 0 || max <= 0)
		return text_bytes(out, used);
	/* Both with the unit of the larger, so that they compare at a glance; a small part has its own. */
	if (used < max / 20) {
		char part[TEXT_NUMBER], all[TEXT_NUMBER];

		snprintf(out, TEXT_NUMBER, "%.12s/%.12s", text_bytes(part, used),
			text_bytes(all, max));
		return out;
	}
	snprintf(out, TEXT_NUMBER, unit > 2 ? "%.1f/%.1f%c" : "%.0f/%.0f%c", in_unit(used, unit),
		in_unit(max, unit), unit ? units[unit] : 'B');
	return out;
}

char *text_uptime(char *out, int64_t s)
{
	long long minutes = s / 60, hours = minutes / 60, days = hours / 24;

	if (s < 0)
		return strcpy(out, "-");
	if (s < 60)
		snprintf(out, TEXT_NUMBER, "%ds", (int)s);
	else if (!hours)
		snprintf(out, TEXT_NUMBER, "%lldm", minutes);
	else if (!days)
		snprintf(out, TEXT_NUMBER, "%lldh%02lldm", hours, minutes % 60);
	else if (days < 100)
		snprintf(out, TEXT_NUMBER, "%lldd%02lldh", days, hours % 24);
	else
		snprintf(out, TEXT_NUMBER, "%lldd", days);
	return out;
}

char *text_percent(char *out, double v)
{
	if (v >= 99.95)
		snprintf(out, TEXT_NUMBER, "%.0f", v);
	else
		snprintf(out, TEXT_NUMBER, "%.1f", v);
	return out;
}

char *text_interval(char *out, int64_t v, bool time)
{
	static const char *const names[] = {"ns", "us", "ms", "s"};
	int unit = 0;

	if (!time)
		return text_bytes(out, v);
	while (v >= 1000 && v % 1000 == 0 && unit < 3) {
		v /= 1000;
		unit++;
	}
	snprintf(out, TEXT_NUMBER, "%lld%s", (long long)v, names[unit]);
	return out;
}

char *text_clock(char *out, int64_t wall_ns)
{
	time_t t = (time_t)(wall_ns / (int64_t)NS_PER_S);
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(out, TEXT_NUMBER, "%H:%M:%S", &tm);
	return out;
}
