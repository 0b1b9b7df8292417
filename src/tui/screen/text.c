/* SPDX-License-Identifier: Apache-2.0 */
/* Code points, widths, numbers. */
#include "tui/screen/text.h"

#include "profile/query/match.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <utf8proc.h>

uint32_t text_next(const char **s)
{
	if (!**s)
		return 0;
	if (**s >= ' ' && **s < 0x7f)
		return (uint32_t) * (*s)++;
	int len = utf8_len(*s);
	uint32_t ch = utf8_value(*s, len ? len : 1);
	*s += len ? len : 1;
	return !len || ch < 0x20 || (ch >= 0x7f && ch < 0xa0) ? '?' : ch; /* controls */
}

int text_char_width(uint32_t ch)
{
	const utf8proc_property_t *p;

	if (ch < 0x300)
		return 1;
	p = utf8proc_get_property((utf8proc_int32_t)ch);
	/* Terminals give spacing vowel signs one column, and combine Hangul vowels and finals with the syllable. */
	if (p->category == UTF8PROC_CATEGORY_MC)
		return 1;
	if (p->boundclass == UTF8PROC_BOUNDCLASS_V || p->boundclass == UTF8PROC_BOUNDCLASS_T)
		return 0;
	return utf8proc_charwidth((utf8proc_int32_t)ch);
}

bool text_char_joins(uint32_t ch)
{
	utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)ch);

	/* Variation selectors would change the width of the character before. */
	return !text_char_width(ch) && category != UTF8PROC_CATEGORY_CF &&
	       category != UTF8PROC_CATEGORY_ZL && category != UTF8PROC_CATEGORY_ZP &&
	       !(ch >= 0xfe00 && ch <= 0xfe0f) && !(ch >= 0xe0100 && ch <= 0xe01ef);
}

size_t text_cluster(const char *s, int *width)
{
	const char *next = s;
	utf8proc_int32_t before = (utf8proc_int32_t)text_next(&next), ch, state = 0;

	*width = before ? text_char_width((uint32_t)before) : 0;
	for (const char *end = next; before; next = end, before = ch) {
		ch = *end ? (utf8proc_int32_t)text_next(&end) : 0;
		if (!ch || (before < 0x7f && ch < 0x7f) ||
			utf8proc_grapheme_break_stateful(before, ch, &state))
			break;
		*width += text_char_width((uint32_t)ch);
	}
	return (size_t)(next - s);
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
	const char *end = s;
	int width;

	for (size_t bytes; (bytes = text_cluster(end, &width)); end += bytes) {
		columns -= width;
		if (columns < 0)
			break;
	}
	return (size_t)(end - s);
}

const char *text_suffix(const char *s, int columns)
{
	int width;

	for (int excess = text_width(s) - columns; excess > 0 && *s; excess -= width)
		s += text_cluster(s, &width);
	return s;
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

int text_rows(const char *s, int columns)
{
	int rows = 0;

	for (const char *next; *s; s = next, rows++) {
		text_wrap(s, columns, &next);
		if (next == s)
			break;
	}
	return rows;
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

char *text_scaled(char *out, double v, double base, const char *const units[], int count)
{
	int unit = 0;

	for (; v >= 999.5 && unit + 1 < count; unit++)
		v /= base;
	snprintf(out, TEXT_NUMBER, v < 9.95 && unit ? "%.1f%s" : "%.0f%s", v, units[unit]);
	return out;
}

static const char *const byte_units[] = {"B", "K", "M", "G", "T", "P", "E"};
#define BYTE_UNITS ((int)(sizeof(byte_units) / sizeof(byte_units[0])))

char *text_bytes(char *out, int64_t v)
{
	return v < 0 ? strcpy(out, "-") : text_scaled(out, (double)v, 1024, byte_units, BYTE_UNITS);
}

char *text_bytes_of(char *out, int64_t used, int64_t max)
{
	double part = (double)used, all = (double)max;
	int unit = 0;

	if (used < 0 || max <= 0)
		return text_bytes(out, used);
	/* Both in the unit of the larger one, for comparison; a small part has its own unit. */
	if (used < max / 20) {
		char small[TEXT_NUMBER], large[TEXT_NUMBER];

		snprintf(out, TEXT_NUMBER, "%.12s/%.12s", text_bytes(small, used),
			text_bytes(large, max));
		return out;
	}
	for (; all >= 999.5 && unit + 1 < BYTE_UNITS; unit++) {
		all /= 1024;
		part /= 1024;
	}
	snprintf(out, TEXT_NUMBER, unit > 2 ? "%.1f/%.1f%s" : "%.0f/%.0f%s", part, all,
		byte_units[unit]);
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
