/* SPDX-License-Identifier: Apache-2.0 */
/* The sections keys and colors of the settings file. */
#include "base/utf8.h"
#include "tui/config/parse.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *shown;
	int key;
} key_names[] = {
	{"space", "space", ' '},
	{"enter", "Enter", TKEY_ENTER},
	{"esc", "Esc", TKEY_ESC},
	{"tab", "Tab", TKEY_TAB},
	{"backtab", "S-Tab", TKEY_BACK_TAB},
	{"up", "Up", TKEY_UP},
	{"down", "Down", TKEY_DOWN},
	{"left", "Left", TKEY_LEFT},
	{"right", "Right", TKEY_RIGHT},
	{"pageup", "PgUp", TKEY_PAGE_UP},
	{"pagedown", "PgDn", TKEY_PAGE_DOWN},
	{"home", "Home", TKEY_HOME},
	{"end", "End", TKEY_END},
	{"backspace", "Backspace", TKEY_BACKSPACE},
	{"delete", "Del", TKEY_DELETE},
};
#define KEY_NAMES (sizeof(key_names) / sizeof(key_names[0]))

/* Parses "space", "enter", "^L", "x"...; TKEY_NONE if it is not a key. */
static int config_key(const char *name)
{
	const char *at = name;
	uint32_t ch = text_next(&at);

	if (ch > ' ' && ch != 0x7f && !*at)
		return (int)ch;
	if (ch == '^' && strlen(name) == 2 && name[1] >= '@' && name[1] <= '~')
		return TKEY_CTRL(name[1]);
	for (size_t i = 0; i < KEY_NAMES; i++)
		if (!strcmp(key_names[i].name, name))
			return key_names[i].key;
	return TKEY_NONE;
}

static const char *key_shown(int key, const char *word)
{
	for (size_t i = 0; i < KEY_NAMES; i++)
		if (key_names[i].key == key)
			return key_names[i].shown;
	return word;
}

/* The distinct arguments of a command's keys, in the order of the table. Returns how many. */
static int key_args(const struct command *c, int args[COMMAND_KEYS])
{
	int n = 0;

	for (const struct command_key *k = c->keys; k->key; k++) {
		bool known = false;

		for (int i = 0; i < n; i++)
			known |= args[i] == k->arg;
		if (!known)
			args[n++] = k->arg;
	}
	return n;
}

int config_set_keys(struct config *c, const struct config_line *l, struct err *err)
{
	int index = 0, args[COMMAND_KEYS], n = 0, meanings;
	const char *at = l->value;
	struct config_keys *keys;
	char word[64];

	while (index < command_count && strcmp(commands[index].name, l->name) != 0)
		index++;
	if (index == command_count) {
		config_refuse(l, err, "unknown command \"%s\".", l->name);
		err_hint(err, "man jhot lists the commands under FILES");
		return -1;
	}
	keys = &c->keys[index];
	if (keys->line)
		return config_refuse(
			l, err, "the keys of %s are already set in line %d.", l->name, keys->line);
	meanings = key_args(&commands[index], args);
	keys->line = l->number;
	for (; config_word(&at, word, sizeof(word)); n++) {
		int key = config_key(word);
		size_t used = strlen(keys->shown);

		if (key == TKEY_NONE)
			return config_refuse(l, err, "\"%s\" is not a key.", word);
		if (n >= COMMAND_KEYS - 1)
			return config_refuse(
				l, err, "a command has at most %d keys.", COMMAND_KEYS - 1);
		keys->keys[n] = (struct command_key){key, args[n % meanings]};
		if (n < meanings)
			snprintf(keys->shown + used, sizeof(keys->shown) - used, "%s%s",
				n ? " " : "", key_shown(key, word));
	}
	if (!n || n % meanings)
		return config_refuse(l, err, "%s takes %d key%s, or a multiple, not %d.", l->name,
			meanings, meanings > 1 ? "s" : "", n);
	return 0;
}

