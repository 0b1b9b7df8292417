/* SPDX-License-Identifier: Apache-2.0 */
/* The settings file, line by line. */
#include "tui/config/config.h"

#include "base/clock.h"
#include "tui/config/parse.h"
#include "tui/screen/name.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frameworks and the JDK's machinery that stands between an application's frames. Not its collections, its
 * text or its compilers: where those are hot, that is what one looks for. */
static const char *const framework_default[] = {"java.lang.reflect.", "jdk.internal.reflect.",
	"sun.reflect.", "java.lang.invoke.", "java.util.stream.",
	"java.util.concurrent.ThreadPoolExecutor", "java.util.concurrent.FutureTask",
	"java.util.concurrent.ForkJoin", "java.util.concurrent.Executors",
	"java.util.concurrent.CompletableFuture", "sun.rmi.", "org.springframework.",
	"org.apache.catalina.", "org.apache.coyote.", "org.apache.tomcat.", "org.eclipse.jetty.",
	"io.netty.", "io.undertow.", "io.quarkus.", "io.micronaut.", "io.vertx.",
	"jakarta.servlet.", "javax.servlet.", "org.hibernate.", "com.zaxxer.hikari.", "reactor.",
	"akka.", "org.glassfish.", "org.junit.", NULL};

const char *const *config_framework(const struct config *c)
{
	return c && c->framework ? (const char *const *)c->framework : framework_default;
}

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
	size_t n;

	*s += strspn(*s, " \t");
	n = strcspn(*s, " \t");
	if (!n)
		return false;
	snprintf(out, bytes, "%.*s", (int)n, *s);
	*s += n;
	return true;
}

/* --- settings ---------------------------------------------------------------------------------------- */

struct choice {
	const char *name;
	int value;
};

static const struct choice windows[] = {
	{"5s", 0}, {"10s", 1}, {"30s", 2}, {"1m", 3}, {"all", 4}, {NULL, 0}};
static const struct choice names[] = {
	{"full", NAME_FULL}, {"class", NAME_CLASS}, {"method", NAME_METHOD}, {NULL, 0}};
static const struct choice colors[] = {{"never", APP_COLOR_NEVER}, {"16", APP_COLOR_16},
	{"256", APP_COLOR_256}, {"auto", APP_COLOR_AUTO}, {NULL, 0}};
static const struct choice charsets[] = {{"auto", APP_CHARSET_AUTO}, {"ascii", APP_CHARSET_ASCII},
	{"utf-8", APP_CHARSET_UTF8}, {NULL, 0}};
static const struct choice switches[] = {{"on", 1}, {"off", 0}, {NULL, 0}};
static const struct choice events[] = {{"cpu", EVENT_CPU}, {"alloc", EVENT_ALLOC},
	{"lock", EVENT_LOCK}, {"wall", EVENT_WALL}, {NULL, 0}};

static int choose(
	const struct config_line *l, const struct choice *among, int *out, struct err *err)
{
	struct buf known = {0};

	for (const struct choice *c = among; c->name; c++) {
		if (!strcmp(c->name, l->value)) {
			*out = c->value;
			buf_done(&known);
			return 0;
		}
		buf_printf(&known, "%s%s", known.len ? ", " : "", c->name);
	}
	config_refuse(l, err, "%s takes %s, not \"%s\".", l->name, buf_str(&known), l->value);
	buf_done(&known);
	return -1;
}

static int set_event(struct config *c, const struct config_line *l, struct err *err)
{
	return choose(l, events, &c->event, err);
}

static int set_window(struct config *c, const struct config_line *l, struct err *err)
{
	return choose(l, windows, &c->window, err);
}

static int set_names(struct config *c, const struct config_line *l, struct err *err)
{
	return choose(l, names, &c->names, err);
}

static int set_color(struct config *c, const struct config_line *l, struct err *err)
{
	int value, rc = choose(l, colors, &value, err);

	if (!rc)
		c->color = (enum app_color)value;
	return rc;
}

static int set_charset(struct config *c, const struct config_line *l, struct err *err)
{
	int value, rc = choose(l, charsets, &value, err);

	if (!rc)
		c->charset = (enum app_charset)value;
	return rc;
}

static int set_mouse(struct config *c, const struct config_line *l, struct err *err)
{
	int value, rc = choose(l, switches, &value, err);

	if (!rc)
		c->mouse = value;
	return rc;
}

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

/* The one setting that may be given again: each line adds to the list. */
static int set_framework(struct config *c, const struct config_line *l, struct err *err)
{
	const char *at = l->value;
	char word[sizeof(l->value)];

	while (config_word(&at, word, sizeof(word))) {
		c->framework = xreallocarray(
			c->framework, (size_t)c->framework_count + 2, sizeof(*c->framework));
		c->framework[c->framework_count++] = xstrdup(word);
		c->framework[c->framework_count] = NULL;
	}
	if (!c->framework)
		c->framework = xcalloc(1, sizeof(*c->framework)); /* an empty list hides nothing */
	return 0;
}

