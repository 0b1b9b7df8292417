/* SPDX-License-Identifier: Apache-2.0 */
/* Roles that use descriptors and other limited resources of a process. */
#include "neighbours.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NUMBERS     4096
#define WAIT_TURNS  150
#define OWN_SPARE   24 /* files that the closer opens besides those in place of what it closed */
#define OWN_OFFSET  7
#define HOARD_FLOOR 300 /* descriptors that the hoarder leaves free at the start */
#define TIMERS      224
#define SLEEPERS    150 /* threads, for each of which jhot creates a timer */

/* Waits up to 1.5 s for a session, then 200 to 500 ms more: jhot has opened its memory by then. */
static void wait_for_session(void)
{
	static unsigned turn;

	for (int i = 0; i < WAIT_TURNS && !role_in_session(); i++)
		role_sleep_ms(10);
	role_sleep_ms(200 + turn++ * 67 % 300);
}

/* Waits up to 6 s for the end of the session, then 200 ms more. */
static void wait_for_end(void)
{
	for (int i = 0; i < WAIT_TURNS * 4 && role_in_session(); i++)
		role_sleep_ms(10);
	role_sleep_ms(200);
}

/* --- closes what it did not open, as daemons do, and opens files of its own -------------------- */

struct own {
	int fd;
	ino_t inode;
};

/* Sets is_open for each descriptor that is open. */
static void list_open(bool is_open[NUMBERS])
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *entry;

	memset(is_open, 0, sizeof(bool) * NUMBERS);
	while (fds && (entry = readdir(fds))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && fd < NUMBERS && fd != dirfd(fds))
			is_open[fd] = true;
	}
	if (fds)
		closedir(fds);
}

static bool is_socket(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISSOCK(st.st_mode);
}

/* Opens a file of the role's own as descriptor `number`, or, if that is negative, the first free one from `floor` on. */
static struct own own_at(int number, int floor)
{
	int fd = memfd_create("own", MFD_CLOEXEC), at;
	struct stat st;

	if (fd < 0)
		return (struct own){-1, 0};
	at = number >= 0 ? dup3(fd, number, O_CLOEXEC) : fcntl(fd, F_DUPFD_CLOEXEC, floor);
	close(fd);
	if (at < 0 || fstat(at, &st) || write(at, "content", OWN_OFFSET) != OWN_OFFSET)
		return (struct own){-1, 0};
	return (struct own){at, st.st_ino};
}

static const char *own_harmed(const struct own *own)
{
	char content[16];
	struct stat st;

	if (fstat(own->fd, &st))
		return "its descriptor was closed:";
	if (st.st_ino != own->inode)
		return "its descriptor refers to another file:";
	if (fcntl(own->fd, F_GETFL) & O_ASYNC || fcntl(own->fd, F_GETOWN) != 0)
		return "its descriptor was made to send signals:";
	if (lseek(own->fd, 0, SEEK_CUR) != OWN_OFFSET || st.st_size != OWN_OFFSET ||
		pread(own->fd, content, sizeof(content), 0) != OWN_OFFSET ||
		memcmp(content, "content", OWN_OFFSET))
		return "its file was read or written:";
	return NULL;
}

void role_closer(const struct role *role, struct report *report)
{
	static bool before[NUMBERS], now[NUMBERS];
	static struct own own[NUMBERS];

	role_wait_ready();
	list_open(before);
	for (;; report->turns++) {
		int count = 0;

		wait_for_session();
		list_open(now);
		/* Not sockets: the JVM's attach listener needs its own for every tool that attaches. */
		for (int fd = 3; fd < NUMBERS; fd++)
			if (now[fd] && !before[fd] && !is_socket(fd) && !close(fd))
				own[count++] = own_at(fd, 0);
		for (int i = 0; i < OWN_SPARE; i++)
			own[count++] = own_at(-1, i % 2 ? 200 : 0);
		wait_for_end();
		for (int i = 0; i < count; i++) {
			const char *harm = own[i].fd < 0 ? NULL : own_harmed(&own[i]);

			if (harm)
				role_harm(report, harm, own[i].fd);
			if (own[i].fd >= 0)
				close(own[i].fd);
		}
	}
}

/* --- needs all of its descriptors --------------------------------------------------------------- */

/* Counts the descriptors that can be opened now, and closes them again. */
static int descriptors_free(void)
{
	static int fds[NUMBERS];
	int count = 0;

	while (count < NUMBERS && (fds[count] = fcntl(0, F_DUPFD_CLOEXEC, 0)) >= 0)
		count++;
	for (int i = 0; i < count; i++)
		close(fds[i]);
	return count;
}

void role_hoarder(const struct role *role, struct report *report)
{
	static bool is_open[NUMBERS];
	struct rlimit limit = {0, 0};
	int used = 0, alone;

	role_wait_ready();
	list_open(is_open);
	for (int fd = 0; fd < NUMBERS; fd++)
		used = is_open[fd] ? fd + 1 : used;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = (rlim_t)used + HOARD_FLOOR;
	setrlimit(RLIMIT_NOFILE, &limit);
	alone = descriptors_free();
	for (;; report->turns++) {
		int count;

		wait_for_session();
		count = descriptors_free();
		/* one for the attach listener, one for its client, one from which jhot's agent is loaded */
		if (count < alone - 3)
			role_harm(report,
				"descriptors that it can open only without jhot:", alone - count);
	}
}

/* --- needs most of the timers that the user may have -------------------------------------------- */

/* For all threads, so that jhot samples by CPU timers. */
static bool forbid_perf_events(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
}

/* The number after `key` in the last line that begins with it, -1 if none does. times: how many lines do. */
static long line_of(const char *path, const char *key, long *times)
{
	FILE *file = fopen(path, "re");
	char line[256];
	long number = -1;

	*times = 0;
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)))
			continue;
		number = strtol(line + strlen(key), NULL, 10);
		++*times;
	}
	if (file)
		fclose(file);
	return number;
}

static void *sleeper(void *arg)
{
	for (;;)
		role_sleep_ms(1000);
	return arg;
}

void role_timers(const struct role *role, struct report *report)
{
	struct sigevent silent = {.sigev_notify = SIGEV_NONE};
	timer_t timers[TIMERS];
	struct rlimit limit;
	pthread_t thread;
	long times;

	role_wait_ready();
	if (!forbid_perf_events())
		role_harm(report, "seccomp failed with errno", errno);
	for (int i = 0; i < SLEEPERS; i++)
		pthread_create(&thread, NULL, sleeper, NULL);
	getrlimit(RLIMIT_SIGPENDING, &limit);
	limit.rlim_cur = (rlim_t)line_of("/proc/self/status", "SigQ:\t", &times) + TIMERS + 96;
	setrlimit(RLIMIT_SIGPENDING, &limit);
	for (;; report->turns++) {
		int count = 0;

		wait_for_session();
		for (; count < TIMERS && !timer_create(CLOCK_MONOTONIC, &silent, &timers[count]);
			count++)
			if (count % 8 == 7)
				role_sleep_ms(50);
		/* The limit includes the user's other processes: a failure is a harm only if this one has many timers of jhot. */
		line_of("/proc/self/timers", "ID: ", &times);
		if (count < TIMERS && times - count > TIMERS / 8)
			role_harm(report,
				"its own timers cannot be created, beside timers of jhot:",
				times - count);
		wait_for_end();
		while (count)
			timer_delete(timers[--count]);
	}
}
