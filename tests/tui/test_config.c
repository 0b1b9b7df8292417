/* SPDX-License-Identifier: Apache-2.0 */
/* The settings file: valid settings, every error with its line number, and values written back. */
#include "tests/tap.h"
#include "tui/config/config.h"

#include <stdlib.h>
#include <string.h>

static void refused(const char *text, const char *why)
{
	struct err err = {0};
	struct config *c = config_parse(text, "F", &err);

	if (!ok(!c && strstr(err.what, why), "a wrong line is refused with: %s", why))
		diag("of \"%s\": %s", text, c ? "accepted" : err.what);
	config_free(c);
}

static void test_errors(void)
{
	refused("windows = 10s\n",
		"F, line 1: unknown setting \"windows\"; known are event, window,");
	refused("\n\nwindow = 10\n",
		"F, line 3: window takes 1s, 5s, 10s, 30s, 1m, all, not \"10\".");
	refused("window = 10s\nwindow = 5s\n", "F, line 2: window is already set in line 1.");
	refused("delay = 0\n", "delay takes seconds between 0.1 and 3600");
	refused("delay = nan\n", "delay takes seconds");
	refused("delay = 1s\n", "delay takes seconds");
	refused("mouse = yes\n", "mouse takes off, on");
	refused("format = svg\n", "format takes the suffix");
	refused("event\n", "a line is \"name = value\"");
	refused("= cpu\n", "a line is \"name = value\"");
	refused("event =\n", "event has no value");
	refused("}\n", "a } without a section");
	refused("keys {\n quit = Q\n", "line 1: the section that begins here has no }");
	refused("keys {\ncolors {\n}\n}\n",
		"line 2: a section inside the section that begins in line 1");
	refused("kyes {\n}\n", "unknown section \"kyes\"");
	refused("keys {\n quitt = Q\n}\n", "line 2: unknown command \"quitt\"");
	refused("keys {\n quit = hello\n}\n", "\"hello\" is not a key");
	refused("keys {\n quit =\n}\n", "quit takes 1 key, or a multiple, not 0");
	refused("keys {\n window = (\n}\n", "window takes 2 keys, or a multiple, not 1");
	refused("keys {\n quit = Q\n quit = X\n}\n",
		"line 3: the keys of quit are already set in line 2");
	refused("keys {\n quit = Q Q\n}\n", "the key Q is listed twice in quit");
	refused("keys {\n quit = /\n}\n", "the key / of quit is also a key of find");
	refused("keys {\n quit = A\n find = A\n}\n",
		"line 3: the key A of find is also a key of quit (line 2)");
	refused("keys {\n quit = ^L\n}\n", "the key ^L of quit is also a key of redraw");
	refused("keys {\n quit = 1 2 3 4 5 6 7 8 9 0\n}\n", "at most 9 keys");
	refused("colors {\n cursr = red\n}\n", "unknown style \"cursr\"");
	refused("colors {\n cursor = pink\n}\n", "\"pink\" is not a color");
	refused("colors {\n cursor = 256\n}\n", "\"256\" is not a color");
	refused("colors {\n cursor = red\n cursor = blue\n}\n",
		"the colors of cursor are set twice");
}

static const struct command *command_named(const char *name, int *index)
{
	for (*index = 0; *index < command_count; ++*index)
		if (!strcmp(commands[*index].name, name))
			return &commands[*index];
	return NULL;
}

