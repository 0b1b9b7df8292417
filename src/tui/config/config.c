/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the settings file line by line, and updates it. */
#include "tui/config/config.h"

#include "base/clock.h"
#include "tui/config/parse.h"
#include "tui/screen/name.h"

#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum config_kind {
	CONFIG_EMPTY,
	CONFIG_VALUE, /* name = value */
	CONFIG_LONG,  /* a value longer than config_line.value */
	CONFIG_OPEN,  /* name { */
	CONFIG_CLOSE, /* } */
	CONFIG_OTHER
};
/* The settings that W writes come first, in the order of struct config_values. */
#define SETTINGS         11
#define SETTINGS_WRITTEN 7
struct setting {
	const char *name;
	const char *words;   /* allowed values */
	const char *comment; /* comment in a file that W creates; NULL: the words */
	size_t at; /* offset in struct config of the int that gets the index of the value in words */
	/* Parses the value instead; NULL: words and at apply. */
	int (*set)(struct config *c, const struct config_line *l, struct err *err);
};

int config_refuse(const struct config_line *l, struct err *err, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(err, ERR_USAGE, "%s, line %d: %s", l->path, l->number, text);
	err_hint(err, "correct that line, or put a # before it");
	return -1;
}

bool config_word(const char **s, char *out, size_t bytes)
{
	*s += strspn(*s, " \t");
	size_t n = strcspn(*s, " \t");
	if (!n)
		return false;
	snprintf(out, bytes, "%.*s", (int)n, *s);
	*s += n;
	return true;
}

/* --- settings ---------------------------------------------------------------------------------------- */

static int set_delay(struct config *c, const struct config_line *l, struct err *err)
{
	char *end;
	double seconds = strtod(l->value, &end);

	if (end == l->value || *end || !(seconds >= 0.1 && seconds <= 3600))
		return config_refuse(
			l, err, "delay takes seconds between 0.1 and 3600, not \"%s\".", l->value);
	c->delay_ms = (uint64_t)(seconds * 1000 + 0.5);
	return 0;
}

static int set_format(struct config *c, const struct config_line *l, struct err *err)
{
	if (l->value[0] != '.' || strlen(l->value) >= sizeof(c->format))
		return config_refuse(l, err,
			"format takes the suffix of a file, such as .svg, not \"%s\".", l->value);
	strcpy(c->format, l->value);
	return 0;
}

/* Lists may be repeated, and may be empty: each line adds to the list. */
static void add_words(char ***list, int *count, const struct config_line *l)
{
	const char *at = l->value;
	char word[sizeof(l->value)];

	while (config_word(&at, word, sizeof(word))) {
		*list = xreallocarray(*list, (size_t)*count + 2, sizeof(**list));
		(*list)[(*count)++] = xstrdup(word);
		(*list)[*count] = NULL;
	}
	if (!*list)
		*list = xcalloc(1, sizeof(**list));
}

static int set_framework(struct config *c, const struct config_line *l, struct err *err)
{
	(void)err;
	add_words(&c->framework, &c->framework_count, l); /* an empty list hides nothing */
	return 0;
}

static int set_requests(struct config *c, const struct config_line *l, struct err *err)
{
	(void)err;
	add_words(&c->requests, &c->request_count, l);
	return 0;
}

static bool is_list(const struct setting *s)
{
	return s->set == set_framework || s->set == set_requests;
}

#define CHOICE(name) offsetof(struct config, name), NULL
static const struct setting settings[] = {
	{"event", "cpu alloc lock wall", "cpu alloc lock wall: first event shown", CHOICE(event)},
	{"window", "1s 5s 10s 30s 1m all", NULL, CHOICE(window)},
	{"delay", NULL, "seconds between two screens", 0, set_delay},
	{"names", "full class method", NULL, CHOICE(names)},
	{"color", "auto never 16 256", NULL, CHOICE(color)},
	{"mouse", "off on", NULL, CHOICE(mouse)},
	{"format", NULL, "of files written by x: a suffix", 0, set_format},
	{"unsaved", "1m 10m 1h never", NULL, CHOICE(unsaved)},
	{"charset", "auto ascii utf-8", NULL, CHOICE(charset)},
	{"framework", NULL, NULL, 0, set_framework},
	{"requests", NULL, NULL, 0, set_requests},
};
_Static_assert(sizeof(settings) / sizeof(settings[0]) == SETTINGS, "SETTINGS counts them");
_Static_assert(EVENT_WALL == 3 && NAME_METHOD == 2 && APP_COLOR_256 == 3 && APP_CHARSET_UTF8 == 2,
	"the words are in the order of their values");

