/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time until the live view names the cause of a problem: bench_cause JHOT PID KEYS PATTERN [SCREEN]
 *
 * Runs it in a terminal of 80x24 interpreted by libvterm, and presses the keys, one per frame, from the first live
 * frame on. Prints the seconds from its start to the first frame that matches PATTERN, an extended regular
 * expression, on the whole screen as one line with single spaces; "-" if none did. That frame is written to the file
 * SCREEN.
 */
#include "tests/tui/vt.h"

#include "base/clock.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#define ROWS       24
#define COLS       80
#define PATIENCE_S 30

/* The screen as one line, runs of spaces as one. */
static const char *screen_line(struct vt *vt)
{
	static char line[ROWS * (COLS * 4 + 1)];
	size_t used = 0;

	for (int row = 0; row < ROWS; row++) {
		for (const char *c = vt_row(vt, row); *c && used + 2 < sizeof(line); c++)
			if (*c != ' ' || (used && line[used - 1] != ' '))
				line[used++] = *c;
		if (used && line[used - 1] != ' ')
			line[used++] = ' ';
	}
	line[used] = '\0';
	return line;
}

static void save(struct vt *vt, const char *path)
{
	FILE *out = fopen(path, "w");

	if (!out)
		return;
	for (int row = 0; row < ROWS; row++)
		fprintf(out, "%s\n", vt_row(vt, row));
	fclose(out);
}

/* seek: seconds until a frame fits; < 0: none did in time. */
static double seek(struct vt *vt, uint64_t start, const char *keys, const regex_t *wanted)
{
	bool live = false;

	while (clock_mono_ns() - start < PATIENCE_S * NS_PER_S && vt_frame(vt) >= 0) {
		live = live || vt_shows(vt, "LIVE");
		if (!regexec(wanted, screen_line(vt), 0, NULL, 0) && !*keys)
			return (double)(clock_mono_ns() - start) / 1e9;
		if (live && *keys)
			vt_keys(vt, (char[]){*keys++, '\0'});
	}
	return -1;
}

int main(int argc, char **argv)
{
	const struct vt_options options = {.rows = ROWS, .cols = COLS, .jhot = true};
	const char *const command[] = {argv[1], "top", argc > 2 ? argv[2] : NULL, NULL};
	uint64_t start = clock_mono_ns();
	regex_t wanted;
	struct vt *vt;
	double s;

	if (argc < 5 || regcomp(&wanted, argv[4], REG_EXTENDED | REG_NOSUB)) {
		fprintf(stderr, "usage: bench_cause JHOT PID KEYS PATTERN [SCREEN]\n");
		return 2;
	}
	vt = vt_open(&options, command);
	s = seek(vt, start, argv[3], &wanted);
	if (argc > 5)
		save(vt, argv[5]);
	if (s < 0)
		printf("-\n");
	else
		printf("%.1f\n", s);
	vt_keys(vt, "q");
	vt_end(vt);
	vt_close(vt);
	regfree(&wanted);
	return s < 0;
}
