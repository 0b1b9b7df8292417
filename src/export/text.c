/* SPDX-License-Identifier: Apache-2.0 */
/* Cleaning, escaping, shortening names; numbers with units. */
#include "export/text.h"

#include "base/clean.h"
#include "base/java_name.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void export_clean(struct buf *out, const char *text, char not, char instead)
{
	size_t at = out->len;

	clean_add(out, text, strlen(text));
	for (; at < out->len; at++)
		if (out->data[at] == not )
			out->data[at] = instead;
}

void export_frame_name(struct buf *out, const struct profile_method *m, unsigned type, bool slashes)
{
	if (*m->class_name && *m->name) {
		for (const char *s = m->class_name; *s; s++)
			buf_addc(out, *s == '.' && slashes ? '/' : *s);
		buf_printf(out, ".%s", m->name);
	} else if (*m->class_name || !*m->name || profile_method_nameless(m) ||
		   type == FRAME_CONTEXT) {
		buf_adds(out, m->full);
	} else if (type == FRAME_BREAK && *m->name != '[') {
		buf_printf(out, "[break_%s]", m->name);
	} else {
		buf_adds(out, m->name);
	}
}

void export_thread_name(struct buf *out, const struct profile_thread *t)
{
	char label[PROFILE_LABEL];

	profile_thread_label(t, "tid=", label);
	buf_printf(out, "[%s%s%s]", t->name, *t->name && *label ? " " : "", label);
}

void export_xml(struct buf *out, const char *clean)
{
	static const struct {
		char c;
		const char *text;
	} escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
	size_t i;

	for (const char *s = clean; *s; s++) {
		for (i = 0; i < 4 && escapes[i].c != *s; i++)
			;
		if (i < 4) {
			buf_adds(out, escapes[i].text);
		} else if (!strncmp(s, "\xef\xbf\xbe", 3) || !strncmp(s, "\xef\xbf\xbf", 3)) {
			/* U+FFFE and U+FFFF are valid UTF-8, but not allowed in XML */
			buf_adds(out, "\xef\xbf\xbd");
			s += 2;
		} else {
			buf_addc(out, *s);
		}
	}
}

void export_decimal(struct buf *out, double n, int decimals)
{
	uint64_t unit = 1;

	for (int i = 0; i < decimals; i++)
		unit *= 10;
	uint64_t scaled = (uint64_t)(n * (double)unit + 0.5);
	buf_printf(out, "%" PRIu64, scaled / unit);
	if (decimals)
		buf_printf(out, ".%0*" PRIu64, decimals, scaled % unit);
}

void export_count(struct buf *out, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf_addc(out, ',');
		buf_addc(out, digits[i]);
	}
}

struct text_unit {
	const char *unit; /* of the event */
	double scale;
	const char *shown;
};

static const struct text_unit units[] = {
	{"ns", 3600e9, "h"},
	{"ns", 60e9, "min"},
	{"ns", 1e9, "s"},
	{"ns", 1e6, "ms"},
	{"ns", 1e3, "us"},
	{"bytes", 1073741824.0, "GiB"},
	{"bytes", 1048576.0, "MiB"},
	{"bytes", 1024.0, "KiB"},
};

void export_value(struct buf *out, const char *unit, uint64_t value)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (!strcmp(units[i].unit, unit) && (double)value >= units[i].scale) {
			export_decimal(out, (double)value / units[i].scale, 2);
			buf_printf(out, " %s", units[i].shown);
			return;
		}
	}
	export_count(out, value);
	buf_printf(out, " %s", unit);
}

static size_t native_args(const char *name)
{
	const char *args = strchr(name, '(');

	/*
	 * skip parentheses of the name: "operator()(int)", "(anonymous namespace)::f", Go's
	 * "flate.(*Writer).Write"
	 */
	while (args && (args == name || args[-1] == '.' ||
			       (args - name >= 8 && !strncmp(args - 8, "operator", 8)) ||
			       !strncmp(args, "(anonymous", 10)))
		args = strchr(args + 1, '(');
	return args ? (size_t)(args - name) : strlen(name);
}

static void shorten_native(struct buf *out, const char *name, int step)
{
	const char *end = *name == '[' ? strstr(name, "] ") : NULL, *scope;
	int angle = 0;

	/* an address is useless without its library */
	if (step >= 1 && end && !strncmp(end, "] 0x", 4)) {
		buf_add(out, name, (size_t)(end + 1 - name));
		return;
	}
	if (step >= 1 && end)
		name = end + 2;
	size_t len = step >= 2 ? native_args(name) : strlen(name);
	if (step >= 3) {
		for (scope = name + len; scope > name; scope--) {
			angle += scope[-1] == '>' ? 1 : scope[-1] == '<' ? -1 : 0;
			if (!angle && scope - name >= 2 && scope[-1] == ':' && scope[-2] == ':')
				break;
		}
		len -= (size_t)(scope - name);
		name = scope;
	}
	buf_add(out, name, len);
}

void export_shorten(struct buf *out, const char *name, enum frame_type type, int step)
{
	if (frame_is_java(type) || type == FRAME_WAITS || frame_is_class(type)) {
		bool is_class = frame_is_class(type);
		size_t class_at, method_at;

		java_name_parts(name, &class_at, &method_at);
		if (is_class)
			class_at = method_at;
		for (size_t i = 0; step == 1 && i < class_at; i++) {
			size_t at = (size_t)(utf8_len(name + i) ? utf8_len(name + i) : 1);
			if (name[i] != '.') /* an empty package component has no first letter */
				buf_add(out, name + i, at);
			buf_addc(out, '.');
			while (i < class_at && name[i] != '.')
				i++;
		}
		buf_adds(out, name + (step == 0 ? 0 : step == 3 ? method_at : class_at));
	} else
		shorten_native(out, name, step);
}
