/* SPDX-License-Identifier: Apache-2.0 */
/* The connection to another host: the command that runs there, sending this program, collecting errors. */
#include "cli/live/remote.h"

#include "base/buf.h"
#include "base/clean.h"
#include "base/file.h"
#include "cli/line/verb.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SSH          "ssh"
#define SSH_OPTION   "--ssh="
#define WORDS_MAX    32
#define PIECE        (1u << 20)
#define EXECUTABLE   "/proc/self/exe"
#define END_MS       2000
#define END_STEP_MS  20
#define ERRORS_MAX   (64u << 10)
#define NOT_EXECUTED 126 /* the shell's exit status, or 127 */

struct remote {
	pid_t ssh;
	int to, from; /* pipes; -1: closed or taken */
	int errors;   /* memfd: stderr */
};

bool remote_is(const char *target)
{
	const char *colon = strchr(target, ':');

	return colon && colon != target && colon[1] && !strchr(target, '/');
}

/* Adds a word for a POSIX shell. */
static void add_quoted(struct buf *out, const char *word)
{
	buf_adds(out, " '");
	for (; *word; word++)
		if (*word == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, *word);
	buf_addc(out, '\'');
}

void remote_options(const struct args *args, void (*fn)(void *ctx, const char *word), void *ctx)
{
	const struct verb *relay = verb_find("relay");
	struct buf word = {0};

	for (int i = 0; i < args->value_count; i++)
		for (const struct option_def *o = options; o->name; o++) {
			if (o->id != args->values[i].id || !(o->verbs & relay->bit))
				continue;
			buf_clear(&word);
			buf_printf(&word, "--%s", o->name);
			if (o->arg)
				buf_printf(&word, "=%s", args->values[i].value);
			fn(ctx, buf_str(&word));
			break;
		}
	buf_done(&word);
}

static void add_option(void *ctx, const char *word)
{
	if (strncmp(word, SSH_OPTION, sizeof(SSH_OPTION) - 1) != 0) /* of this end only */
		add_quoted(ctx, word);
}

/* " relay --event=cpu NAME", with all options of `jhot relay` that were given. */
static void add_relay(struct buf *out, const struct args *args, const char *name)
{
	buf_adds(out, " relay");
	remote_options(args, add_option, out);
	buf_adds(out, " --");
	add_quoted(out, name);
}

