/* SPDX-License-Identifier: Apache-2.0 */
/* The signal pipe and the crash handler. */
#include "tui/term/signals.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first FORWARDED signals go to the loop, the others are crashes. */
static const int caught[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGSEGV,
	SIGBUS, SIGILL, SIGFPE, SIGABRT};

#define CAUGHT    (sizeof(caught) / sizeof(caught[0]))
#define FORWARDED 7

static struct {
	int pipe[2];
	struct sigaction old[CAUGHT], old_pipe;
	void *stack; /* a crash may be a stack overflow */
	stack_t old_stack;
	volatile sig_atomic_t armed;
	int tty;
	char restore[256];
	size_t bytes;
	struct termios modes;
} global;

static void on_signal(int number)
{
	int saved = errno;
	uint8_t byte = (uint8_t)number;

	/* If the pipe is full the loop wakes up anyway. */
	if (write(global.pipe[1], &byte, 1) < 0)
		errno = saved;
	errno = saved;
}

static void restore(void)
{
	if (!global.armed)
		return;
	global.armed = 0;
	tcsetattr(global.tty, TCSANOW, &global.modes);
	if (write(global.tty, global.restore, global.bytes) < 0)
		global.armed = 0;
}

static void on_crash(int number)
{
	restore();
	/* SA_RESETHAND: the default action follows when this handler returns. */
	raise(number);
}

int signals_open(void)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction crash = {.sa_handler = on_crash, .sa_flags = SA_RESETHAND | SA_ONSTACK};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	stack_t stack = {.ss_size = 64 * 1024};

	if (pipe2(global.pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	stack.ss_sp = global.stack = malloc(stack.ss_size);
	if (global.stack)
		sigaltstack(&stack, &global.old_stack);
	sigemptyset(&sa.sa_mask);
	sigemptyset(&crash.sa_mask);
	for (size_t i = 0; i < CAUGHT; i++)
		sigaction(caught[i], i < FORWARDED ? &sa : &crash, &global.old[i]);
	sigaction(SIGPIPE, &ignore, &global.old_pipe);
	buf_on_no_memory(restore);
	return global.pipe[0];
}

void signals_close(void)
{
	global.armed = 0;
	buf_on_no_memory(NULL);
	for (size_t i = 0; i < CAUGHT; i++)
		sigaction(caught[i], &global.old[i], NULL);
	sigaction(SIGPIPE, &global.old_pipe, NULL);
	if (global.stack)
		sigaltstack(&global.old_stack, NULL);
	free(global.stack);
	global.stack = NULL;
	close(global.pipe[0]);
	close(global.pipe[1]);
}

int signals_next(void)
{
	uint8_t byte;

	return read(global.pipe[0], &byte, 1) == 1 ? byte : 0;
}

void signals_on_crash(int tty, const char *restore, size_t bytes, const struct termios *modes)
{
	global.armed = 0;
	if (!restore)
		return;
	global.tty = tty;
	global.bytes = bytes < sizeof(global.restore) ? bytes : sizeof(global.restore);
	memcpy(global.restore, restore, global.bytes);
	global.modes = *modes;
	global.armed = 1;
}

void signals_stop(void)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, ours;
	sigset_t one, old;

	sigemptyset(&stop.sa_mask);
	sigaction(SIGTSTP, &stop, &ours);
	sigemptyset(&one);
	sigaddset(&one, SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &one, &old);
	kill(0, SIGTSTP);
	/* Continues here after SIGCONT. */
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	sigaction(SIGTSTP, &ours, NULL);
}
