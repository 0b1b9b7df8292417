/* SPDX-License-Identifier: Apache-2.0 */
/* Translates options of the agent. */
#include "cli/loaded.h"

#include "base/buf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Options that are named differently in `jhot record`. "": without effect there. */
static const struct {
	const char *agent, *record;
} names[] = {
	{"start", ""},
	{"jhot", ""},
	{"event", "-e"},
	{"interval", "-i"},
	{"file", "-o"},
	{"loop", "--rotate"},
};

/* Events that are options of their own: "alloc=512k". */
static const char *const events[] = {"cpu", "alloc", "lock", "wall"};

static bool is(const char *name, size_t bytes, const char *other)
{
	return strlen(other) == bytes && !memcmp(name, other, bytes);
}

static int add(struct loaded *l, char *word, struct err *err)
{
	if (l->count == LOADED_WORDS)
		return err_set(err, ERR_USAGE, "The agent's options are too many.");
	l->words[l->count++] = word;
	return 0;
}

/* "NAME" or "NAME=VALUE" as one or two words. `text` is modified, and has two bytes of space before it. */
static int add_option(struct loaded *l, char *text, struct err *err)
{
	size_t bytes = strcspn(text, "=");
	char *value = text[bytes] ? text + bytes + 1 : NULL;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (is(text, bytes, events[i]))
			return add(l, (char *)"-e", err) || add(l, text, err) ? -1 : 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!is(text, bytes, names[i].agent))
			continue;
		if (!*names[i].record)
			return 0;
		if (!value)
			return err_set(err, ERR_USAGE, "The agent's option %s needs a value.",
				names[i].agent);
		return add(l, (char *)names[i].record, err) || add(l, value, err) ? -1 : 0;
	}
	memcpy(text - 2, "--", 2);
	return add(l, text - 2, err);
}

int loaded_parse(struct loaded *l, const char *text, const char *pid, struct err *err)
{
	struct buf spaced = {0};
	int rc = 0;

	*l = (struct loaded){0};
	for (; *text;
		text++) { /* each option after "\\0\\0\\0": one ends the last, two are space for "--" */
		if (*text == ',')
			buf_add(&spaced, "\0\0", 3);
		else
			buf_addc(&spaced, *text);
	}
	buf_add(&spaced, "\0\0", 3);
	l->text = buf_steal(&spaced);
	l->token = l->text;
	for (char *at = l->text + strlen(l->text) + 3; !rc && *at; at += strlen(at) + 3) {
		char *next = at + strlen(at) + 3;

		rc = add_option(l, at, err);
		if (rc || !*next)
			break;
	}
	return rc || add(l, (char *)"--token", err) || add(l, l->token, err) ||
			       add(l, (char *)pid, err)
		       ? -1
		       : 0;
}

void loaded_done(struct loaded *l)
{
	free(l->text);
}
