/* SPDX-License-Identifier: Apache-2.0 */
/* Characters of many scripts: jhot counts as many columns as a terminal moves its cursor. */
#include "tests/tap.h"
#include "tui/screen/canvas.h"
#include "tui/screen/name.h"
#include "tui/screen/text.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <vterm.h>

/*
 * Texts on whose width libvterm and tmux agree. sent: the part of a text that the canvas keeps, and that a terminal is sent;
 * NULL: all of it.
 */
static const struct {
	const char *script, *text;
	int width;
	const char *sent;
} scripts[] = {
	{"Latin", "größe", 5, NULL},
	{"Latin, decomposed",
		"gro\xcc\x88\xc3\x9f"
		"e",
		5, NULL},
	{"Greek", "μέθοδος", 7, NULL},
	{"Cyrillic", "мой", 3, NULL},
	{"Cyrillic, decomposed", "мои\xcc\x86", 3, NULL},
	{"Armenian", "մեթոդ", 5, NULL},
	{"Hebrew with points", "שָׁלוֹם", 4, NULL},
	{"Arabic with vowels", "مَكْتَب", 4, NULL},
	{"Thai", "ที่นี่", 2, NULL},
	{"Thai, a word", "กำลังทำงาน", 9, NULL},
	{"Lao", "ດີ", 1, NULL},
	{"Devanagari", "हिन्दी", 5, NULL},
	{"Bengali", "বাংলা", 5, NULL},
	{"Tamil", "தமிழ்", 4, NULL},
	{"Telugu", "తెలుగు", 5, NULL},
	{"Malayalam", "മലയാളം", 6, NULL},
	{"Hangul", "한글", 4, NULL},
	{"Hangul, decomposed",
		"\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab\xe1\x84\x80\xe1\x85\xb3\xe1\x86\xaf", 4,
		NULL},
	{"Chinese", "漢字", 4, NULL},
	{"Japanese", "カタカナ", 8, NULL},
	{"Japanese, half width", "ｶﾀｶﾅ", 4, NULL},
	{"fullwidth", "Ａｂ１", 6, NULL},
	{"clocks and buttons", "⏩⏪⏫⏬⏰⏳", 12, NULL},
	{"buttons of one column", "⏭⏮⏯⏱⏲", 5, NULL},
	{"emoji", "🚀🐢", 4, NULL},
	{"a family", "👨\xe2\x80\x8d👩", 4, "👨👩"},
	{"a heart with a selector", "❤\xef\xb8\x8f", 1, "❤"},
	{"a joiner",
		"a\xe2\x80\x8d"
		"b",
		2, "ab"},
	{"lines and blocks", "─│█▂·…", 6, NULL},
};
#define SCRIPTS (sizeof(scripts) / sizeof(scripts[0]))

static const char *sent(size_t i)
{
	return scripts[i].sent ? scripts[i].sent : scripts[i].text;
}

static const char *named(const char *what, const char *script)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s: %s", script, what);
	return text;
}

/* The columns by which libvterm moves its cursor. */
static int vterm_columns(VTerm *vt, const char *text)
{
	VTermPos pos;

	vterm_input_write(vt, "\r", 1);
	vterm_input_write(vt, text, strlen(text));
	vterm_state_get_cursorpos(vterm_obtain_state(vt), &pos);
	return pos.col;
}

static void test_vterm(void)
{
	VTerm *vt = vterm_new(2, 80);

	vterm_set_utf8(vt, 1);
	vterm_screen_reset(vterm_obtain_screen(vt), 1);
	for (size_t i = 0; i < SCRIPTS; i++)
		is_int(vterm_columns(vt, sent(i)), text_width(scripts[i].text),
			named("libvterm agrees", scripts[i].script));
	vterm_free(vt);
}

/* In a pane of tmux: writes the column of the cursor after each text to the file, by the terminal's own reports. */
static int pane(const char *path)
{
	struct termios raw;
	FILE *to = fopen(path, "w");

	if (!to || tcgetattr(0, &raw))
		return 1;
	cfmakeraw(&raw);
	tcsetattr(0, TCSANOW, &raw);
	for (size_t i = 0; i < SCRIPTS; i++) {
		char reply[64];
		size_t n = 0;
		int row, col;

		printf("\r\033[K%s\033[6n", sent(i));
		fflush(stdout);
		while (n < sizeof(reply) - 1 && read(0, reply + n, 1) == 1 && reply[n++] != 'R')
			;
		reply[n] = '\0';
		fprintf(to, "%d\n", sscanf(reply, "\033[%d;%dR", &row, &col) == 2 ? col - 1 : -1);
	}
	return fclose(to);
}

