/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, generated from the tables of verbs and options. */
#include "cli/line/help.h"

#include <stdbool.h>
#include <string.h>

#define WIDTH         80
#define OPTION_COLUMN 28

/* Prints one line of text from this column on. A line that begins with a blank is already laid out. */
static void wrap_line(FILE *out, int column, int margin, const char *text, size_t len)
{
	const char *end = text + len;
	bool first = true;

	if (*text == ' ') {
		fwrite(text, 1, len, out);
		text = end;
	}
	while (text < end) {
		int word = (int)strcspn(text, " \n");

		if (!first && column + 1 + word >= WIDTH) {
			fprintf(out, "\n%*s", margin, "");
			column = margin;
		} else if (!first) {
			fputc(' ', out);
			column++;
		}
		fwrite(text, 1, (size_t)word, out);
		column += word;
		text += word;
		text += strspn(text, " ");
		first = false;
	}
	fputc('\n', out);
}

void help_wrap(FILE *out, int column, int margin, const char *text)
{
	for (; column < margin; column++)
		fputc(' ', out);
	while (*text) {
		size_t len = strcspn(text, "\n");

		wrap_line(out, column, margin, text, len);
		text += len + (text[len] == '\n');
		if (*text)
			fprintf(out, "%*s", *text == '\n' ? 0 : margin, "");
		column = margin;
	}
}

void help_verb(FILE *out, const struct verb *verb)
{
	fprintf(out, "Usage: jhot %s %s\n\n", verb->name, verb->synopsis);
	help_wrap(out, 0, 0, verb->text ? verb->text : verb->help);
	fputs("\nOptions:\n", out);
	for (const struct option_def *o = options; o->name; o++)
		if (o->help && o->verbs & (unsigned)verb->bit) {
			char left[64];
			int n = o->letter ? snprintf(left, sizeof(left), "  -%c, --%s", o->letter,
						    o->name)
					  : snprintf(left, sizeof(left), "      --%s", o->name);

			if (o->arg)
				n += snprintf(left + n, sizeof(left) - (size_t)n, "%c%s",
					o->letter ? ' ' : '=', o->arg);
			fputs(left, out);
			if (n > OPTION_COLUMN - 2) {
				fputc('\n', out);
				n = 0;
			}
			help_wrap(out, n, OPTION_COLUMN, o->help);
		}
}

void help_main(FILE *out)
{
	fputs("jhot " JHOT_VERSION
	      ": a live profiler that shows what a running JVM spends its time on\n\n"
	      "Usage: jhot [PID|NAME]        profile this JVM, or choose one from a list\n"
	      "       jhot FILE...           open recordings and other profiles\n"
	      "       jhot VERB [ARGUMENT]...\n\nVerbs:\n",
		out);
	for (const struct verb *const *v = verbs; *v; v++)
		fprintf(out, "  %-10s%s\n", (*v)->name, (*v)->help);
	fputs("\n`jhot VERB --help` lists the options of a verb. See also man jhot.\n", out);
}