static int start_ssh(struct remote *r, const char *ssh, char *host, char *script, struct err *err)
{
	int to[2], from[2];

	r->errors = memfd_create("jhot-ssh", MFD_CLOEXEC);
	if (r->errors < 0 || pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		return err_set_errno(err, ERR_FAILED, "Cannot start %s", ssh);
	r->ssh = fork();
	if (!r->ssh) {
		char *words[WORDS_MAX], *all = xstrdup(ssh), *rest = all;
		int n = 0;

		while (n < WORDS_MAX - 4 && (words[n] = strtok_r(rest, " ", &rest)))
			n++;
		words[n++] = (char *)"--";
		words[n++] = host;
		words[n++] = script;
		words[n] = NULL;
		for (int i = 0; i < 3; i++)
			dup2(((const int[]){to[0], from[1], r->errors})[i], i);
		execvp(words[0], words);
		dprintf(STDERR_FILENO, "%s: %s\n", words[0], strerror(errno));
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	r->to = to[1];
	r->from = from[0];
	return r->ssh > 0 ? 0 : err_set_errno(err, ERR_FAILED, "Cannot start %s", ssh);
}

/* Reads a short line. Returns false at the end of the stream. */
static bool read_line(const struct remote *r, char *line, size_t bytes)
{
	size_t n = 0;

	while (n + 1 < bytes && read(r->from, line + n, 1) == 1 && line[n] != '\n')
		n++;
	line[n] = '\0';
	return n > 0;
}

static int send_program(const struct remote *r, struct err *err)
{
	int fd = open(EXECUTABLE, O_RDONLY | O_CLOEXEC);
	struct buf program = {0};
	int rc = fd < 0 ? -errno : buf_read_all(&program, fd, SIZE_MAX / 2);

	if (!rc && file_write(r->to, program.data, program.len))
		rc = -errno;
	if (fd >= 0)
		close(fd);
	buf_done(&program);
	errno = -rc;
	return rc ? err_set_errno(err, ERR_FAILED, "Cannot send jhot to the other host") : 0;
}

/* The first message must begin to arrive; before that, the far end may still fail. */
static int wait_for_stream(const struct remote *r)
{
	struct pollfd p = {.fd = r->from, .events = POLLIN};

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	return p.revents & POLLIN ? 0 : -1;
}

static void close_stream(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int remote_take_stream(struct remote *r)
{
	int fd = r->from;

	r->from = -1;
	return fd;
}

void remote_copy(struct remote *r, int out)
{
	struct buf bytes = {0};

	while (buf_read(&bytes, r->from, PIECE) > 0 && !file_write(out, bytes.data, bytes.len))
		buf_clear(&bytes);
	buf_done(&bytes);
}

/* Prints the errors of ssh and of the remote end on stderr. */
static void print_errors(const struct remote *r)
{
	struct buf text = {0};
	char line[512];

	lseek(r->errors, 0, SEEK_SET);
	if (!buf_read_all(&text, r->errors, ERRORS_MAX))
		for (const char *at = buf_str(&text); *at;) {
			size_t n = strcspn(at, "\n");

			clean_text(line, sizeof(line), at, n);
			fprintf(stderr, "%s\n", line);
			at += n + (at[n] == '\n');
		}
	buf_done(&text);
}

/* Waits for ssh. Returns its exit status; -1: it was killed. */
static int end_ssh(struct remote *r)
{
	int status = 0;

	close_stream(&r->to);
	close_stream(&r->from);
	if (r->ssh <= 0)
		return -1;
	for (int ms = 0; waitpid(r->ssh, &status, WNOHANG) == 0; ms += END_STEP_MS) {
		if (ms >= END_MS)
			kill(r->ssh, SIGTERM);
		poll(NULL, 0, END_STEP_MS);
	}
	r->ssh = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void remote_end(struct remote *r)
{
	if (!r)
		return;
	end_ssh(r);
	close_stream(&r->errors);
	free(r);
}

struct remote *remote_begin(const char *target, const struct args *args, struct err *err)
{
	const char *ssh = args_get(args, OPT_SSH), *name = strchr(target, ':') + 1;
	char *host = xstrndup(target, (size_t)(name - 1 - target)), line[16] = "";
	struct remote *r = xcalloc(1, sizeof(*r));
	struct buf script = {0};
	struct stat program;

	r->to = r->from = r->errors = -1;
	signal(SIGPIPE, SIG_IGN);
	int rc = stat(EXECUTABLE, &program);
	if (rc)
		err_set_errno(err, ERR_FAILED, "Cannot read %s", EXECUTABLE);
	if (!rc) {
		/* The remote shell command. Its first line of output is "have" or "need". */
		buf_adds(&script, "if command -v jhot >/dev/null 2>&1; then echo have; exec jhot");
		add_relay(&script, args, name);
		buf_printf(&script,
			"; fi; d=$(mktemp -d \"${TMPDIR:-/tmp}/jhot.XXXXXX\") || exit 1; "
			"trap 'rm -rf \"$d\"' EXIT; trap 'exit 1' HUP INT TERM; echo need; "
			"head -c %lld >\"$d/jhot\" && chmod 700 \"$d/jhot\" && \"$d/jhot\"",
			(long long)program.st_size);
		add_relay(&script, args, name);
		rc = start_ssh(r, ssh ? ssh : SSH, host, script.data, err);
	}
	if (!rc && (!read_line(r, line, sizeof(line)) ||
			   (!strcmp(line, "need") && send_program(r, err)) || wait_for_stream(r))) {
		rc = -1;
		int status = end_ssh(r);
		print_errors(r);
		err_set(err, ERR_ATTACH, "The JVM \"%s\" on %s cannot be watched (exit status %d).",
			name, host, status);
		if (!strcmp(line, "need") && status >= NOT_EXECUTED)
			err_hint(err,
				"that host has no jhot, and this one does not run there: a static "
				"executable for its CPU would (make tarball)");
		err_hint(err, "%s %s jhot list", ssh ? ssh : SSH, host);
	}
	if (rc) {
		remote_end(r);
		r = NULL;
	}
	buf_done(&script);
	free(host);
	return r;
}
