/* SPDX-License-Identifier: Apache-2.0 */
/* An error on stderr: a title line, then what happened / try one of / details. */
#include "cli/report.h"

#include "base/clean.h"
#include "cli/line/help.h"

#include <string.h>

#define MARGIN 2

static const char *const titles[] = {
	[ERR_NONE] = "failed",
	[ERR_FAILED] = "failed",
	[ERR_USAGE] = "bad command line",
	[ERR_ATTACH] = "cannot attach",
	[ERR_NO_TARGET] = "no such JVM",
	[ERR_BUSY] = "the JVM is taken",
	[ERR_OUTPUT] = "cannot write",
	[ERR_INPUT] = "cannot read",
	[ERR_GONE] = "the JVM has ended",
};
_Static_assert(
	sizeof(titles) / sizeof(titles[0]) == ERR_GONE + 1, "every kind of error has a title");

static void block(FILE *out, const char *title, const char *lines)
{
	if (!lines[0])
		return;
	fprintf(out, "\n%s\n", title);
	help_wrap(out, 0, MARGIN, lines);
}

/* The things to try, numbered. */
static void block_hints(FILE *out, const char *lines)
{
	char line[sizeof(((struct err *)0)->hint)];
	int n = 0;

	if (!lines[0])
		return;
	fputs("\nTry one of\n", out);
	while (*lines) {
		size_t len = strcspn(lines, "\n");

		memcpy(line, lines, len);
		line[len] = '\0';
		int column = fprintf(out, "%*s%d  ", MARGIN, "", ++n);
		help_wrap(out, column, column, line);
		lines += len + (lines[len] == '\n');
	}
}

void report_error(FILE *out, const struct err *err)
{
	fprintf(out, "jhot: %s\n", titles[err->kind]);
	block(out, "What happened", err->what);
	block_hints(out, err->hint);
	block(out, "Details", err->details);
}

void report_note(FILE *out, const char *note)
{
	char line[512];

	if (!*note)
		return;
	clean_text(line, sizeof(line), note, strlen(note));
	fprintf(out, "note: %s\n", line);
}