static int choose(const struct config_line *l, const char *words, int *out, struct err *err)
{
	struct buf known = {0};
	char word[16];

	for (int i = 0; config_word(&words, word, sizeof(word)); i++) {
		buf_printf(&known, "%s%s", i ? ", " : "", word);
		if (strcmp(word, l->value))
			continue;
		*out = i;
		buf_done(&known);
		return 0;
	}
	config_refuse(l, err, "%s takes %s, not \"%s\".", l->name, buf_str(&known), l->value);
	buf_done(&known);
	return -1;
}

/* --- lines ------------------------------------------------------------------------------------------- */

struct parser {
	struct config *config;
	struct config_line line;
	/* Handles the lines of the current section; NULL outside of sections. */
	int (*section)(struct config *c, const struct config_line *l, struct err *err);
	int section_line;
	int seen[SETTINGS]; /* line that set it, 0: not set */
};

static int parse_setting(struct parser *p, struct err *err)
{
	const struct config_line *l = &p->line;
	struct buf known = {0};

	for (size_t i = 0; i < SETTINGS; i++) {
		const struct setting *s = &settings[i];

		buf_printf(&known, "%s%s", i ? ", " : "", s->name);
		if (strcmp(s->name, l->name))
			continue;
		buf_done(&known);
		if (p->seen[i] && !is_list(s))
			return config_refuse(
				l, err, "%s is already set in line %d.", l->name, p->seen[i]);
		p->seen[i] = l->number;
		if (!*l->value && !is_list(s))
			return config_refuse(l, err, "%s has no value.", l->name);
		return s->set ? s->set(p->config, l, err)
			      : choose(l, s->words, (int *)((char *)p->config + s->at), err);
	}
	config_refuse(l, err,
		"unknown setting \"%s\"; known are %s, and the sections keys { } and colors { }.",
		l->name, buf_str(&known));
	buf_done(&known);
	return -1;
}

