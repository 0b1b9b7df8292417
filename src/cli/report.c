/* SPDX-License-Identifier: Apache-2.0 */
/* Printing errors in blocks, notes, and a progress line that is overwritten. */
#include "cli/report.h"

#include "base/clean.h"
#include "base/clock.h"
#include "cli/line/help.h"

#include <string.h>
#include <unistd.h>

#define MARGIN            2
#define PROGRESS_FIRST_NS (1 * NS_PER_S)

static const char *const titles[] = {
	[ERR_NONE] = "failed",
	[ERR_FAILED] = "failed",
	[ERR_USAGE] = "bad command line",
	[ERR_ATTACH] = "cannot attach",
	[ERR_NO_TARGET] = "no such JVM",
	[ERR_BUSY] = "the JVM is in use",
	[ERR_OUTPUT] = "cannot write",
	[ERR_INPUT] = "cannot read",
	[ERR_GONE] = "the JVM has ended",
	[ERR_UNSEEN] = "too little was observed",
	[ERR_PUSH] = "cannot push",
};
_Static_assert(
	sizeof(titles) / sizeof(titles[0]) == ERR_PUSH + 1, "every kind of error has a title");

static void block(FILE *out, const char *title, const char *lines)
{
	if (!lines[0])
		return;
	fprintf(out, "\n%s\n", title);
	help_wrap(out, 0, MARGIN, lines);
}

void report_error(FILE *out, const struct err *err)
{
	fprintf(out, ERR_TITLE "%s\n", titles[err->kind]);
	block(out, ERR_HEADING_WHAT, err->what);
	const char *lines = err->hint;
	char line[sizeof(((struct err *)0)->hint)];
	int n = 0;
	if (lines[0]) {
		fputs("\n" ERR_HEADING_HINT "\n", out);
		while (*lines) {
			size_t len = strcspn(lines, "\n");
			memcpy(line, lines, len);
			line[len] = '\0';
			int column = fprintf(out, "%*s%d  ", MARGIN, "", ++n);
			help_wrap(out, column, column, line);
			lines += len + (lines[len] == '\n');
		}
	}
	block(out, ERR_HEADING_DETAILS, err->details);
}

void report_note(FILE *out, const char *note)
{
	char line[512];

	if (!*note)
		return;
	clean_text(line, sizeof(line), note, strlen(note));
	fprintf(out, "note: %s\n", line);
}

/* --- progress of attaching ----------------------------------------------------------------------------- */

static bool progress_go_on(void *ctx)
{
	struct progress *p = ctx;
	uint64_t waited_ns = clock_mono_ns() - p->begin_ns;

	if (p->stop && *p->stop)
		return false;
	if (waited_ns < PROGRESS_FIRST_NS || !isatty(STDERR_FILENO))
		return true;
	fprintf(stderr, "\r\033[Kattaching to %d %.40s ... %d s  (Ctrl-C cancels)",
		(int)p->jvm->pid, p->jvm->name, (int)(waited_ns / NS_PER_S));
	fflush(stderr);
	p->shown = true;
	return true;
}

struct patience progress_begin(
	struct progress *p, const struct hotspot *jvm, const volatile sig_atomic_t *stop)
{
	*p = (struct progress){.jvm = jvm, .stop = stop, .begin_ns = clock_mono_ns()};
	return (struct patience){progress_go_on, p};
}

void progress_done(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
