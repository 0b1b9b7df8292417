/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal device: descriptors, modes, size, non-blocking output. */
#include "tui/term/term.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int tty_open(struct terminal *t, struct err *err)
{
	t->in = STDIN_FILENO;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		err_set(err, ERR_USAGE, "The live view needs a terminal, and %s is not one.",
			isatty(STDIN_FILENO) ? "the standard output" : "the standard input");
		err_hint(err,
			"jhot record PID     prints the hot methods as text, also into a pipe");
		return -1;
	}
	if (tcgetattr(t->in, &t->saved) < 0)
		return err_set_errno(err, ERR_FAILED, "Cannot read the modes of the terminal");
	/* Our own open file description: O_NONBLOCK on the inherited one would affect the shell. */
	t->out = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (t->out < 0)
		t->out = open("/dev/tty", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (t->out < 0)
		t->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	return t->out >= 0 ? 0 : err_set_errno(err, ERR_FAILED, "Cannot write to the terminal");
}

void tty_raw(const struct terminal *t)
{
	struct termios raw = t->saved;

	/* ^C, ^Z and ^S are read as keys; output is not processed. */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(IXON | INLCR | IGNCR);
	raw.c_iflag |= ICRNL;
	raw.c_oflag &= ~(tcflag_t)OPOST;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(t->in, TCSADRAIN, &raw);
}

void term_size(const struct terminal *t, int *rows, int *cols)
{
	struct winsize ws = {0};

	if (ioctl(t->in, TIOCGWINSZ, &ws) < 0 || !ws.ws_row || !ws.ws_col) {
		const char *l = getenv("LINES"), *c = getenv("COLUMNS");

		ws.ws_row = (unsigned short)(l && atoi(l) > 0 ? atoi(l) : 24);
		ws.ws_col = (unsigned short)(c && atoi(c) > 0 ? atoi(c) : 80);
	}
	*rows = ws.ws_row > 1000 ? 1000 : ws.ws_row;
	*cols = ws.ws_col > 1000 ? 1000 : ws.ws_col;
}

/* --- bytes ------------------------------------------------------------------------------------------- */

int term_flush(struct terminal *t)
{
	ssize_t n;

	while (t->sent < t->pending.len && !t->gone) {
		n = write(t->out, t->pending.data + t->sent, t->pending.len - t->sent);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (n < 0) {
			t->gone = true;
			break;
		}
		t->sent += (size_t)n;
		t->bytes += (uint64_t)n;
	}
	buf_clear(&t->pending);
	t->sent = 0;
	return t->gone ? -1 : 0;
}

void tty_drain(struct terminal *t)
{
	struct pollfd p = {.fd = t->out, .events = POLLOUT};

	while (term_flush(t) == 0 && t->pending.len) {
		if (poll(&p, 1, 1000) <= 0)
			break;
	}
	buf_clear(&t->pending);
	t->sent = 0;
}

void term_copy(struct terminal *t, const char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = strlen(text);

	buf_adds(&t->pending, "\033]52;c;");
	for (size_t i = 0; i < len; i += 3) {
		uint32_t v = (uint32_t)(unsigned char)text[i] << 16;

		v |= i + 1 < len ? (uint32_t)(unsigned char)text[i + 1] << 8 : 0;
		v |= i + 2 < len ? (uint32_t)(unsigned char)text[i + 2] : 0;
		for (int k = 0; k < 4; k++)
			buf_addc(&t->pending,
				i + (size_t)k > len ? '=' : digits[v >> (18 - 6 * k) & 63]);
	}
	buf_addc(&t->pending, '\a');
	term_flush(t);
}
