/* SPDX-License-Identifier: Apache-2.0 */
/* The live view in a terminal: screens, colors, resizing, output budgets, and restoring the terminal. */
#include "tests/tap.h"
#include "tests/tui/vt.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIST_BUDGET  1000 /* bytes per refresh at 80x24: a slow line shows it in a second */
#define FLAME_BUDGET 3000
#define REFRESHES    60

static char program[4096];

static struct vt *start(int rows, int cols, const char *a, const char *b, const char *c)
{
	const char *argv[] = {program, a, a ? b : NULL, b ? c : NULL, NULL};
	struct vt *vt = vt_open(&(struct vt_options){.rows = rows, .cols = cols}, argv);

	if (vt_frame(vt) < 0)
		diag("no first frame");
	return vt;
}

/* --- screens ----------------------------------------------------------------------------------------- */

static void test_screen(void)
{
	struct vt *vt = start(24, 80, "step", "warm=40", NULL);
	int row, col;
	bool visible;

	ok(strstr(vt_row(vt, 0), " jhot 41234 shop-api.jar  JDK 21.0.4") == vt_row(vt, 0),
		"the title line is drawn");
	ok(strstr(vt_row(vt, 4), "SELF%▼") != NULL, "UTF-8 characters are drawn");
	ok(vt_row(vt, 5)[0] == '>', "the cursor is on the first row");
	ok(vt_colored(vt, 5, 10) && !vt_reverse(vt, 5, 10), "the cursor's row is colored");
	ok(vt_received(vt, "38;5;16;48;5;"),
		"the colors of the cursor's row are set by a single sequence");
	ok(!vt_colored(vt, 6, 70), "other rows have the terminal's own colors");
	ok(vt_alt_screen(vt), "the alternate screen is used");
	vt_cursor(vt, &row, &col, &visible);
	ok(!visible, "the terminal's cursor is hidden");
	vt_keys(vt, "/hash");
	vt_wait(vt, "find: hash");
	vt_cursor(vt, &row, &col, &visible);
	ok(visible && row == 23 && col == 11,
		"in a prompt the terminal's cursor is behind the text");
	vt_keys(vt, "\033");
	vt_wait(vt, "q quit");
	ok(!vt_shows(vt, "find:"), "Esc closes the prompt");
	vt_keys(vt, "\033[B");
	vt_frame(vt);
	ok(vt_row(vt, 6)[0] == '>', "an arrow key moves the cursor");
	vt_resize(vt, 30, 120);
	vt_wait(vt, "DELTA");
	ok(strstr(vt_row(vt, 0), "LIVE 1s") - vt_row(vt, 0) > 100, "a larger window is filled");
	vt_resize(vt, 10, 40);
	vt_frame(vt);
	ok(strstr(vt_row(vt, 9), "q quit") != NULL, "a small window has its key line");
	vt_resize(vt, 3, 30);
	vt_frame(vt);
	ok(strstr(vt_row(vt, 0), "41234") != NULL, "the smallest window shows one line");
	vt_close(vt);
}

static void test_colors(void)
{
	static const char *const no_color[] = {"NO_COLOR=1", NULL};
	const char *argv[] = {program, "step", "warm=5", NULL};
	struct vt *vt =
		vt_open(&(struct vt_options){.rows = 24, .cols = 80, .setenv = no_color}, argv);

	vt_frame(vt);
	ok(!vt_colored(vt, 5, 10) && vt_reverse(vt, 5, 10),
		"NO_COLOR uses reverse video instead of colors");
	vt_close(vt);
	vt = vt_open(&(struct vt_options){.rows = 24, .cols = 80, .term = "vt100"}, argv);
	vt_frame(vt);
	ok(strstr(vt_row(vt, 0), "41234") && !vt_colored(vt, 5, 10),
		"TERM=vt100 is drawn without colors");
	vt_close(vt);
	vt = vt_open(&(struct vt_options){.rows = 24, .cols = 80, .term = "linux"}, argv);
	vt_frame(vt);
	ok(strstr(vt_row(vt, 0), "41234") && vt_colored(vt, 5, 10),
		"TERM=linux is drawn with colors");
	vt_close(vt);
	vt = vt_open(&(struct vt_options){.rows = 24, .cols = 80, .term = "dumb"}, argv);
	ok(WEXITSTATUS(vt_end(vt)) == 1 && vt_shows(vt, "TERM=dumb"),
		"TERM=dumb is refused with an explanation");
	vt_close(vt);
}

/* --- bytes ------------------------------------------------------------------------------------------- */