static char *trim(char *s)
{
	s += strspn(s, " \t");
	char *end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

/* A comment starts with a # that is first on its line or follows a blank; `find = #` binds the key #. */
static void cut_comment(char *s)
{
	char *value = strchr(s, '=');

	for (char *at = s; *at; at++) {
		bool first = at == s + strspn(s, " \t");

		if (*at != '#' || !(first || at[-1] == ' ' || at[-1] == '\t'))
			continue;
		/* A # that is the first word of a value is a key. */
		if (value && at > value && at == value + 1 + strspn(value + 1, " \t") &&
			strchr(" \t", at[1]))
			continue;
		*at = '\0';
		return;
	}
}

static enum config_kind config_read(const char *text, size_t len, struct config_line *l)
{
	char *copy = xstrndup(text, len), *all, *eq;
	enum config_kind kind = CONFIG_EMPTY;

	cut_comment(copy);
	all = trim(copy);
	eq = strchr(all, '=');
	len = strlen(all);
	snprintf(l->value, sizeof(l->value), "%s", all);
	if (!strcmp(all, "}")) {
		kind = CONFIG_CLOSE;
	} else if (eq > all) {
		*eq = '\0';
		kind = strlen(trim(eq + 1)) < sizeof(l->value) ? CONFIG_VALUE : CONFIG_LONG;
		snprintf(l->value, sizeof(l->value), "%s", trim(eq + 1));
	} else if (!eq && len && all[len - 1] == '{') {
		all[len - 1] = '\0';
		kind = CONFIG_OPEN;
	} else if (len) {
		kind = CONFIG_OTHER;
	}
	snprintf(l->name, sizeof(l->name), "%s", trim(all));
	free(copy);
	return kind;
}

static int parse_line(struct parser *p, const char *text, size_t len, struct err *err)
{
	const struct config_line *l = &p->line;
	bool closes;

	switch (config_read(text, len, &p->line)) {
	case CONFIG_EMPTY: return 0;
	case CONFIG_OPEN:
		if (p->section)
			return config_refuse(l, err,
				"a section inside the section that begins in line %d.",
				p->section_line);
		p->section = !strcmp(l->name, "keys")     ? config_set_keys
			     : !strcmp(l->name, "colors") ? config_set_color
							  : NULL;
		p->section_line = l->number;
		return p->section ? 0
				  : config_refuse(l, err,
					    "unknown section \"%s\"; known are keys { } and "
					    "colors { }.",
					    l->name);
	case CONFIG_VALUE:
		return p->section ? p->section(p->config, l, err) : parse_setting(p, err);
	case CONFIG_CLOSE:
		closes = p->section != NULL;
		p->section = NULL;
		return closes ? 0 : config_refuse(l, err, "a } without a section.");
	case CONFIG_LONG:
		return config_refuse(
			l, err, "the value is longer than %d bytes.", (int)sizeof(l->value) - 1);
	default: return config_refuse(l, err, "a line is \"name = value\", not \"%s\".", l->value);
	}
}

struct config *config_parse(const char *text, const char *path, struct err *err)
{
	struct config *c = xcalloc(1, sizeof(*c));
	struct parser p = {.config = c, .line = {.path = path}};
	int rc = 0;

	c->event = c->window = c->names = -1;
	c->keys = xcalloc((size_t)command_count, sizeof(*c->keys));
	while (!rc && text && *text) {
		size_t n = strcspn(text, "\n");

		p.line.number++;
		rc = parse_line(&p, text, n, err);
		text += n + (text[n] == '\n');
	}
	if (!rc && p.section) {
		p.line.number = p.section_line;
		rc = config_refuse(
			&p.line, err, "the section that begins here has no } at its end.");
	}
	if (!rc)
		rc = config_check_keys(c, path, err);
	if (!rc)
		return c;
	config_free(c);
	return NULL;
}

void config_free(struct config *c)
{
	if (!c)
		return;
	for (int i = 0; i < c->framework_count; i++)
		free(c->framework[i]);
	free(c->framework);
	for (int i = 0; i < c->request_count; i++)
		free(c->requests[i]);
	free(c->requests);
	free(c->keys);
	free(c);
}

/* --- writing --------------------------------------------------------------------------------------- */

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

void config_write(const char *old, const struct config_values *v, struct buf *out)
{
	const char *const values[SETTINGS_WRITTEN] = {
		v->event, v->window, v->delay, v->names, v->color, v->mouse, v->format};
	bool done[SETTINGS_WRITTEN] = {0}, inside = false, fresh = !old || !*old, missing = false;

	if (fresh)
		buf_adds(out,
			"# Settings of jhot's live view; `man jhot` explains them. W in the live "
			"view writes the values\n# and leaves everything else as it is.\n\n");
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
	if (!fresh)
		return;
	/* A new file also documents the sections and every command's keys, as comments. */
	buf_adds(out,
		"\n# framework = org.springframework. io.netty.    # what K hides; replaces the "
		"built-in list\n"
		"# requests = com.shop.Gateway.handle    # entry points of requests for jhot why, "
		"beside the built-in ones\n"
		"\n#colors {\n#\tcursor = black on cyan bold\n#}\n"
		"\n#keys {\n");
	for (int i = 0; i < command_count; i++)
		if (commands[i].help)
			buf_printf(out, "#\t%s = ...    # %s: %s\n", commands[i].name,
				commands[i].shown, commands[i].help);
	buf_adds(out, "#}\n");
}