static const struct setting {
	const char *name;
	int (*set)(struct config *c, const struct config_line *l, struct err *err);
	bool again, empty; /* may be given more than once; without a value */
} settings[] = {
	{"event", set_event, false, false},
	{"window", set_window, false, false},
	{"delay", set_delay, false, false},
	{"names", set_names, false, false},
	{"color", set_color, false, false},
	{"charset", set_charset, false, false},
	{"mouse", set_mouse, false, false},
	{"format", set_format, false, false},
	{"framework", set_framework, true, true},
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

/* --- lines ------------------------------------------------------------------------------------------- */

enum section { SECTION_NONE, SECTION_KEYS, SECTION_COLORS };

struct parser {
	struct config *config;
	struct config_line line;
	enum section section;
	int section_line;
	int seen[SETTINGS]; /* the line of each, 0: not yet */
	int seen_look[STYLE_COUNT];
};

static int parse_setting(struct parser *p, struct err *err)
{
	const struct config_line *l = &p->line;
	struct buf known = {0};

	for (size_t i = 0; i < SETTINGS; i++) {
		buf_printf(&known, "%s%s", i ? ", " : "", settings[i].name);
		if (strcmp(settings[i].name, l->name))
			continue;
		buf_done(&known);
		if (p->seen[i] && !settings[i].again)
			return config_refuse(
				l, err, "%s was set in line %d already.", l->name, p->seen[i]);
		p->seen[i] = l->number;
		if (!*l->value && !settings[i].empty)
			return config_refuse(l, err, "%s has no value.", l->name);
		return settings[i].set(p->config, l, err);
	}
	config_refuse(l, err,
		"there is no setting \"%s\"; there are %s, and the sections keys { } and colors { "
		"}.",
		l->name, buf_str(&known));
	buf_done(&known);
	return -1;
}

static char *trim(char *s)
{
	char *end;

	s += strspn(s, " \t");
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

/* A comment begins with # at the start of a line or behind a blank: `find = #` is a key. */
static void cut_comment(char *s)
{
	char *value = strchr(s, '=');

	for (char *at = s; *at; at++) {
		bool first = at == s + strspn(s, " \t");

		/* the first word of a value may be a # itself */
		if (*at != '#' || !(first || at[-1] == ' ' || at[-1] == '\t'))
			continue;
		if (value && at > value && at == value + 1 + strspn(value + 1, " \t") &&
			(at[1] == '\0' || at[1] == ' ' || at[1] == '\t' || at[1] == '\n'))
			continue;
		*at = '\0';
		return;
	}
}

static int parse_open(struct parser *p, const char *name, struct err *err)
{
	if (p->section)
		return config_refuse(&p->line, err,
			"a section begins in the one that began in line %d.", p->section_line);
	p->section = !strcmp(name, "keys")     ? SECTION_KEYS
		     : !strcmp(name, "colors") ? SECTION_COLORS
					       : SECTION_NONE;
	p->section_line = p->line.number;
	if (!p->section)
		return config_refuse(&p->line, err,
			"there is no section \"%s\"; there are keys { } and colors { }.", name);
	return 0;
}

static int parse_line(struct parser *p, char *text, struct err *err)
{
	static int (*const set[])(struct config *, const struct config_line *, struct err *) = {
		[SECTION_KEYS] = config_set_keys, [SECTION_COLORS] = config_set_look};
	char *eq, *end;

	cut_comment(text);
	text = trim(text);
	end = text + strlen(text);
	eq = strchr(text, '=');
	if (!*text)
		return 0;
	if (!strcmp(text, "}")) {
		if (!p->section)
			return config_refuse(&p->line, err, "a } without its section.");
		p->section = SECTION_NONE;
		return 0;
	}
	if (!eq && end[-1] == '{') {
		end[-1] = '\0';
		return parse_open(p, trim(text), err);
	}
	if (!eq || eq == text)
		return config_refuse(
			&p->line, err, "a line is \"name = value\", not \"%s\".", text);
	*eq = '\0';
	snprintf(p->line.name, sizeof(p->line.name), "%s", trim(text));
	if (strlen(trim(eq + 1)) >= sizeof(p->line.value))
		return config_refuse(&p->line, err, "the value is longer than %d bytes.",
			(int)sizeof(p->line.value) - 1);
	snprintf(p->line.value, sizeof(p->line.value), "%s", trim(eq + 1));
	return p->section ? set[p->section](p->config, &p->line, err) : parse_setting(p, err);
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
		char *line = xstrndup(text, n);

		p.line.number++;
		rc = parse_line(&p, line, err);
		free(line);
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
	free(c->keys);
	free(c);
}
