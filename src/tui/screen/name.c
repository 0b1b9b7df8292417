/* SPDX-License-Identifier: Apache-2.0 */
/* Shortening names step by step. */
#include "tui/screen/name.h"

#include "base/clean.h"
#include "base/java_name.h"
#include "tui/screen/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Fits text into width columns: if it is wider, its first head columns, an ellipsis and its end. Returns the bytes. */
static size_t cut(
	char *out, size_t size, const char *text, int width, int head, const char *ellipsis)
{
	if (text_width(text) <= width)
		snprintf(out, size, "%s", text);
	else
		snprintf(out, size, "%.*s%s%s", (int)text_prefix(text, head), text,
			width > 0 ? ellipsis : "", text_suffix(text, width - head - 1));
	return strlen(out);
}

void name_cut(char *out, size_t size, const char *text, int width, const char *ellipsis)
{
	cut(out, size, text, width, width > 0 ? width - 1 : 0, ellipsis);
}

void name_middle(char *out, size_t size, const char *text, int width, const char *ellipsis)
{
	cut(out, size, text, width, width < 3 ? width - 1 : (width - 1) / 2, ellipsis);
}

/* Appends len bytes of text at out[o], as far as they fit. Returns the new end. */
static size_t append(char *out, size_t size, size_t o, const char *text, size_t len)
{
	snprintf(out + o, size - o, "%.*s", (int)len, text);
	return o + strlen(out + o);
}

/* --- Java -------------------------------------------------------------------------------------------- */

/* Abbreviates packages, leftmost first, until excess columns are saved. */
static size_t append_packages(char *out, size_t size, const char *from, const char *to, int excess)
{
	size_t o = 0;

	for (const char *p = from; p < to;) {
		const char *dot = memchr(p, '.', (size_t)(to - p));
		size_t len = dot ? (size_t)(dot - p) : (size_t)(to - p);
		int width;
		size_t first = text_cluster(p, &width);

		if (excess > 0 && len > first) {
			excess -= text_width(p) - text_width(p + len) - width;
			o = append(out, size, o, p, first);
		} else {
			o = append(out, size, o, p, len);
		}
		o = append(out, size, o, ".", 1);
		p += len + 1;
	}
	return o;
}

/* A method, or a class alone: an allocated class, or that of a lock. */
static int fit_class(char *out, size_t size, const struct profile_method *m, int width,
	enum name_style style, const char *ellipsis)
{
	const char *class_name = m->class_name, *simple = java_name_simple(class_name);
	const char *dot = *m->name ? "." : "";
	int name_width = text_width(m->name) + text_width(dot), class_width = text_width(simple);
	int excess = text_width(class_name) + name_width - width, packages = 0, letter;
	size_t o = 0;

	for (const char *p = class_name; p < simple; p = strchr(p, '.') + 1) {
		text_cluster(p, &letter);
		packages += letter + 1;
	}
	out[0] = '\0';
	if (*m->name && (style == NAME_METHOD || name_width + 1 > width)) {
		name_cut(out, size, m->name, width, ellipsis);
		return 0;
	}
	if (name_width + class_width > width) {
		if (!*m->name) {
			name_cut(out, size, simple, width, ellipsis);
			return 0;
		}
		o = cut(out, size, simple, width - name_width, 0, ellipsis);
		snprintf(out + o, size - o, ".%s", m->name);
		return 0;
	}
	/* packages: their width when all are abbreviated. */
	if (style == NAME_FULL && packages + class_width + name_width <= width)
		o = append_packages(out, size, class_name, simple, excess);
	snprintf(out + o, size - o, "%s%s%s", simple, dot, m->name);
	return (int)o;
}

void name_program(char *out, size_t size, const char *name, int width, const char *ellipsis)
{
	const char *dot = strrchr(name, '.');
	const struct profile_method class_alone = {.class_name = name, .name = ""};
	bool is_class = dot && dot[1] && strcmp(dot, ".jar") != 0 && !strpbrk(name, "/ ");

	if (is_class && text_width(name) > width && width > 0)
		fit_class(out, size, &class_alone, width, NAME_FULL, ellipsis);
	else
		cut(out, size, name, width, 0, ellipsis);
}

