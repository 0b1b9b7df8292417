/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the mark of a file that is still to be pushed. */
#include "cli/recorder/unpushed.h"

#include "attach/proc.h"

#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#define NAME     "user.jhot.push"
#define MARK_MAX 512

static uint64_t start_of(pid_t pid)
{
	struct proc_cpu cpu;

	return proc_cpu(pid, &cpu) ? 0 : cpu.start_ticks;
}

bool unpushed_mark(const char *path, const char *url, pid_t pusher)
{
	char mark[MARK_MAX];
	int n = snprintf(mark, sizeof(mark), "%d %llu %s", (int)pusher,
		(unsigned long long)start_of(pusher), url);

	/* Not through a link: another user may write in the folder. */
	return n < (int)sizeof(mark) && !lsetxattr(path, NAME, mark, (size_t)n, 0);
}

void unpushed_clear(const char *path)
{
	lremovexattr(path, NAME);
}

bool unpushed_claim(const char *path, const char *url, pid_t pusher)
{
	char mark[MARK_MAX];
	ssize_t n = lgetxattr(path, NAME, mark, sizeof(mark) - 1);
	unsigned long long start;
	int pid, at = 0;

	if (n <= 0)
		return false;
	mark[n] = '\0';
	if (sscanf(mark, "%d %llu %n", &pid, &start, &at) < 2 || !at || strcmp(mark + at, url) != 0)
		return false;
	if (pid > 0 && start && start_of(pid) == start)
		return false;
	return unpushed_mark(path, url, pusher);
}