static int compare_long(const void *a, const void *b)
{
	const long *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void measure(
	const char *name, const char *keys, const char *a, int rows, int cols, long budget)
{
	struct vt *vt = start(rows, cols, "step", "warm=40", a);
	long bytes[REFRESHES], sum = 0, first = (long)vt_bytes(vt);

	for (const char *k = keys; *k; k++) {
		char one[2] = {*k, '\0'};

		vt_keys(vt, one);
		vt_frame(vt);
	}
	for (int i = 0; i < REFRESHES; i++) {
		vt_keys(vt, ".");
		bytes[i] = vt_frame(vt);
		sum += bytes[i];
	}
	qsort(bytes, REFRESHES, sizeof(bytes[0]), compare_long);
	diag("%-22s %dx%d: first %ld, per refresh median %ld, mean %ld, 90%% %ld, most %ld bytes",
		name, cols, rows, first, bytes[REFRESHES / 2], sum / REFRESHES,
		bytes[REFRESHES * 9 / 10], bytes[REFRESHES - 1]);
	if (budget)
		ok(bytes[REFRESHES / 2] <= budget, "%s: the median refresh is within %ld bytes",
			name, budget);
	vt_close(vt);
}

static void test_bytes(void)
{
	measure("methods 400/s", "", "rate=400", 24, 80, LIST_BUDGET);
	measure("methods 100/s", "", "rate=100", 24, 80, LIST_BUDGET);
	measure("methods 30/s", "", "rate=30", 24, 80, LIST_BUDGET);
	measure("methods by total", "s", "rate=400", 24, 80, LIST_BUDGET);
	measure("methods, row 5", "jjjj", "rate=400", 24, 80, LIST_BUDGET);
	measure("threads", "t", "rate=400", 24, 80, LIST_BUDGET);
	measure("tree", "T", "rate=400", 24, 80, LIST_BUDGET);
	measure("flame", "f", "rate=400", 24, 80, FLAME_BUDGET);
	measure("methods, collector", "", "collects", 24, 80, LIST_BUDGET);
	measure("findings", "w", "collects", 24, 80, LIST_BUDGET);
	measure("methods ascii", "", "ascii", 24, 80, LIST_BUDGET);
	measure("methods", "", "rate=400", 50, 160, 0);
}

/* On a frozen screen only the count of newer samples changes. */
static void test_frozen(void)
{
	struct vt *vt = start(24, 80, "interval=20", "warm=40", NULL);
	long sum = 0;

	vt_keys(vt, " ");
	vt_wait(vt, "frozen:");
	for (int i = 0; i < 100; i++)
		sum += vt_frame(vt);
	diag("frozen: %ld bytes in 100 refreshes", sum);
	ok(sum < 100, "a frozen screen is hardly redrawn");
	vt_close(vt);
}

/* A terminal that is not read: frames are skipped, and the next one shows the present. */
static void test_slow_link(void)
{
	struct vt *vt = start(60, 200, "interval=1", "warm=20", NULL);
	int frames, status;
	size_t before;

	vt_starve(vt, 1500);
	frames = vt_frames_left(vt);
	ok(frames < 500, "1500 ticks without reading the terminal made %d frames", frames);
	before = vt_bytes(vt);
	vt_keys(vt, "/now");
	ok(vt_wait(vt, "find: now"), "when bytes are read again the current state is shown");
	diag("%zu bytes were pending", vt_bytes(vt) - before);
	vt_keys(vt, "\033");
	vt_wait(vt, "q quit");
	vt_starve(vt, 1500);
	vt_signal(vt, SIGTERM);
	status = vt_end(vt);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		"SIGTERM ends the view although the terminal is not read");
	vt_close(vt);
}

/* --- the way out ------------------------------------------------------------------------------------- */

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_lflag == b->c_lflag &&
	       a->c_cflag == b->c_cflag;
}

static bool restored(struct vt *vt, const struct termios *before)
{
	struct termios after;
	int row, col;
	bool visible;

	vt_modes(vt, &after);
	vt_cursor(vt, &row, &col, &visible);
	return same_modes(before, &after) && visible && !vt_alt_screen(vt);
}

static void test_ends(void)
{
	static const struct {
		const char *what, *keys, *argument;
		int signal, killed_by;
	} ends[] = {
		{"q", "q", "step", 0, 0},
		{"^C", "\003", "step", 0, 0},
		{"SIGTERM", "", "step", SIGTERM, 0},
		{"SIGHUP", "", "step", SIGHUP, 0},
		{"SIGINT", "", "step", SIGINT, 0},
		{"a crash", ".", "crash", 0, SIGSEGV},
	};
	struct termios cooked;
	char what[64];
	int master, status;

	/* The modes of a fresh pty, which must be restored. */
	master = posix_openpt(O_RDWR | O_NOCTTY);
	if (master < 0 || tcgetattr(master, &cooked) < 0)
		tap_skip_all("no pty");
	close(master);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct vt *vt = start(24, 80, ends[i].argument, "step", NULL);

		if (ends[i].signal)
			vt_signal(vt, ends[i].signal);
		vt_keys(vt, ends[i].keys);
		if (ends[i].killed_by)
			vt_keys(vt, "...");
		status = vt_end(vt);
		ok(restored(vt, &cooked), "the terminal is restored after %s", ends[i].what);
		snprintf(what, sizeof(what), "the exit status after %s is 0", ends[i].what);
		if (ends[i].killed_by)
			ok(WIFSIGNALED(status) && WTERMSIG(status) == ends[i].killed_by,
				"a crash still ends with its signal");
		else
			is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0, what);
		vt_close(vt);
	}
}

