/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of files. With the events cpu and lock, -o '/data/%n-%t.svg' expands to
 *
 *   paths    /data/Shop-20260131-142959-cpu.svg   /data/Shop-20260131-142959-lock.svg
 *   regex    ^Shop[-][0-9]{8}-[0-9]{6}[-](cpu|lock)(-[a-z][a-z0-9_-]*)?[.]svg$
 *
 * The optional part of the regular expression is the word of a trigger (recorder/triggers.h).
 */
#include "cli/outputs/outputs.h"

#include "base/buf.h"
#include "base/clock.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORD_MOST     100 /* longest expansion of a pattern, in bytes */
#define VARIABLE_MOST 64  /* longest name of a variable */
#define REGEX_PID     "[0-9]{1,10}"
#define REGEX_START   "[0-9]{8}-[0-9]{6}"
#define REGEX_WORD    "(-[a-z][a-z0-9_-]*)?"

/* Expands the name of an output's files, to the path of one of them or to a regular expression for all. */
struct expansion {
	struct buf out;
	const struct output *f;
	const struct outputs_names *names;
	const struct events *events;
	int event; /* an index into events */
	bool regex;
};

int outputs_file_count(const struct output *f, const struct events *events)
{
	return f->format->together ? 1 : events->count;
}

/* Adds a character that is the same in all names. */
static void expand_char(struct expansion *x, char c)
{
	if (!x->regex || isalnum((unsigned char)c) || (unsigned char)c >= 0x80)
		buf_addc(&x->out, c);
	else
		buf_printf(&x->out, c == '^' ? "\\%c" : "[%c]", c);
}

/* Adds a word as part of a file name, without slashes: "cpu/cache-misses/" as "cpu_cache-misses_". */
static void expand_word(struct expansion *x, const char *word)
{
	for (size_t i = 0; word[i] && i < WORD_MOST; i++) {
		bool keeps = isalnum((unsigned char)word[i]) || strchr("-_.", word[i]);

		expand_char(x, keeps ? word[i] : '_');
	}
}

/*
 * Adds the event of a file: "cpu", or "cpu-lock" if one file stores both. In a regular expression
 * those of all files: "(cpu|lock)".
 */
static void expand_events(struct expansion *x)
{
	bool together = x->f->format->together, first = true;

	if (x->regex)
		buf_addc(&x->out, '(');
	for (int i = 0; i < x->events->count; i++) {
		if (!together && !x->regex && i != x->event)
			continue;
		if (!first && together)
			expand_char(x, '-');
		else if (!first)
			buf_addc(&x->out, '|');
		expand_word(x, x->events->names[i]);
		first = false;
	}
	if (x->regex)
		buf_addc(&x->out, ')');
}

static void expand_start(struct expansion *x)
{
	time_t start = (time_t)(x->names->start_wall_ns / NS_PER_S);
	char text[32];
	struct tm tm;

	if (x->regex)
		buf_adds(&x->out, REGEX_START);
	else if (gmtime_r(&start, &tm) && strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm))
		buf_adds(&x->out, text);
}

const char *outputs_variable(const char *at, size_t *len)
{
	size_t name =
		strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
	char copy[VARIABLE_MOST];

	*len = name + 2;
	if (at[name + 1] != '}' || name >= sizeof(copy))
		return NULL;
	memcpy(copy, at + 1, name);
	copy[name] = '\0';
	return getenv(copy);
}

/* Expands a pattern without its "%". */
static void expand_pattern(struct expansion *x, char pattern)
{
	char host[OUTPUTS_HOST] = "";

	switch (pattern) {
	case 'p':
		if (x->regex)
			buf_adds(&x->out, REGEX_PID);
		else
			buf_printf(&x->out, "%d", x->names->pid);
		break;
	case 'n': expand_word(x, x->names->name); break;
	case 'h':
		gethostname(host, sizeof(host) - 1);
		expand_word(x, host);
		break;
	case 't': expand_start(x); break;
	case 'e': expand_events(x); break;
	default: expand_char(x, '%');
	}
}

/* name: the path of the output, or its last component. Adds "-EVENT" and "-WORD" before the suffix. */
static void expand(struct expansion *x, const char *name)
{
	const char *suffix = name + strlen(name) - export_format_suffix(x->f->format, name);

	for (const char *at = name; at < suffix; at++) {
		if (at[0] == '%' && at[1] == '{') {
			size_t len;
			const char *value = outputs_variable(at + 1, &len);

			expand_word(x, value ? value : "");
			at += len;
		} else if (*at == '%')
			expand_pattern(x, *++at);
		else
			expand_char(x, *at);
	}
	if (!strstr(x->f->path, "%e") && outputs_file_count(x->f, x->events) > 1) {
		expand_char(x, '-');
		expand_events(x);
	}
	if (x->regex) {
		buf_adds(&x->out, REGEX_WORD);
	} else if (x->names->word) {
		buf_addc(&x->out, '-');
		expand_word(x, x->names->word);
	}
	for (; *suffix; suffix++)
		expand_char(x, *suffix);
}

char *outputs_path(const struct output *f, const struct outputs_names *names,
	const struct events *events, int event)
{
	struct expansion x = {.f = f, .names = names, .events = events, .event = event};

	if (outputs_is_stdout(f))
		return xstrdup("/dev/stdout");
	expand(&x, f->path);
	return buf_steal(&x.out);
}

char *outputs_name_regex(
	const struct output *f, const struct outputs_names *names, const struct events *events)
{
	struct expansion x = {.f = f, .names = names, .events = events, .regex = true};
	const char *slash = strrchr(f->path, '/');

	buf_addc(&x.out, '^');
	expand(&x, slash ? slash + 1 : f->path);
	buf_addc(&x.out, '$');
	return buf_steal(&x.out);
}