static void test_values(void)
{
	struct err err = {0};
	int i;
	struct config *c = config_parse("# mine\nevent = alloc # first\n  window=1m\ndelay = 2.5\n"
					"names = class\ncolor = 16\ncharset = ascii\nmouse = on\n"
					"format = .collapsed\nframework = org.a. org.b.\n"
					"framework = org.c.   # more\n"
					"keys {\n\tquit = Q ^X\n\twindow = ( ) { }\n\tattach = #\n"
					"\tfreeze = space\n}\n"
					"colors {\n\tcursor = black on 208 bold\n\tkey = default "
					"underline\n}\n",
		"F", &err);

	if (!ok(c != NULL, "a file with every kind of setting is accepted: %s", err.what))
		return;
	ok(c->event == EVENT_ALLOC && c->window == 4 && c->delay_ms == 2500 && c->names == 1,
		"event, window, delay and names are set");
	ok(c->color == APP_COLOR_16 && c->charset == APP_CHARSET_ASCII && c->mouse &&
			!strcmp(c->format, ".collapsed"),
		"color, charset, mouse and format are set");
	ok(c->framework_count == 3 && !strcmp(config_framework(c)[2], "org.c.") &&
			!config_framework(c)[3],
		"several framework lines add up");
	command_named("quit", &i);
	ok(c->keys[i].keys[0].key == 'Q' && c->keys[i].keys[1].key == 24 &&
			!c->keys[i].keys[2].key &&
			c->keys[i].keys[1].arg == commands[i].keys[0].arg,
		"a command with one meaning gets all listed keys");
	is_str(c->keys[i].shown, "Q", "the first key of the command is displayed");
	command_named("window", &i);
	ok(c->keys[i].keys[2].key == '{' && c->keys[i].keys[2].arg == -1 &&
			c->keys[i].keys[3].arg == 1,
		"keys of a command with two meanings alternate between them");
	is_str(c->keys[i].shown, "( )", "the first key of each meaning is displayed");
	command_named("attach", &i);
	is_int(c->keys[i].keys[0].key, '#', "# after = is a key, not a comment");
	command_named("freeze", &i);
	is_str(c->keys[i].shown, "space", "named keys are accepted");
	ok(c->appearance_set[STYLE_CURSOR] && c->appearances[STYLE_CURSOR].fg == 0 &&
			c->appearances[STYLE_CURSOR].bg == 208 &&
			c->appearances[STYLE_CURSOR].attrs == ATTR_BOLD,
		"a style's colors and attributes are set");
	ok(c->appearances[STYLE_KEY].fg == -1 && c->appearances[STYLE_KEY].attrs == ATTR_UNDERLINE,
		"\"default\" is the terminal's own color");
	config_free(c);
	c = config_parse("framework =\n", "F", &err);
	ok(c && !config_framework(c)[0], "an empty framework list is empty");
	config_free(c);
	c = config_parse("", "F", &err);
	ok(c && c->event == -1 && c->window == -1 && !c->delay_ms && config_framework(c)[0],
		"an empty file sets nothing");
	config_free(c);
}

static const struct config_values values = {.event = "wall",
	.window = "30s",
	.names = "method",
	.color = "256",
	.mouse = "off",
	.format = ".svg",
	.delay = "5"};

static void test_write(void)
{
	struct buf out = {0}, again = {0};
	struct err err = {0};
	struct config *c;

	config_write(NULL, &values, &out);
	c = config_parse(buf_str(&out), "F", &err);
	ok(c && c->event == EVENT_WALL && c->window == 3 && c->delay_ms == 5000 && c->names == 2 &&
			c->color == APP_COLOR_256 && !strcmp(c->format, ".svg"),
		"a file written by config_write can be read: %s", err.what);
	config_free(c);
	ok(strstr(buf_str(&out), "#\tfreeze = ...    # space: freeze\n") != NULL,
		"the written file lists the commands");
	config_write(buf_str(&out), &values, &again);
	is_str(buf_str(&again), buf_str(&out), "writing the same values changes nothing");
	buf_clear(&again);
	config_write("# my own\n\nwindow =  5s   # short\n#event = cpu\nkeys {\n\twindow = ( )\n}\n"
		     "framework = a. b.",
		&values, &again);
	is_str(buf_str(&again),
		"# my own\n\nwindow =  30s   # short\n#event = cpu\nkeys {\n\twindow = ( )\n}\n"
		"framework = a. b.\n\n"
		"event = wall    # cpu alloc lock wall: first event shown\n"
		"delay = 5    # seconds between two screens\n"
		"names = method    # full class method\n"
		"color = 256    # auto never 16 256\n"
		"mouse = off    # off on\n"
		"format = .svg    # of files written by x: a suffix\n",
		"writing keeps comments, blanks, keys and other settings");
	c = config_parse(buf_str(&again), "F", &err);
	ok(c && c->framework_count == 2, "the rewritten file can be read: %s", err.what);
	config_free(c);
	buf_done(&out);
	buf_done(&again);
}

/* Random text is accepted, or is an error that names the line. */
static void test_noise(void)
{
	static const char alphabet[] = "kegsy window=delay{}#^ \t\n\"()/q10sx.\303\244";
	uint64_t rng = 88172645463325252ull;
	int unexplained = 0;

	for (int round = 0; round < 20000; round++) {
		struct err err = {0};
		char text[120];
		struct config *c;

		for (size_t i = 0; i < sizeof(text) - 1; i++) {
			rng ^= rng << 13;
			rng ^= rng >> 7;
			rng ^= rng << 17;
			text[i] = alphabet[rng % (sizeof(alphabet) - 1)];
		}
		text[rng % 119] = '\0';
		text[119] = '\0';
		c = config_parse(text, "F", &err);
		unexplained += !c && !strstr(err.what, "F, line ");
		config_free(c);
	}
	is_int(unexplained, 0, "of 20000 random texts each is accepted or an error with its line");
}

int main(void)
{
	test_errors();
	test_values();
	test_write();
	test_noise();
	return tap_done();
}
