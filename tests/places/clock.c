/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded: changes the wall clock and the boot clock of a process, as the file $JHOT_TEST_CLOCK says: in text, "REAL BOOT
 * FROM", each of 11 characters. BOOT seconds are added to CLOCK_BOOTTIME, as by a suspend. REAL seconds are added to the wall
 * clock, but only from the process's FROMth reading on, so that it can change between two readings. Each changed reading writes
 * an x at the file's end. CLOCK_MONOTONIC is unchanged, as are the times of files, which only the system's clock could change.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FIELD 11
#define MARK  (3 * FIELD)

static char *file;
static _Atomic long readings;

__attribute__((constructor)) static void clock_open(void)
{
	const char *path = getenv("JHOT_TEST_CLOCK");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED
			  : mmap(NULL, MARK + 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	file = at == MAP_FAILED ? NULL : at;
}

static long field(int i)
{
	return file ? strtol(file + i * FIELD, NULL, 10) : 0;
}

static long added(clockid_t id)
{
	long by = 0;

	if (id == CLOCK_BOOTTIME)
		by = field(1);
	else if ((id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) &&
		 atomic_fetch_add(&readings, 1) + 1 >= field(2))
		by = field(0);
	if (by)
		file[MARK] = 'x';
	return by;
}

int clock_gettime(clockid_t id, struct timespec *out)
{
	int rc = (int)syscall(SYS_clock_gettime, id, out);

	if (!rc)
		out->tv_sec += added(id);
	return rc;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	out->tv_sec = now.tv_sec;
	out->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}
