/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view on common terminals: colors and characters, every size, the mouse, the clipboard, suspend and
 * resume; and the screen always equals what a full repaint would show.
 */
#include "tests/tap.h"
#include "tests/tui/vt.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS 100
#define COLS 300

static char program[4096];

static const struct view_keys {
	const char *name, *keys, *shows;
} views[] = {
	{"methods", "m", "METHOD"},
	{"threads", "t", "THREAD"},
	{"tree", "T", "CALL TREE"},
	{"flame", "f", "all 100%"},
	{"callers", "m\n", "CALLERS"},
	{"help", "m?", "HELP"},
	{"export", "mx", " export "},
};
#define VIEWS (sizeof(views) / sizeof(views[0]))

static struct vt *start(const struct vt_options *o, const char *argument)
{
	const char *argv[] = {program, "step", "warm=40", argument, NULL};
	struct vt *vt = vt_open(o, argv);

	if (vt_frame(vt) < 0)
		diag("no first frame");
	return vt;
}

static void press(struct vt *vt, const char *keys)
{
	for (; *keys; keys++) {
		char one[2] = {*keys, '\0'};

		vt_keys(vt, one);
		vt_frame(vt);
	}
}

/* The first rows as text, which the caller frees. */
static char *whole(struct vt *vt, int rows)
{
	char *all = calloc(1, 1), *more;
	size_t len = 0;

	for (int row = 0; row < rows && all; row++) {
		const char *text = vt_row(vt, row);
		size_t n = strlen(text);

		more = realloc(all, len + n + 2);
		if (!more)
			break;
		all = more;
		memcpy(all + len, text, n + 1);
		strcat(all + len, "\n");
		len += n + 1;
	}
	return all;
}

static bool has_non_ascii(struct vt *vt, int rows)
{
	char *text = whole(vt, rows);
	bool found = false;

	for (const char *c = text; *c; c++)
		found |= (unsigned char)*c > 0x7e;
	free(text);
	return found;
}

/* --- kinds of terminals ------------------------------------------------------------------------------ */

enum depth { MONO, EIGHT, MANY };

static const struct kind {
	const char *term, *argument;
	const char *env;
	enum depth depth;
	bool ascii;
} kinds[] = {
	{"xterm-256color", NULL, NULL, MANY, false},
	{"xterm-256color", "ascii", NULL, MANY, true},
	{"xterm-256color", "16", NULL, EIGHT, false},
	{"xterm-256color", "mono", NULL, MONO, false},
	{"xterm-256color", NULL, "NO_COLOR=1", MONO, false},
	{"xterm-256color", "ascii", "NO_COLOR=1", MONO, true},
	{"xterm-256color", "auto", "LC_ALL=C", MANY, true},
	{"xterm", "auto", "LC_ALL=C.UTF-8", EIGHT, false},
	{"xterm-of-tomorrow", NULL, NULL, MANY, false},
	{"tmux-256color", NULL, NULL, MANY, false},
	{"tmux", NULL, NULL, EIGHT, false},
	{"screen-256color", NULL, NULL, MANY, false},
	{"screen", NULL, NULL, EIGHT, false},
	{"linux", "auto", "LC_ALL=C.UTF-8", EIGHT, true},
	{"vt100", "auto", "LC_ALL=C.UTF-8", MONO, true},
	{"vt220", "ascii", NULL, MONO, true},
};

static void test_kind(const struct kind *k)
{
	const char *env[] = {k->env, NULL};
	struct vt_options o = {
		.rows = 24, .cols = 80, .term = k->term, .setenv = k->env ? env : NULL};
	struct vt *vt = start(&o, k->argument);
	bool shown = true, colored = false, many;
	int status;

	for (size_t i = 0; i < VIEWS; i++) {
		press(vt, views[i].keys);
		if (!vt_shows(vt, views[i].shows)) {
			diag("%s is not shown", views[i].name);
			shown = false;
		}
		shown &= !k->ascii || !has_non_ascii(vt, 24);
		for (int row = 0; row < 24; row++)
			colored |= vt_colored(vt, row, 10);
		press(vt, i + 1 < VIEWS ? "\033" : "");
	}
	many = vt_received(vt, "38;5;") || vt_received(vt, "48;5;");
	vt_keys(vt, "\003\003"); /* the first closes the dialog, the second quits */
	status = vt_end(vt);
	ok(shown && colored == (k->depth > MONO) && many == (k->depth == MANY) &&
			WIFEXITED(status) && !WEXITSTATUS(status),
		"%s %s %s: all views are drawn, %s", k->term, k->argument ? k->argument : "",
		k->env ? k->env : "",
		k->depth == MONO    ? "no color"
		: k->depth == EIGHT ? "8 colors"
				    : "256 colors");
	vt_close(vt);
}

/* --- sizes ------------------------------------------------------------------------------------------- */

