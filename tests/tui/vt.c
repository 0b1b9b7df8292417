/* SPDX-License-Identifier: Apache-2.0 */
/* The test terminal: a pty, job control, libvterm. */
#include "tests/tui/vt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vterm.h>

#define SILENCE_MS 30000

struct vt {
	pid_t leader, pid; /* a minimal shell, and the program that it runs */
	int master, frames, ticks, status;
	VTerm *vterm;
	VTermScreen *screen;
	int rows, cols;
	bool alt, cursor_visible;
	size_t bytes;
	char line[64]; /* the line that is being read from frames */
	size_t line_len;
	char text[4096];
	char raw[65536]; /* the last bytes received */
	size_t raw_len;
};

void vt_fake_top(const char *argv0, char *path, size_t bytes)
{
	const char *build = getenv("builddir"), *end = strrchr(argv0, '/');

	snprintf(path, bytes, "%s/tests/tui/fake_top", build ? build : ".");
	if (access(path, X_OK) < 0 && end)
		snprintf(path, bytes, "%.*s/fake_top", (int)(end - argv0), argv0);
}

/* --- the program's side ------------------------------------------------------------------------------ */

static void exec_program(
	const struct vt_options *o, const char *const *argv, int frame_fd, int tick_fd)
{
	const char *args[32];
	char frame[32], tick[32];
	int n = 0;

	for (; argv[n] && n < 29; n++)
		args[n] = argv[n];
	snprintf(frame, sizeof(frame), o->jhot ? "--frame-fd=%d" : "frame=%d", frame_fd);
	args[n++] = frame;
	snprintf(tick, sizeof(tick), "tick=%d", tick_fd);
	if (!o->jhot)
		args[n++] = tick;
	args[n] = NULL;
	unsetenv("NO_COLOR");
	unsetenv("LINES");
	unsetenv("COLUMNS");
	setenv("TZ", "UTC", 1);
	setenv("TERM", o->term ? o->term : "xterm-256color", 1);
	for (int i = 0; o->setenv && o->setenv[i]; i++)
		putenv((char *)o->setenv[i]);
	execv(args[0], (char *const *)args);
	_exit(127);
}

static void report(int fd, pid_t pid, int status)
{
	int words[2] = {(int)pid, status};

	if (write(fd, words, sizeof(words)) < 0)
		_exit(126);
}

