/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time from starting a jhot until the JVM is sampled: bench_attach PID COMMAND...
 *
 * Runs the command, watches /proc/PID/fd for the session's shared memory as a front end would, and that memory for
 * the first sample. Prints two times in ms since the start: the memory exists; the first sample was taken. Ends the
 * command afterwards.
 */
#include "base/clock.h"
#include "wire/layout.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_NS (20 * NS_PER_S)
#define PAUSE_US    200

/* One look through the descriptors of all threads; -1 if there is no session memory. */
static int find_memory(const char *pattern)
{
	char target[64];
	glob_t found;
	int fd = -1;

	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		return -1;
	for (size_t i = 0; i < found.gl_pathc && fd < 0; i++) {
		ssize_t n = readlink(found.gl_pathv[i], target, sizeof(target) - 1);

		if (n <= 0)
			continue;
		target[n] = 0;
		if (strstr(target, "memfd:" WIRE_MEMFD_PREFIX))
			fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);
	}
	globfree(&found);
	return fd;
}

/* NULL while the agent is still filling it: a memfd can be seen before it has a size. */
static const struct wire_status *map_status(int fd)
{
	size_t bytes = 3 * (size_t)WIRE_PAGE;
	const struct wire_header *header;
	struct stat st;
	const char *map;

	if (fstat(fd, &st) || st.st_size < (off_t)bytes)
		return NULL;
	map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return NULL;
	header = (const void *)map;
	if (header->magic == WIRE_MAGIC && header->status_off + sizeof(struct wire_status) <= bytes)
		return (const void *)(map + header->status_off);
	munmap((void *)map, bytes);
	return NULL;
}

static double ms_since(uint64_t from)
{
	return (double)(clock_mono_ns() - from) / 1e6;
}

static int watch(const char *folder, uint64_t from)
{
	const struct wire_status *status = NULL;
	double found = 0;

	while (clock_mono_ns() - from < PATIENCE_NS) {
		int fd = status ? -1 : find_memory(folder);

		if (fd >= 0) {
			found = ms_since(from);
			status = map_status(fd);
			close(fd);
		}
		if (status && status->events[WIRE_CPU].samples > 0) {
			printf("%.1f %.1f\n", found, ms_since(from));
			return 0;
		}
		usleep(PAUSE_US);
	}
	fprintf(stderr, "bench_attach: no sample within 20 s\n");
	return 1;
}

int main(int argc, char **argv)
{
	char folder[64];
	uint64_t from;
	pid_t child;
	int rc;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_attach PID COMMAND...\n");
		return 2;
	}
	snprintf(folder, sizeof(folder), "/proc/%s/task/*/fd/*", argv[1]);
	from = clock_mono_ns();
	child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	rc = watch(folder, from);
	kill(child, SIGINT);
	waitpid(child, NULL, 0);
	return rc;
}
