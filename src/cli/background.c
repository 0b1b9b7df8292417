/* SPDX-License-Identifier: Apache-2.0 */
/* The process of `jhot start`, and its log. */
#include "cli/background.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#define LOG_NAME        "jhot-log"
#define RESULT_NAME     "jhot-result"
#define LOG_MAX         (1 << 20) /* bytes */
#define LOG_SHOWN       600

#define DESCRIPTORS_MAX 4096 /* limit on closing descriptors that were inherited from a JVM */

static int ready_pipe = -1, log_fd = -1;
static bool in_background;

int background_fork(int *status, struct err *err)
{
	int ends[2], rc;
	char ready;

	if (pipe2(ends, O_CLOEXEC))
		return err_set_errno(err, ERR_FAILED, "Cannot create a pipe");
	fflush(NULL);
	pid_t child = fork();
	if (child < 0) {
		err_set_errno(err, ERR_FAILED, "Cannot create a process");
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	if (!child) {
		close(ends[0]);
		ready_pipe = ends[1];
		signal(SIGINT, SIG_DFL); /* background_stop; it is ignored in jobs of a script */
		return 0;
	}
	close(ends[1]);
	do
		rc = (int)read(ends[0], &ready, 1);
	while (rc < 0 && errno == EINTR);
	close(ends[0]);
	*status = 0;
	if (rc != 1 && waitpid(child, &rc, 0) == child)
		*status = WIFEXITED(rc) ? WEXITSTATUS(rc) : ERR_FAILED;
	return 1;
}

/* A file in memory for one of the standard streams; /dev/null if there is no memory. */
static int redirect(int stream, const char *name, int null)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd >= 0)
		fcntl(fd, F_SETFL, O_APPEND);
	dup2(fd >= 0 ? fd : null, stream);
	return fd;
}

static void detach(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null, STDIN_FILENO);
	close(redirect(STDOUT_FILENO, RESULT_NAME, null));
	log_fd = redirect(STDERR_FILENO, LOG_NAME, null);
	close(null);
	setsid();
	signal(SIGHUP, SIG_IGN);
	in_background = true;
}

void background_leave(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur > DESCRIPTORS_MAX)
		files.rlim_cur = DESCRIPTORS_MAX;
	for (int fd = STDERR_FILENO + 1; fd < (int)files.rlim_cur; fd++)
		close(fd);
	if (fork())
		_exit(0);
	signal(SIGINT, SIG_DFL);
	detach();
}

void background_ready(const struct hotspot *jvm)
{
	if (ready_pipe < 0)
		return;
	printf("recording %d %s in the background (jhot process %d)\n\n"
	       "  jhot top %-24d watch it\n"
	       "  jhot save --last 5m -o FILE %-5d write the last minutes to a file\n"
	       "  jhot stop %-23d end it, and print the result\n",
		(int)jvm->pid, jvm->name, (int)getpid(), (int)jvm->pid, (int)jvm->pid,
		(int)jvm->pid);
	fflush(NULL);
	detach();
	if (write(ready_pipe, "r", 1) < 0)
		_exit(ERR_FAILED); /* the user believes that it has failed */
	close(ready_pipe);
	ready_pipe = -1;
}

bool background_is(void)
{
	return in_background;
}

void background_log_error(const struct err *err)
{
	if (in_background)
		syslog(LOG_ERR, "%s", err->what);
}

void background_limit_log(void)
{
	struct stat st;

	if (log_fd >= 0 && !fstat(log_fd, &st) && st.st_size > LOG_MAX && ftruncate(log_fd, 0))
		log_fd = -1; /* stop trying */
}

/* --- from another process ------------------------------------------------------------------------------ */

/* Opens a standard stream of a background process, to read it; -1: it is not one, or belongs to another user. */
static int open_stream(pid_t pid, int stream, const char *name)
{
	char path[64], target[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, stream);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -1;
	target[n] = '\0';
	if (strncmp(target, "/memfd:", 7) != 0 || strncmp(target + 7, name, strlen(name)) != 0)
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool background_is_process(pid_t pid)
{
	int log = open_stream(pid, STDERR_FILENO, LOG_NAME);

	if (log >= 0)
		close(log);
	return log >= 0;
}

/* Copies the rest of a file from an offset on. */
static void print_rest(int fd, off_t at, FILE *out)
{
	char bytes[4096];
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		fwrite(bytes, 1, (size_t)n, out);
		at += n;
	}
}

void background_print_log(pid_t pid)
{
	int log = open_stream(pid, STDERR_FILENO, LOG_NAME);
	char tail[LOG_SHOWN];

	if (log < 0)
		return;
	off_t end = lseek(log, 0, SEEK_END);
	end -= end > LOG_SHOWN ? LOG_SHOWN : end;
	ssize_t n = end ? pread(log, tail, sizeof(tail), end) : 0;
	for (ssize_t i = 0; i < n; i++) /* begin with a whole line */
		if (tail[i] == '\n') {
			end += i + 1;
			break;
		}
	print_rest(log, end, stdout);
	close(log);
}

int background_stop(pid_t pid, bool result, struct err *err)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0);
	int log = open_stream(pid, STDERR_FILENO, LOG_NAME);
	int out = open_stream(pid, STDOUT_FILENO, RESULT_NAME);
	struct pollfd end = {.fd = process, .events = POLLIN};
	off_t at = lseek(log, 0, SEEK_END);
	bool stopped = process >= 0 && !syscall(SYS_pidfd_send_signal, process, SIGINT, NULL, 0);

	if (!stopped)
		err_set_errno(err, ERR_FAILED, "Cannot stop jhot process %d", (int)pid);
	while (stopped && poll(&end, 1, -1) < 0 && errno == EINTR)
		;
	if (stopped)
		print_rest(log, at, stderr);
	if (stopped && result)
		print_rest(out, 0, stdout);
	close(log);
	close(out);
	close(process);
	return stopped ? 0 : -1;
}
