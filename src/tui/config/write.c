/* SPDX-License-Identifier: Apache-2.0 */
/* Settings written into a file that is somebody's own: only the values change. */
#include "tui/config/config.h"

#include "tui/config/parse.h"

#include <stdio.h>
#include <string.h>

#define VALUES 7

struct value {
	const char *name, *value, *comment;
	bool done;
};

static void list_values(const struct config_values *v, struct value out[VALUES])
{
	const struct value all[VALUES] = {
		{"event", v->event, "cpu alloc lock wall: what is shown first", false},
		{"window", v->window, "5s 10s 30s 1m all", false},
		{"delay", v->delay, "seconds between two screens", false},
		{"names", v->names, "full class method", false},
		{"color", v->color, "auto never 16 256", false},
		{"mouse", v->mouse, "on off", false},
		{"format", v->format, "of files written by S: a suffix", false},
	};

	memcpy(out, all, sizeof(all));
}

/* The name that a line sets outside of sections, NULL if it sets none of ours. */
static struct value *value_of(struct value values[VALUES], const char *line, size_t len)
{
	size_t start = strspn(line, " \t"), n;
	const char *eq = memchr(line, '=', len);

	if (!eq || line[start] == '#')
		return NULL;
	n = (size_t)(eq - line) - start;
	while (n && strchr(" \t", line[start + n - 1]))
		n--;
	for (int i = 0; i < VALUES; i++)
		if (strlen(values[i].name) == n && !strncmp(values[i].name, line + start, n))
			return &values[i];
	return NULL;
}

/* The line with another value: what stands before and behind the old one stays. */
static void write_changed(struct buf *out, const char *line, size_t len, const char *value)
{
	const char *eq = memchr(line, '=', len), *old = eq + 1, *end = line + len;

	old += strspn(old, " \t");
	buf_add(out, line, (size_t)(old - line));
	buf_adds(out, value);
	while (old < end && *old != ' ' && *old != '\t')
		old++;
	buf_add(out, old, (size_t)(end - old));
	buf_addc(out, '\n');
}

static bool is_open(const char *line, size_t len)
{
	const char *hash = memchr(line, '#', len);

	return memchr(line, '{', hash ? (size_t)(hash - line) : len) != NULL &&
	       !memchr(line, '=', len);
}

static bool is_close(const char *line, size_t len)
{
	size_t start = strspn(line, " \t");

	return start < len && line[start] == '}';
}

static void write_new(struct buf *out)
{
	buf_adds(out,
		"# Settings of jhot's live view; `man jhot` explains them. W in the live view "
		"writes the values\n# and leaves everything else as it is.\n\n");
}

/* What a new file tells beyond values: the sections, and each command's keys, as comments. */
static void write_sections(struct buf *out)
{
	buf_adds(out, "\n# framework = org.springframework. io.netty.    # what K hides; replaces "
		      "the built-in list\n\n#colors {\n#\tcursor = black on cyan bold\n#}\n\n#keys "
		      "{\n");
	for (int i = 0; i < command_count; i++)
		if (commands[i].help)
			buf_printf(out, "#\t%s = ...    # %s: %s\n", commands[i].name,
				commands[i].shown, commands[i].help);
	buf_adds(out, "#}\n");
}

void config_write(const char *old, const struct config_values *wanted, struct buf *out)
{
	struct value values[VALUES], *v;
	bool inside = false, fresh = !old || !*old, missing = false;

	list_values(wanted, values);
	if (fresh)
		write_new(out);
	for (const char *line = fresh ? "" : old; *line;) {
		size_t len = strcspn(line, "\n");

		v = inside ? NULL : value_of(values, line, len);
		inside = (inside || is_open(line, len)) && !is_close(line, len);
		if (v) {
			v->done = true;
			write_changed(out, line, len, v->value);
		} else {
			buf_add(out, line, len);
			buf_addc(out, '\n');
		}
		line += len + (line[len] == '\n');
	}
	for (int i = 0; i < VALUES; i++)
		missing |= !values[i].done;
	if (missing && !fresh)
		buf_adds(out, "\n");
	for (int i = 0; i < VALUES; i++)
		if (!values[i].done)
			buf_printf(out, "%s = %s    # %s\n", values[i].name, values[i].value,
				values[i].comment);
	if (fresh)
		write_sections(out);
}
