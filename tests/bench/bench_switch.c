/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time from a key until the rows of another event are shown: bench_switch JHOT PID
 *
 * Runs the live view in a terminal of 80x24 interpreted by libvterm. Presses each of the keys 2, 3, 4 and 1 once when
 * its event was never on, and once when all are on. Prints for each press: the event, "first" or "again", ms until a
 * frame shows rows of that event, and the number of that frame after the key.
 */
#include "tests/tui/vt.h"

#include "base/clock.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROWS       24
#define TURNS      10
#define PATIENCE_S 10
#define HEAD       " SELF%"

static const char *const events[] = {"1 cpu", "2 alloc", "3 lock", "4 wall"};

/* A list's row begins with its share. */
static bool row_has_share(const char *row)
{
	int at = 1;

	while (row[at] == ' ')
		at++;
	return at < 8 && isdigit((unsigned char)row[at]);
}

/* Is this event's tab the one in brackets, and is there a row below the columns' names? */
static bool shows_rows(struct vt *vt, const char *event)
{
	char tab[24];

	snprintf(tab, sizeof(tab), "[%s]", event);
	if (!vt_shows(vt, tab))
		return false;
	for (int row = 0; row + 1 < ROWS; row++)
		if (!strncmp(vt_row(vt, row), HEAD, strlen(HEAD)))
			return row_has_share(vt_row(vt, row + 1));
	return false;
}

/* press: ms until there are rows; *frames: how many frames that took. -1: none came. */
static double press(struct vt *vt, int event, int *frames)
{
	uint64_t from;

	while (vt_frames_left(vt))
		vt_frame(vt);
	from = clock_mono_ns();
	vt_keys(vt, (char[]){events[event][0], '\0'});
	for (*frames = 1; clock_mono_ns() - from < PATIENCE_S * NS_PER_S; ++*frames) {
		if (vt_frame(vt) < 0)
			return -1;
		if (shows_rows(vt, events[event]))
			return (double)(clock_mono_ns() - from) / 1e6;
	}
	return -1;
}

static int tell(struct vt *vt, int event, const char *which)
{
	int frames;
	double ms = press(vt, event, &frames);

	if (ms < 0)
		printf("%s %s - -\n", events[event] + 2, which);
	else
		printf("%s %s %.1f %d\n", events[event] + 2, which, ms, frames);
	return ms < 0;
}

int main(int argc, char **argv)
{
	const struct vt_options options = {.rows = ROWS, .cols = 80, .jhot = true};
	const char *const command[] = {argv[1], "top", argc > 2 ? argv[2] : NULL, NULL};
	int failed = 0;
	struct vt *vt;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_switch JHOT PID\n");
		return 2;
	}
	vt = vt_open(&options, command);
	while (!shows_rows(vt, events[0]))
		if (vt_frame(vt) < 0)
			return 1;
	sleep(2); /* past the hurried beginning, where the view refreshes more often */
	for (int event = 1; event < 4; event++)
		failed += tell(vt, event, "first");
	for (int turn = 0; turn < TURNS && !failed; turn++)
		for (int event = 0; event < 4; event++)
			failed += tell(vt, event, "again");
	vt_keys(vt, "q");
	vt_end(vt);
	vt_close(vt);
	return failed != 0;
}
