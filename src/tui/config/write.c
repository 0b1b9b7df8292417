/* SPDX-License-Identifier: Apache-2.0 */
/* Updates values in an existing settings file and preserves the rest. */
#include "tui/config/config.h"

#include "tui/config/parse.h"

#include <stdio.h>
#include <string.h>

/* Writes the line with its value replaced and everything around it preserved. */
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

/* Index of the written setting that a line outside of sections sets; -1: none. Tracks sections in *inside. */
static int write_which(const char *line, size_t len, bool *inside)
{
	struct config_line l;
	enum config_kind kind = config_read(line, len, &l);

	if (kind == CONFIG_OPEN || kind == CONFIG_CLOSE)
		*inside = kind == CONFIG_OPEN;
	for (int i = 0; i < SETTINGS_WRITTEN && kind == CONFIG_VALUE && !*inside; i++)
		if (!strcmp(settings[i].name, l.name))
			return i;
	return -1;
}

static void write_new(struct buf *out)
{
	buf_adds(out,
		"# Settings of jhot's live view; `man jhot` explains them. W in the live view "
		"writes the values\n# and leaves everything else as it is.\n\n");
}

/* A new file also documents the sections and every command's keys, as comments. */
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

void config_write(const char *old, const struct config_values *v, struct buf *out)
{
	const char *const values[SETTINGS_WRITTEN] = {
		v->event, v->window, v->delay, v->names, v->color, v->mouse, v->format};
	bool done[SETTINGS_WRITTEN] = {0}, inside = false, fresh = !old || !*old, missing = false;

	if (fresh)
		write_new(out);
	for (const char *line = fresh ? "" : old; *line;) {
		size_t len = strcspn(line, "\n");
		int i = write_which(line, len, &inside);

		if (i < 0) {
			buf_add(out, line, len);
			buf_addc(out, '\n');
		} else {
			done[i] = true;
			write_changed(out, line, len, values[i]);
		}
		line += len + (line[len] == '\n');
	}
	for (int i = 0; i < SETTINGS_WRITTEN; i++)
		missing |= !done[i];
	if (missing && !fresh)
		buf_adds(out, "\n");
	for (int i = 0; i < SETTINGS_WRITTEN; i++)
		if (!done[i])
			buf_printf(out, "%s = %s    # %s\n", settings[i].name, values[i],
				settings[i].comment ? settings[i].comment : settings[i].words);
	if (fresh)
		write_sections(out);
}