static void test_tmux(const char *self)
{
	char folder[] = "/tmp/jhot-widths-XXXXXX", path[64], command[4500], line[32];
	FILE *from;

	if (system("tmux -V >/dev/null 2>&1")) {
		tap_skip("tmux agrees on the widths", "no tmux");
		return;
	}
	if (!mkdtemp(folder)) {
		ok(false, "a folder in /tmp is created");
		return;
	}
	snprintf(path, sizeof(path), "%s/columns", folder);
	mkfifo(path, 0600);
	snprintf(command, sizeof(command),
		"LC_ALL=C.UTF-8 tmux -S %s/socket -f /dev/null new-session -d -x 80 -y 5 '%s' pane "
		"%s",
		folder, self, path);
	/* Opening the FIFO waits for the pane. One that never comes ends this test by SIGALRM. */
	alarm(120);
	from = ok(!system(command), "tmux starts") ? fopen(path, "r") : NULL;
	for (size_t i = 0; i < SCRIPTS && from; i++) {
		bool said = fgets(line, sizeof(line), from) != NULL;

		is_int(said ? atoi(line) : -1, text_width(scripts[i].text),
			named("tmux agrees", scripts[i].script));
	}
	if (from)
		fclose(from);
	alarm(0);
	unlink(path);
	snprintf(path, sizeof(path), "%s/socket", folder);
	unlink(path);
	rmdir(folder);
}

/* The canvas keeps each text, and the next one is drawn behind it. */
static void test_canvas(void)
{
	for (size_t i = 0; i < SCRIPTS; i++) {
		struct buf want = {0}, got = {0};
		struct canvas c;

		canvas_init(&c, false);
		canvas_resize(&c, 1, 20);
		is_int(canvas_text(&c, 0, 0, 20, STYLE_NORMAL, scripts[i].text), scripts[i].width,
			named("canvas_text returns the width", scripts[i].script));
		canvas_text(&c, 0, scripts[i].width, 20, STYLE_NORMAL, "|");
		canvas_dump(&c, &got, false);
		buf_printf(&want, "%s|\n", sent(i));
		is_str(buf_str(&got), buf_str(&want),
			named("the canvas keeps the text", scripts[i].script));
		buf_done(&want);
		buf_done(&got);
		canvas_done(&c);
	}
}

/* Wherever a text is cut, the rest has at most the given number of columns, and begins and ends between clusters. */
static void test_cuts(void)
{
	int wrong = 0;

	for (size_t i = 0; i < SCRIPTS; i++) {
		const char *text = scripts[i].text;

		for (int width = 1; width <= scripts[i].width + 1; width++) {
			char head[128], middle[128];
			const char *tail = text_suffix(text, width);

			snprintf(head, sizeof(head), "%.*s", (int)text_prefix(text, width), text);
			name_middle(middle, sizeof(middle), text, width, "~");
			wrong += text_width(head) > width || text_width(tail) > width ||
				 text_width(middle) > width ||
				 !text_char_width(text_next(&(const char *){*tail ? tail : "x"})) ||
				 !text_char_width(text_next(&(const char *){
					 text[strlen(head)] ? text + strlen(head) : "x"}));
		}
	}
	is_int(wrong, 0, "truncated texts fit, and no mark is separated from its base");
}

static void test_packages(void)
{
	struct profile_method m = {.class_name = "größe.überall.漢字.Maß",
		.name = "messen",
		.signature = "",
		.module = "",
		.full = "größe.überall.漢字.Maß.messen"};
	char out[128];

	name_fit(out, sizeof(out), &m, 18, NAME_FULL, "~");
	is_str(out, "g.ü.漢.Maß.messen", "packages are shortened to a character, not to a byte");
	name_fit(out, sizeof(out), &m, 17, NAME_FULL, "~");
	is_str(out, "g.ü.漢.Maß.messen", "a shortened package may be a wide character");
	name_fit(out, sizeof(out), &m, 16, NAME_FULL, "~");
	is_str(out, "Maß.messen", "a wide character counts as two columns");
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return pane(argv[2]);
	for (size_t i = 0; i < SCRIPTS; i++)
		is_int(text_width(scripts[i].text), scripts[i].width,
			named("the width in columns is right", scripts[i].script));
	test_vterm();
	test_tmux(argv[0]);
	test_canvas();
	test_cuts();
	test_packages();
	return tap_done();
}
