/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal that accepts no bytes: the live view continues to sample, skips frames, and draws again once it accepts
 * some, even after more than a minute. That minute is simulated: the program's clock is set forward.
 */
#include "base/clock.h"
#include "tests/tap.h"
#include "tests/tui/fake.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_MS 60000 /* the longest wait before the test fails */
#define QUIET    3     /* ticks without a frame: the terminal is full */
#define MINUTE_S 70

static _Atomic int64_t *ahead_s; /* shared with the child */

/* Replaces the C library's: adds *ahead_s. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, id, ts);

	if (ahead_s && (id == CLOCK_MONOTONIC || id == CLOCK_REALTIME))
		ts->tv_sec += atomic_load(ahead_s);
	return rc;
}

static int child(int ticks, int frames)
{
	struct app_options options = {.frame_fd = frames, .attached = true};
	struct fake fake;
	struct err err = {0};

	setenv("TERM", "xterm-256color", 1);
	setenv("HOME", "/nonexistent", 1);
	fake_init(&fake, 400);
	fake.tick_fd = ticks;
	return app_run(&fake_ops, &fake, &options, &err) ? 1 : 0;
}

static bool readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) > 0 && p.revents & POLLIN;
}

/* Reads all pending bytes; true if there were any. */
static bool drain_fd(int fd)
{
	char bytes[65536];
	bool any = false;

	while (readable(fd, 0) && read(fd, bytes, sizeof(bytes)) > 0)
		any = true;
	return any;
}

static bool ticks_go_on(int ticks)
{
	char byte;

	for (int i = 0; i < QUIET; i++)
		if (!readable(ticks, LIMIT_MS) || read(ticks, &byte, 1) != 1)
			return false;
	return true;
}

/* Resizes the screen until no more frames are drawn. Returns false if that does not happen, or if the ticks stop. */
static bool fill(int master, int ticks, int frames)
{
	bool full = false;

	for (int i = 0; i < 100 && !full; i++) {
		struct winsize size = {.ws_row = (unsigned short)(60 + i % 2), .ws_col = 220};

		drain_fd(frames);
		ioctl(master, TIOCSWINSZ, &size);
		if (!ticks_go_on(ticks))
			return false;
		full = !drain_fd(frames);
	}
	return full;
}

int main(void)
{
	struct winsize size = {.ws_row = 60, .ws_col = 220};
	int ticks[2], frames[2], master, status = -1;
	bool drawn = false;
	pid_t pid;

	ahead_s = mmap(
		NULL, sizeof(*ahead_s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ahead_s == MAP_FAILED || pipe(ticks) || pipe(frames))
		return 1;
	pid = forkpty(&master, NULL, NULL, &size);
	if (pid < 0)
		tap_skip_all("no pty");
	if (!pid)
		_exit(child(ticks[1], frames[1]));
	close(ticks[1]);
	close(frames[1]);
	ok(fill(master, ticks[0], frames[0]), "a terminal that is not read becomes full");
	atomic_store(ahead_s, MINUTE_S);
	ok(ticks_go_on(ticks[0]), "more than a minute later samples are still read");
	is_int(waitpid(pid, &status, WNOHANG), 0, "the view is still running");
	ok(!drain_fd(frames[0]), "nothing is drawn while the terminal is full");
	for (int64_t waited = 0; waited < LIMIT_MS && !drawn; waited += 10) {
		drain_fd(master);
		drawn = readable(frames[0], 10);
	}
	ok(drawn, "the view draws again once the terminal accepts bytes");
	kill(pid, SIGTERM);
	while (waitpid(pid, &status, WNOHANG) == 0)
		if (readable(master, 10))
			drain_fd(master);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "SIGTERM ends the view normally");
	return tap_done();
}