/* The session's leader: runs the program in a process group of its own, as a shell does, and reports its statuses. */
static void lead(const struct vt_options *o, const char *const *argv, int frame_fd, int tick_fd,
	int status_fd)
{
	pid_t pid;
	int status;

	signal(SIGTTOU, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		tcsetpgrp(0, getpid());
		signal(SIGTTOU, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		close(status_fd);
		exec_program(o, argv, frame_fd, tick_fd);
	}
	setpgid(pid, pid);
	close(frame_fd);
	close(tick_fd);
	report(status_fd, pid, 0);
	while (waitpid(pid, &status, WUNTRACED) == pid) {
		report(status_fd, 0, status);
		if (!WIFSTOPPED(status))
			break;
	}
	_exit(0);
}

/* --- libvterm ---------------------------------------------------------------------------------------- */

static int on_property(VTermProp prop, VTermValue *value, void *user)
{
	struct vt *vt = user;

	if (prop == VTERM_PROP_ALTSCREEN)
		vt->alt = value->boolean;
	if (prop == VTERM_PROP_CURSORVISIBLE)
		vt->cursor_visible = value->boolean;
	return 1;
}

static const VTermScreenCallbacks callbacks = {.settermprop = on_property};

static void open_vterm(struct vt *vt)
{
	vt->vterm = vterm_new(vt->rows, vt->cols);
	vterm_set_utf8(vt->vterm, 1);
	vt->screen = vterm_obtain_screen(vt->vterm);
	vterm_screen_set_callbacks(vt->screen, &callbacks, vt);
	vterm_screen_enable_altscreen(vt->screen, 1);
	vterm_screen_reset(vt->screen, 1);
	vt->cursor_visible = true;
}

/* --- our side ---------------------------------------------------------------------------------------- */

static void fail(const char *why)
{
	printf("Bail out! vt: %s\n", why);
	fflush(stdout);
	exit(1);
}

struct vt *vt_open(const struct vt_options *o, const char *const *argv)
{
	struct winsize ws = {.ws_row = (unsigned short)o->rows, .ws_col = (unsigned short)o->cols};
	struct vt *vt = calloc(1, sizeof(*vt));
	int frames[2], ticks[2], status[2], words[2];

	if (!vt || pipe(frames) < 0 || pipe(ticks) < 0 || pipe(status) < 0)
		fail("no pipe");
	vt->rows = o->rows;
	vt->cols = o->cols;
	open_vterm(vt);
	fcntl(frames[0], F_SETFD, FD_CLOEXEC);
	fcntl(ticks[0], F_SETFD, FD_CLOEXEC);
	fcntl(ticks[1], F_SETFL, O_NONBLOCK); /* they may not be read */
	fcntl(status[0], F_SETFD, FD_CLOEXEC);
	vt->leader = forkpty(&vt->master, NULL, NULL, &ws);
	if (vt->leader < 0)
		fail("no pty");
	if (vt->leader == 0)
		lead(o, argv, frames[1], ticks[1], status[1]);
	close(frames[1]);
	close(ticks[1]);
	close(status[1]);
	vt->frames = frames[0];
	vt->ticks = ticks[0];
	vt->status = status[0];
	if (read(vt->status, words, sizeof(words)) != sizeof(words))
		fail("the program did not start");
	vt->pid = words[0];
	return vt;
}

void vt_close(struct vt *vt)
{
	kill(vt->pid, SIGKILL);
	kill(vt->leader, SIGKILL);
	waitpid(vt->leader, NULL, 0);
	if (vt->master >= 0)
		close(vt->master);
	close(vt->frames);
	close(vt->ticks);
	close(vt->status);
	vterm_free(vt->vterm);
	free(vt);
}

/* Feeds output to libvterm, and appends it to `raw`. */
static void receive(struct vt *vt, const char *bytes, size_t n)
{
	size_t space = sizeof(vt->raw), keep = n < space ? space - n : 0;

	vterm_input_write(vt->vterm, bytes, n);
	vt->bytes += n;
	if (n > space) {
		bytes += n - space;
		n = space;
	}
	if (vt->raw_len > keep) {
		memmove(vt->raw, vt->raw + vt->raw_len - keep, keep);
		vt->raw_len = keep;
	}
	memcpy(vt->raw + vt->raw_len, bytes, n);
	vt->raw_len += n;
}

/* Receives output until a status is readable (*ended), or, if `frames`, a frame's line. */
static void pump(struct vt *vt, bool frames, bool *ended)
{
	char buf[65536];

	for (;;) {
		struct pollfd p[] = {{.fd = vt->master, .events = POLLIN},
			{.fd = frames && vt->line_len == 0 ? vt->frames : -1, .events = POLLIN},
			{.fd = vt->status, .events = POLLIN}};
		ssize_t n;

		if (poll(p, 3, SILENCE_MS) <= 0)
			fail("the program has been silent for 30 s");
		/* Output first: a frame's line comes after its bytes. */
		if (p[0].revents & POLLIN && (n = read(vt->master, buf, sizeof(buf))) > 0) {
			receive(vt, buf, (size_t)n);
			continue;
		}
		if (p[1].revents & POLLIN)
			return;
		if (p[2].revents) {
			*ended = true;
			return;
		}
	}
}

long vt_frame(struct vt *vt)
{
	unsigned long long number, bytes;
	bool ended = false;
	char c;

	for (;;) {
		pump(vt, true, &ended);
		if (ended)
			return -1;
		while (vt->line_len < sizeof(vt->line) - 1) {
			if (read(vt->frames, &c, 1) != 1)
				return -1;
			if (c == '\n')
				break;
			vt->line[vt->line_len++] = c;
		}
		vt->line[vt->line_len] = '\0';
		vt->line_len = 0;
		if (sscanf(vt->line, "frame %llu %llu", &number, &bytes) == 2)
			break;
	}
	return (long)bytes;
}

void vt_starve(struct vt *vt, int ticks)
{
	char byte;

	while (ticks-- > 0) {
		struct pollfd p = {.fd = vt->ticks, .events = POLLIN};

		if (poll(&p, 1, SILENCE_MS) <= 0 || read(vt->ticks, &byte, 1) != 1)
			fail("the program does not tick");
	}
}

int vt_frames_left(struct vt *vt)
{
	struct pollfd p = {.fd = vt->frames, .events = POLLIN};
	int lines = 0;
	char c;

	while (poll(&p, 1, 0) > 0 && read(vt->frames, &c, 1) == 1)
		lines += c == '\n';
	return lines;
}

bool vt_wait(struct vt *vt, const char *text)
{
	while (!vt_shows(vt, text))
		if (vt_frame(vt) < 0)
			return vt_shows(vt, text);
	return true;
}

int vt_end(struct vt *vt)
{
	int words[2] = {0, 0};
	bool ended = false;
	char buf[4096];
	ssize_t n;

	while (!ended)
		pump(vt, false, &ended);
	if (read(vt->status, words, sizeof(words)) != sizeof(words))
		fail("no status");
	/* The last output may still be in the pty. */
	if (vt->master >= 0) {
		struct pollfd p = {.fd = vt->master, .events = POLLIN};

		while (poll(&p, 1, 0) > 0 && (n = read(vt->master, buf, sizeof(buf))) > 0) {
			receive(vt, buf, (size_t)n);
		}
	}
	return words[1];
}

bool vt_stopped(int status)
{
	return WIFSTOPPED(status);
}

void vt_continue(struct vt *vt)
{
	kill(vt->pid, SIGCONT);
}

void vt_keys(struct vt *vt, const char *bytes)
{
	if (write(vt->master, bytes, strlen(bytes)) < 0)
		fail("keys cannot be typed");
}

void vt_resize(struct vt *vt, int rows, int cols)
{
	struct winsize ws = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};

	vt->rows = rows;
	vt->cols = cols;
	vterm_set_size(vt->vterm, rows, cols);
	ioctl(vt->master, TIOCSWINSZ, &ws);
	kill(vt->pid, SIGWINCH);
}

