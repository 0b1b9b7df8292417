/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many bytes and rows a refresh changes under real load: jhot over a recording of the H2 database under three
 * clients (66 s at 10 ms), second by second, in a terminal of 80x24.
 *
 *    test_recorded [RECORDING]     each line shows a figure, its limit, and the measured value
 */
#include "tests/tap.h"
#include "tests/tui/vt.h"

#include <sys/wait.h>
#include <unistd.h>

#define LIST_BUDGET  1000 /* bytes per refresh */
#define FLAME_BUDGET 3000
#define CHURN_BUDGET 2 /* of the top 16 rows */
#define TOP_ROWS     16
#define FIRST_ROW    5
#define SETTLE       12 /* seconds until the window of 10 s is full */
#define REFRESHES    50

static char program[4096], recording[4096];

static struct vt *start(int rows, int cols)
{
	static const char *const env[] = {"LC_ALL=C.UTF-8", "XDG_CONFIG_HOME=/nonexistent", NULL};
	const char *argv[] = {program, "top", "--replay", recording, "--clock=step", NULL};
	struct vt_options o = {.rows = rows, .cols = cols, .setenv = env, .jhot = true};
	struct vt *vt = vt_open(&o, argv);

	if (vt_frame(vt) < 0)
		diag("no first frame");
	return vt;
}

static long step(struct vt *vt, int seconds)
{
	long bytes = 0;

	while (seconds-- > 0) {
		vt_keys(vt, ".");
		bytes = vt_frame(vt);
	}
	return bytes;
}

static int compare_long(const void *a, const void *b)
{
	const long *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void stop(struct vt *vt)
{
	int status;

	vt_keys(vt, "q");
	status = vt_end(vt);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		ok(false, "jhot exits with status 0");
	vt_close(vt);
}

/* --- bytes ------------------------------------------------------------------------------------------- */

static void measure(const char *name, const char *keys, int rows, int cols, long budget)
{
	struct vt *vt = start(rows, cols);
	long bytes[REFRESHES], sum = 0;

	step(vt, SETTLE);
	for (const char *k = keys; *k; k++) {
		char one[2] = {*k, '\0'};

		vt_keys(vt, one);
		vt_frame(vt);
	}
	for (int i = 0; i < REFRESHES; i++)
		sum += bytes[i] = step(vt, 1);
	stop(vt);
	qsort(bytes, REFRESHES, sizeof(bytes[0]), compare_long);
	diag("%-28s %4dx%-3d %8ld B   median %ld, mean %ld, 90%% %ld, most %ld", name, cols, rows,
		budget, bytes[REFRESHES / 2], sum / REFRESHES, bytes[REFRESHES * 9 / 10],
		bytes[REFRESHES - 1]);
	if (budget)
		ok(bytes[REFRESHES / 2] <= budget && bytes[REFRESHES / 2] > 0,
			"%s at %dx%d: %ld bytes per refresh, at most %ld", name, cols, rows,
			bytes[REFRESHES / 2], budget);
}

/* --- churn ------------------------------------------------------------------------------------------- */

/* The method of a row: its text from the column of the title METHOD on. */
static void row_name(struct vt *vt, int row, char *out, size_t bytes)
{
	const char *title = vt_row(vt, FIRST_ROW - 1), *at = strstr(title, "METHOD");
	const char *line;
	int col = 0;

	for (const char *c = title; at && c < at; c++)
		col += ((unsigned char)*c & 0xc0) != 0x80;
	line = vt_row(vt, row);
	for (; *line && col > 0; line++)
		col -= (((unsigned char)line[1]) & 0xc0) != 0x80;
	snprintf(out, bytes, "%s", line);
}

static void test_churn(const char *name, const char *keys)
{
	static char before[TOP_ROWS][512], now[TOP_ROWS][512];
	struct vt *vt = start(24, 80);
	long changes[REFRESHES], sum = 0;

	step(vt, SETTLE);
	for (const char *k = keys; *k; k++) {
		char one[2] = {*k, '\0'};

		vt_keys(vt, one);
		vt_frame(vt);
	}
	for (int i = -1; i < REFRESHES; i++) {
		long moved = 0;

		step(vt, 1);
		for (int row = 0; row < TOP_ROWS; row++) {
			row_name(vt, FIRST_ROW + row, now[row], sizeof(now[row]));
			moved += strcmp(now[row], before[row]) != 0;
		}
		memcpy(before, now, sizeof(before));
		if (i >= 0)
			sum += changes[i] = moved;
	}
	stop(vt);
	qsort(changes, REFRESHES, sizeof(changes[0]), compare_long);
	diag("%-28s %4dx%-3d %8d     median %ld, mean %.1f, 90%% %ld, most %ld rows", name, 80, 24,
		CHURN_BUDGET, changes[REFRESHES / 2], (double)sum / REFRESHES,
		changes[REFRESHES * 9 / 10], changes[REFRESHES - 1]);
	ok(changes[REFRESHES / 2] <= CHURN_BUDGET && now[0][0] && strlen(now[0]) > 3,
		"%s: %ld of the top %d rows change per refresh, at most %d", name,
		changes[REFRESHES / 2], TOP_ROWS, CHURN_BUDGET);
}

/* On a frozen screen only the count of newer samples changes, every 10 s. */
static void test_frozen(void)
{
	struct vt *vt = start(24, 80);
	size_t before;
	int second = 0;
	char row[4096];

	step(vt, SETTLE);
	vt_keys(vt, " ");
	vt_frame(vt);
	snprintf(row, sizeof(row), "%s", vt_row(vt, 0));
	ok(strstr(row, "FROZEN") != NULL, "space freezes the screen");
	before = vt_bytes(vt);
	while (second++ < 5) {
		vt_keys(vt, "\014");
		vt_frame(vt);
	}
	ok(vt_bytes(vt) > before && !strcmp(row, vt_row(vt, 0)),
		"redrawing a frozen screen changes nothing");
	vt_keys(vt, ",,,");
	vt_frame(vt);
	vt_keys(vt, "f");
	ok(vt_wait(vt, "all 100%"), "an earlier second has a flame graph");
	stop(vt);
}

int main(int argc, char **argv)
{
	const char *build = getenv("builddir"), *source = getenv("srcdir");

	snprintf(program, sizeof(program), "%s/jhot", build ? build : ".");
	snprintf(recording, sizeof(recording), "%s/tests/tui/h2.jhot", source ? source : ".");
	if (argc > 1)
		snprintf(recording, sizeof(recording), "%s", argv[1]);
	diag("%-28s %8s %8s", "figure", "screen", "limit");
	test_churn("churn, by self", "");
	test_churn("churn, by total", "s");
	measure("methods", "", 24, 80, LIST_BUDGET);
	measure("methods by total", "s", 24, 80, LIST_BUDGET);
	measure("methods, row 5", "jjjj", 24, 80, LIST_BUDGET);
	measure("threads", "t", 24, 80, LIST_BUDGET);
	measure("tree", "T", 24, 80, LIST_BUDGET);
	measure("tree, hot path", "TE", 24, 80, LIST_BUDGET);
	measure("callers", "\n", 24, 80, LIST_BUDGET);
	measure("flame", "f", 24, 80, FLAME_BUDGET);
	measure("methods", "", 50, 160, 0);
	measure("flame", "f", 50, 160, 0);
	test_frozen();
	return tap_done();
}
