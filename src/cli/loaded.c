/* SPDX-License-Identifier: Apache-2.0 */
/* Translates options of the agent. */
#include "cli/loaded.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

/* Options that have another name in `jhot record`. NULL: they have no meaning there. */
static const struct {
	const char *agent, *record;
} names[] = {
	{"start", NULL},
	{"jhot", NULL},
	{"file", "output"},
	{"loop", "rotate"},
};

/* Events are options of the agent: "alloc=512k" is "--event=alloc=512k". */
static const char *const events[] = {"cpu", "alloc", "lock", "wall"};

static int add(
	struct loaded *l, const char *before, const char *text, size_t bytes, struct err *err)
{
	struct buf word = {0};

	if (l->count == LOADED_WORDS)
		return err_set(err, ERR_USAGE, "The agent has more than %d options.", LOADED_WORDS);
	buf_adds(&word, before);
	buf_add(&word, text, bytes);
	l->words[l->count++] = buf_steal(&word);
	return 0;
}

/* Adds an option, "NAME" or "NAME=VALUE". bytes: its length; it is not NUL-terminated. */
static int add_option(struct loaded *l, const char *text, size_t bytes, struct err *err)
{
	size_t name = 0;

	while (name < bytes && text[name] != '=')
		name++;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strlen(events[i]) == name && !memcmp(text, events[i], name))
			return add(l, "--event=", text, bytes, err);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct buf before = {0};

		if (strlen(names[i].agent) != name || memcmp(text, names[i].agent, name) != 0)
			continue;
		if (!names[i].record)
			return 0;
		buf_printf(&before, "--%s", names[i].record);
		int rc = add(l, buf_str(&before), text + name, bytes - name, err);
		buf_done(&before);
		return rc;
	}
	return add(l, "--", text, bytes, err);
}

int loaded_parse(struct loaded *l, const char *text, const char *pid, struct err *err)
{
	size_t bytes = strcspn(text, ",");

	*l = (struct loaded){0};
	int rc = add(l, "--token=", text, bytes, err);
	while (!rc && text[bytes]) {
		text += bytes + 1;
		bytes = strcspn(text, ",");
		if (bytes)
			rc = add_option(l, text, bytes, err);
	}
	return rc ? -1 : add(l, "", pid, strlen(pid), err);
}

void loaded_done(struct loaded *l)
{
	for (int i = 0; i < l->count; i++)
		free(l->words[i]);
}