void vt_signal(struct vt *vt, int number)
{
	kill(vt->pid, number);
}

void vt_hang_up(struct vt *vt)
{
	close(vt->master);
	vt->master = -1;
}

/* --- what is shown ----------------------------------------------------------------------------------- */

static VTermScreenCell cell_at(struct vt *vt, int row, int col)
{
	VTermScreenCell cell = {0};
	VTermPos pos = {.row = row, .col = col};

	vterm_screen_get_cell(vt->screen, pos, &cell);
	return cell;
}

const char *vt_row(struct vt *vt, int row)
{
	VTermRect rect = {
		.start_row = row, .end_row = row + 1, .start_col = 0, .end_col = vt->cols};
	size_t n = vterm_screen_get_text(vt->screen, vt->text, sizeof(vt->text) - 1, rect);

	while (n > 0 && vt->text[n - 1] == ' ')
		n--;
	vt->text[n] = '\0';
	return vt->text;
}

bool vt_shows(struct vt *vt, const char *text)
{
	for (int row = 0; row < vt->rows; row++)
		if (strstr(vt_row(vt, row), text))
			return true;
	return false;
}

bool vt_reverse(struct vt *vt, int row, int col)
{
	return cell_at(vt, row, col).attrs.reverse;
}

bool vt_colored(struct vt *vt, int row, int col)
{
	VTermScreenCell cell = cell_at(vt, row, col);

	return !VTERM_COLOR_IS_DEFAULT_FG(&cell.fg) || !VTERM_COLOR_IS_DEFAULT_BG(&cell.bg);
}

void vt_cursor(struct vt *vt, int *row, int *col, bool *visible)
{
	VTermPos pos;

	vterm_state_get_cursorpos(vterm_obtain_state(vt->vterm), &pos);
	*row = pos.row;
	*col = pos.col;
	*visible = vt->cursor_visible;
}

bool vt_received(struct vt *vt, const char *bytes)
{
	return memmem(vt->raw, vt->raw_len, bytes, strlen(bytes)) != NULL;
}

void vt_forget(struct vt *vt)
{
	vt->raw_len = 0;
}

pid_t vt_pid(struct vt *vt)
{
	return vt->pid;
}

bool vt_alt_screen(struct vt *vt)
{
	return vt->alt;
}

size_t vt_bytes(struct vt *vt)
{
	return vt->bytes;
}

void vt_modes(struct vt *vt, struct termios *out)
{
	tcgetattr(vt->master, out);
}