static void test_sizes(void)
{
	static const struct {
		int rows, cols;
	} sizes[] = {{8, 40}, {10, 40}, {12, 60}, {16, 79}, {24, 80}, {25, 132}, {40, 120},
		{50, 160}, {60, 200}, {100, 300}};
	struct vt *vt = start(&(struct vt_options){.rows = 24, .cols = 80}, NULL);

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		bool good = true;

		vt_resize(vt, sizes[s].rows, sizes[s].cols);
		vt_frame(vt);
		for (size_t i = 0; i < VIEWS; i++) {
			press(vt, views[i].keys);
			if (sizes[s].rows > 10 && !vt_shows(vt, views[i].shows)) {
				diag("%s is not shown", views[i].name);
				good = false;
			}
			/* the last row has the keys */
			good &= strlen(vt_row(vt, sizes[s].rows - 1)) > 10;
			press(vt, "\033");
		}
		ok(good, "all views are drawn at %dx%d", sizes[s].cols, sizes[s].rows);
	}
	vt_close(vt);
}

/* After keys and sizes in random order a repaint changes nothing on the screen. */
static void test_resizing(void)
{
	static const char keys[] = "mtTfij.kn./p?\033\033[]<>s%*+-.u,. .xSy";
	struct vt *vt = start(&(struct vt_options){.rows = 24, .cols = 80}, NULL);
	uint64_t rng = 88172645463325252ull;
	int rows = 24, same = 0, rounds = 25;
	char mark[40];

	for (int round = 0; round < rounds; round++) {
		char *before, *after;

		for (int i = 0; i < 12; i++) {
			char one[2] = {0};

			rng ^= rng << 13;
			rng ^= rng >> 7;
			rng ^= rng << 17;
			one[0] = keys[rng % (sizeof(keys) - 1)];
			vt_keys(vt, one);
			if (rng >> 32 & 1) {
				rows = 8 + (int)(rng >> 34 & 31);
				vt_resize(vt, rows, 40 + (int)(rng >> 44 & 127));
			}
		}
		/* Once the text of a prompt is drawn, all earlier keys have been handled. */
		snprintf(mark, sizeof(mark), "find: ~%02d", round % 100);
		vt_keys(vt, "\033\033\033");
		vt_keys(vt, round % 4 == 0 ? "t/" : round % 4 == 1 ? "T/" : "m/");
		vt_keys(vt, mark + 6);
		vt_wait(vt, mark);
		vt_keys(vt, "x");
		vt_wait(vt, strcat(mark, "x"));
		before = whole(vt, rows - 2);
		vt_signal(vt, SIGCONT); /* which repaints */
		vt_keys(vt, "y");
		vt_wait(vt, strcat(mark, "y"));
		after = whole(vt, rows - 2);
		same += !strcmp(before, after);
		if (strcmp(before, after))
			diag("before:\n%safter:\n%s", before, after);
		free(before);
		free(after);
	}
	is_int(same, rounds, "after random keys and sizes a full repaint changes nothing");
	vt_close(vt);
}

/* --- the mouse --------------------------------------------------------------------------------------- */

static void click(struct vt *vt, int button, int row, int col)
{
	char text[120];

	snprintf(text, sizeof(text), "\033[<%d;%d;%dM\033[<%d;%d;%dm", button, col + 1, row + 1,
		button, col + 1, row + 1);
	vt_keys(vt, text);
	vt_frame(vt);
}

static int column_of(struct vt *vt, int row, const char *text)
{
	const char *line = vt_row(vt, row), *at = strstr(line, text);
	int col = 0;

	for (; at && line < at; line++)
		col += ((unsigned char)*line & 0xc0) != 0x80;
	return at ? col : -1;
}