static const struct command_key *keys_of(const struct config *c, int command)
{
	return c->keys[command].line ? c->keys[command].keys : commands[command].keys;
}

static int refuse_double(
	const struct config *c, const char *path, int a, int b, int key, struct err *err)
{
	/* Report the later of the two lines; at least one binding is from the file. */
	int mine = c->keys[a].line > c->keys[b].line ? a : b, other = mine == a ? b : a;
	struct config_line l = {.path = path, .number = c->keys[mine].line};
	char line[24] = "", text[5] = "", control[3] = {'^', (char)(key | 0x40), '\0'};

	if (key > ' ' && key < TKEY_UP)
		utf8_put((uint32_t)key, text);
	const char *shown = key_shown(key, key < ' ' ? control : text);
	if (a == b)
		return config_refuse(
			&l, err, "the key %s is listed twice in %s.", shown, commands[mine].name);
	if (c->keys[other].line)
		snprintf(line, sizeof(line), " (line %d)", c->keys[other].line);
	return config_refuse(&l, err, "the key %s of %s is also a key of %s%s.", shown,
		commands[mine].name, commands[other].name, line);
}

int config_check_keys(const struct config *c, const char *path, struct err *err)
{
	for (int a = 0; a < command_count; a++) {
		for (int b = a; b < command_count; b++) {
			if (!(commands[a].views & commands[b].views) ||
				(!c->keys[a].line && !c->keys[b].line))
				continue;
			for (const struct command_key *k = keys_of(c, a); k->key; k++)
				for (const struct command_key *o = a == b ? k + 1 : keys_of(c, b);
					o->key; o++)
					if (k->key == o->key)
						return refuse_double(c, path, a, b, k->key, err);
		}
	}
	return 0;
}

static int place_of(const char *const *names, int n, const char *word)
{
	while (n-- > 0 && strcmp(names[n], word) != 0)
		;
	return n;
}

/* Applies one word; *color is the field that the next color sets. Returns false for an unknown word. */
static bool color_add_word(struct appearance *appearance, int16_t **color, const char *word)
{
	static const char *const colors[] = {
		"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"};
	static const char *const attrs[] = {"bold", "dim", "reverse", "underline"};
	int name = place_of(colors, 8, word), attr = place_of(attrs, 4, word);
	char *end;
	long number = strtol(word, &end, 10);

	if (*word >= '0' && *word <= '9' && !*end && number <= 255)
		**color = (int16_t)number;
	else if (name >= 0 || !strcmp(word, "default"))
		**color = (int16_t)name;
	else if (attr >= 0)
		appearance->attrs |= (uint8_t)(ATTR_BOLD << attr);
	else if (!strcmp(word, "on"))
		*color = &appearance->bg;
	else
		return false;
	return true;
}

int config_set_color(struct config *c, const struct config_line *l, struct err *err)
{
	struct appearance appearance = {-1, -1, 0};
	const char *at = l->value;
	int style = theme_find(l->name);
	int16_t *color = &appearance.fg;
	char word[64];

	if (style < 0) {
		struct buf known = {0};

		for (int i = 0; theme_name((enum style)i); i++)
			buf_printf(&known, "%s%s", i ? ", " : "", theme_name((enum style)i));
		config_refuse(
			l, err, "unknown style \"%s\"; known are %s.", l->name, buf_str(&known));
		buf_done(&known);
		return -1;
	}
	if (c->appearance_set[style])
		return config_refuse(l, err, "the colors of %s are set twice.", l->name);
	while (config_word(&at, word, sizeof(word)))
		if (!color_add_word(&appearance, &color, word))
			return config_refuse(l, err,
				"\"%s\" is not a color: a color is a name (black red green "
				"yellow "
				"blue magenta cyan white default) or a number up to 255, then "
				"\"on\" and the background, then bold dim reverse underline.",
				word);
	c->appearance_set[style] = true;
	c->appearances[style] = appearance;
	return 0;
}