/* More than a minute of unsaved samples, without a terminal to ask the user. */
static void test_autosave(void)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct vt *vt = start(24, 120, "warm=100", "step", NULL);

		vt_signal(vt, signals[i]);
		vt_end(vt);
		ok(vt_shows(vt, "saved shop-api.jar-41234-"),
			"signal %d: a recording is saved and reported", signals[i]);
		vt_close(vt);
	}
}

/* A failed allocation ends the program; the terminal is restored, and shows the error. */
static void test_memory(void)
{
	struct termios cooked;
	int master = posix_openpt(O_RDWR | O_NOCTTY), status;
	struct vt *vt = start(24, 80, "memory", "step", NULL);

	tcgetattr(master, &cooked);
	close(master);
	vt_keys(vt, "....");
	status = vt_end(vt);
	is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 1,
		"out of memory: the exit status is 1");
	ok(restored(vt, &cooked), "out of memory: the terminal is restored");
	ok(vt_shows(vt, "jhot: out of memory"), "out of memory: the error is shown");
	vt_close(vt);
}

static void test_suspend(void)
{
	struct vt *vt = start(24, 80, "step", "warm=5", NULL);
	struct termios cooked, modes;
	int master = posix_openpt(O_RDWR | O_NOCTTY), status;

	tcgetattr(master, &cooked);
	close(master);
	vt_keys(vt, "\032");
	status = vt_end(vt);
	ok(vt_stopped(status), "^Z stops the process");
	ok(restored(vt, &cooked), "^Z restores the terminal");
	vt_continue(vt);
	ok(vt_wait(vt, "jhot 41234"), "SIGCONT redraws the screen");
	vt_modes(vt, &modes);
	ok(vt_alt_screen(vt) && !(modes.c_lflag & ICANON),
		"SIGCONT sets the terminal's modes again");
	vt_keys(vt, "q");
	status = vt_end(vt);
	ok(WIFEXITED(status) && restored(vt, &cooked),
		"q ends the view after SIGCONT, and restores the terminal");
	vt_close(vt);
}

static void test_hang_up(void)
{
	struct vt *vt = start(24, 80, "warm=5", NULL, NULL);
	int status;

	vt_hang_up(vt);
	status = vt_end(vt);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "closing the terminal ends the view");
	vt_close(vt);
}

/* Whatever is typed, at whatever size, the view continues, and ends normally. */
static void test_any_keys(void)
{
	static const char *const sizes[] = {"24 80", "5 20", "60 200", "8 40", "1 1", "24 80"};
	struct vt *vt = start(24, 80, "step", "warm=30", NULL);
	uint64_t rng = 88172645463325252ull;
	int rows, cols, status;

	for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++) {
		for (int i = 0; i < 150; i++) {
			char key[2] = {0};

			rng ^= rng << 13;
			rng ^= rng >> 7;
			rng ^= rng << 17;
			key[0] = (char)(' ' + rng % 95);
			/* q would quit. Enter, ticks and Tab are half of all keys. */
			if (key[0] == 'q' || rng >> 20 & 1)
				key[0] = rng >> 21 & 1 ? '\n' : rng >> 22 & 1 ? '.' : '\t';
			vt_keys(vt, key);
		}
		sscanf(sizes[size], "%d %d", &rows, &cols);
		vt_resize(vt, rows, cols);
		if (vt_frame(vt) < 0)
			break;
	}
	vt_keys(vt, "\003\003"); /* the first may only close a prompt */
	status = vt_end(vt);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		"900 random keys at six sizes, then ^C: the exit status is 0");
	ok(!vt_alt_screen(vt), "the terminal is restored after random keys");
	vt_close(vt);
}

int main(int argc, char **argv)
{
	(void)argc;
	vt_fake_top(argv[0], program, sizeof(program));
	test_screen();
	test_colors();
	test_bytes();
	test_frozen();
	test_slow_link();
	test_ends();
	test_autosave();
	test_memory();
	test_suspend();
	test_hang_up();
	test_any_keys();
	return tap_done();
}