static void test_mouse(void)
{
	struct vt *vt = start(&(struct vt_options){.rows = 24, .cols = 80}, NULL);
	char detail[400];
	int status;

	ok(!vt_received(vt, "\033[?1000h"), "the mouse is not captured at first");
	vt_keys(vt, "M");
	vt_wait(vt, "mouse on: ");
	ok(vt_received(vt, "\033[?1000h\033[?1006h"), "M captures the mouse");
	click(vt, 0, 9, 30);
	ok(vt_row(vt, 9)[0] == '>', "a click on a row selects it");
	click(vt, 65, 9, 30);
	ok(vt_row(vt, 12)[0] == '>', "the wheel scrolls down");
	click(vt, 64, 9, 30);
	ok(vt_row(vt, 9)[0] == '>', "the wheel scrolls up");
	click(vt, 0, 4, column_of(vt, 4, "TOTAL%"));
	ok(strstr(vt_row(vt, 4), "TOTAL%▼") != NULL, "a click on a column title sorts by it");
	click(vt, 0, 1, column_of(vt, 1, "Tree"));
	ok(vt_shows(vt, "CALL TREE"), "a click on a tab shows its view");
	click(vt, 0, 8, 30);
	ok(vt_row(vt, 8)[0] == '>', "a click on a row of the tree selects it");
	click(vt, 0, 1, column_of(vt, 1, "Flame"));
	ok(vt_shows(vt, "all 100%"), "a click on the Flame tab shows the flame graph");
	snprintf(detail, sizeof(detail), "%s", vt_row(vt, 21));
	click(vt, 0, 6, 3);
	if (!ok(strcmp(detail, vt_row(vt, 21)) != 0 && strstr(vt_row(vt, 21), "of parent"),
		    "a click on a box of the flame graph selects it"))
		diag("%s", detail), diag("%s", vt_row(vt, 21)), diag("%s", vt_row(vt, 6));
	click(vt, 0, 1, column_of(vt, 1, "2 alloc"));
	ok(strstr(vt_row(vt, 1), "[2 alloc]") != NULL, "a click on an event shows it");
	click(vt, 0, 23, column_of(vt, 23, "help"));
	ok(vt_shows(vt, "HELP"), "a click on a word of the key line runs its command");
	vt_keys(vt, "\033[<0;5");
	vt_keys(vt, ";5M");
	vt_frame(vt);
	ok(vt_shows(vt, "HELP"), "a mouse report in two pieces is read as one");
	vt_keys(vt, "\033");
	vt_wait(vt, "quit");
	vt_forget(vt);
	vt_keys(vt, "M");
	vt_wait(vt, "mouse off: ");
	ok(vt_received(vt, "\033[?1006l\033[?1000l"), "M releases the mouse");
	vt_keys(vt, "M");
	vt_frame(vt);
	vt_forget(vt);
	vt_keys(vt, "q");
	status = vt_end(vt);
	ok(WIFEXITED(status) && vt_received(vt, "\033[?1006l\033[?1000l"),
		"quitting releases the mouse");
	vt_close(vt);
}

/* --- the clipboard, and going away for a while ------------------------------------------------------- */

static void test_copy(void)
{
	struct vt *vt = start(&(struct vt_options){.rows = 24, .cols = 80}, NULL);
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char name[256] = "", wanted[400] = "\033]52;c;";
	size_t len, at = strlen(wanted);

	vt_keys(vt, "y");
	vt_wait(vt, "copied, if the terminal supports it: ");
	for (int row = 0; row < 24; row++)
		sscanf(vt_row(vt, row), " copied, if the terminal supports it: %200s", name);
	len = strlen(name);
	/* whole groups of three; the rest of the encoding is not compared */
	for (size_t i = 0; i + 3 <= len; i += 3) {
		unsigned v = (unsigned)(unsigned char)name[i] << 16 |
			     (unsigned)(unsigned char)name[i + 1] << 8 | (unsigned char)name[i + 2];

		for (int k = 18; k >= 0; k -= 6)
			wanted[at++] = digits[v >> k & 63];
	}
	wanted[at] = '\0';
	ok(len > 5 && vt_received(vt, wanted), "y sends \"%s\" to the clipboard", name);
	vt_close(vt);
}

static void test_stopped(void)
{
	struct vt *vt = start(&(struct vt_options){.rows = 24, .cols = 80}, NULL);
	int status;

	vt_keys(vt, "M");
	vt_wait(vt, "mouse on: ");
	vt_forget(vt);
	vt_signal(vt, SIGTSTP);
	status = vt_end(vt);
	ok(vt_stopped(status) && !vt_alt_screen(vt) && vt_received(vt, "\033[?1000l"),
		"SIGTSTP restores the terminal and releases the mouse");
	vt_resize(vt, 30, 100);
	vt_forget(vt);
	vt_continue(vt);
	vt_wait(vt, "jhot 41234");
	ok(vt_alt_screen(vt) && vt_received(vt, "\033[?1000h"),
		"SIGCONT redraws and captures the mouse again");
	vt_keys(vt, "j");
	vt_wait(vt, "q quit");
	ok(strstr(vt_row(vt, 29), "q quit") != NULL, "after SIGCONT the new window size is used");
	vt_signal(vt, SIGSTOP);
	status = vt_end(vt);
	ok(vt_stopped(status), "SIGSTOP stops the process");
	vt_continue(vt);
	vt_keys(vt, "T");
	ok(vt_wait(vt, "CALL TREE"), "the view continues after SIGSTOP");
	vt_keys(vt, "q");
	status = vt_end(vt);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "q ends the view with status 0");
	vt_close(vt);
}

int main(int argc, char **argv)
{
	(void)argc;
	vt_fake_top(argv[0], program, sizeof(program));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		test_kind(&kinds[i]);
	test_sizes();
	test_resizing();
	test_mouse();
	test_copy();
	test_stopped();
	return tap_done();
}