/* --- native ------------------------------------------------------------------------------------------ */

static int fit_native(char *out, size_t size, const struct profile_method *m, int width,
	enum name_style style, const char *ellipsis)
{
	char bare[512], module[264] = "";
	const char *from = bare, *open = strchr(m->name, '(');

	/* "[libc.so.6]" for "[libc.so.6] 0x777e8": the module is more useful than an address. */
	if (profile_method_nameless(m) && (style != NAME_FULL || text_width(m->full) > width)) {
		snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(m->full, " "), m->full);
		name_cut(out, size, bare, width, ellipsis);
		return 0;
	}
	/*
	 * Cuts the parameters, but not the parentheses of "operator()(int)", "(anonymous namespace)::f()" and
	 * Go's "flate.(*Writer).Write".
	 */
	while (open &&
		(open == m->name || open[-1] == ':' || open[-1] == '.' || !strncmp(open, "()(", 3)))
		open = strchr(open + 1, '(');
	snprintf(bare, sizeof(bare), "%.*s", (int)(open ? open - m->name : (long)strlen(m->name)),
		m->name);
	if (style == NAME_FULL && *m->module && *m->full == '[' && strchr(m->full, ' '))
		snprintf(module, sizeof(module), "%.*s", (int)(strchr(m->full, ' ') + 1 - m->full),
			m->full);
	if (text_width(module) + text_width(bare) <= width) {
		snprintf(out, size, "%s%s", module, bare);
		return text_width(module);
	}
	for (const char *next; text_width(from) > width && (next = strstr(from, "::"));)
		from = next + 2;
	name_cut(
		out, size, text_width(from) > width && from != bare ? bare : from, width, ellipsis);
	return 0;
}

int name_fit(char *out, size_t size, const struct profile_method *m, int width,
	enum name_style style, const char *ellipsis)
{
	const size_t mirror = sizeof(PROFILE_MIRROR) - 1;

	if (width < 1) {
		out[0] = '\0';
		return 0;
	}
	if ((size_t)width >= size)
		width = (int)size - 1; /* the screen may be wider than the buffer */
	if (!*m->class_name)
		return fit_native(out, size, m, width, style, ellipsis);
	if (*m->name || strncmp(m->class_name, PROFILE_MIRROR, mirror) != 0 || size <= mirror)
		return fit_class(out, size, m, width, style, ellipsis);
	/* A java.lang.Class used as a lock keeps its prefix in front of the fitted name. */
	struct profile_method named = *m;

	named.class_name += mirror;
	memcpy(out, PROFILE_MIRROR, mirror + 1);
	return (int)mirror +
	       fit_class(out + mirror, size - mirror, &named, width - (int)mirror, style, ellipsis);
}

void name_parameters(char *out, size_t size, const char *signature)
{
	const char *s = signature + 1;
	size_t o = 0;

	out[0] = '\0';
	if (*signature != '(')
		return;
	o = append(out, size, o, "(", 1);
	while (*s != ')') {
		const char *type = s + strspn(s, "["), *end = type;
		const char *name = descriptor_primitive(*type);
		size_t len = name ? strlen(name) : 0;

		if (*type == 'L' && (end = strchr(type, ';'))) {
			name = memrchr(type, '/', (size_t)(end - type));
			name = name ? name + 1 : type + 1;
			len = (size_t)(end - name);
		}
		if (!name || !end) { /* malformed */
			out[0] = '\0';
			return;
		}
		if (o > 1)
			o = append(out, size, o, ", ", 2);
		o = append(out, size, o, name, len);
		for (; s < type; s++)
			o = append(out, size, o, "[]", 2);
		s = end + 1;
	}
	o = append(out, size, o, ")", 1);
	if (o + 1 >= size)
		out[0] = '\0';
}
