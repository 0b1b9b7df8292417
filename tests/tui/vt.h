/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal for tests: a program under a pty with job control, its output interpreted by libvterm.
 *
 * The program must write a line to the descriptor that vt_open adds as "frame=N" after each frame; tests wait for
 * those lines, never for time. If nothing arrives for 30 s, the test ends with a message.
 */
#ifndef JHOT_TESTS_TUI_VT_H
#define JHOT_TESTS_TUI_VT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

struct vt;

struct vt_options {
	int rows, cols;
	const char *term;          /* TERM, default xterm-256color */
	const char *const *setenv; /* "NAME=value" ..., NULL-terminated; NULL: none */
	bool jhot; /* the program is jhot itself: it accepts --frame-fd, and has no ticks */
};

/* The path of tests/tui/fake_top: in $builddir, or beside the test that was started as argv0. */
void vt_fake_top(const char *argv0, char *path, size_t bytes);

/* argv[0] is the program; "frame=N" and "tick=N" are appended. */
struct vt *vt_open(const struct vt_options *o, const char *const *argv);
void vt_close(struct vt *vt); /* kills the program if it still runs */

void vt_keys(struct vt *vt, const char *bytes);
void vt_resize(struct vt *vt, int rows, int cols);
void vt_signal(struct vt *vt, int number);
void vt_hang_up(struct vt *vt); /* close our end */

/* Waits for the next frame. Returns its bytes (by the program's own line), or -1 when the program has ended. */
long vt_frame(struct vt *vt);
/* Waits for `ticks` ticks of the program without reading its output, as over a link that is stuck. */
void vt_starve(struct vt *vt, int ticks);
/* Number of completed frames that vt_frame() has not returned. Consumes them. */
int vt_frames_left(struct vt *vt);
/* Waits until a frame shows the text. Returns false if the program ends before. */
bool vt_wait(struct vt *vt, const char *text);
/* Reads output until the program ends or stops. Returns its wait status. */
int vt_end(struct vt *vt);
bool vt_stopped(int status);
void vt_continue(struct vt *vt);

/* What the terminal shows. Texts are valid until the next call. */
const char *vt_row(struct vt *vt, int row);
bool vt_shows(struct vt *vt, const char *text);
bool vt_reverse(struct vt *vt, int row, int col);
bool vt_colored(struct vt *vt, int row, int col);
void vt_cursor(struct vt *vt, int *row, int *col, bool *visible);
bool vt_alt_screen(struct vt *vt);
/* True when the last 64 kB received contain these bytes in one piece. */
bool vt_received(struct vt *vt, const char *bytes);
void vt_forget(struct vt *vt); /* empties what vt_received() searches */
pid_t vt_pid(struct vt *vt);
size_t vt_bytes(struct vt *vt); /* received so far */
void vt_modes(struct vt *vt, struct termios *out);

#endif
