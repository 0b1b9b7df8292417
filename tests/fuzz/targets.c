/* SPDX-License-Identifier: Apache-2.0 */
/* The table of targets, and in-memory files for those that read files. */
#include "tests/fuzz/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

const struct fuzz_target fuzz_targets[] = {
	{"elf", fuzz_elf},
	{"child", fuzz_child},
	{"cfi", fuzz_cfi},
	{"names", fuzz_names},
	{"proc", fuzz_proc},
	{"hsperf", fuzz_hsperf},
	{"reply", fuzz_reply},
	{"lines", fuzz_lines},
	{"ring", fuzz_ring},
	{"context", fuzz_context},
	{"place", fuzz_place},
	{"recording", fuzz_recording},
	{"config", fuzz_config},
	{"collapsed", fuzz_collapsed},
	{"pprof", fuzz_pprof},
	{"jfr", fuzz_jfr},
	{"jhot", fuzz_jhot},
	{"perf", fuzz_perf},
	{"speedscope", fuzz_speedscope},
	{NULL, NULL},
};

const struct fuzz_target *fuzz_target_find(const char *name)
{
	for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void fuzz_run(const struct fuzz_target *t, const uint8_t *data, size_t bytes)
{
	uint64_t took = 0, most = 0;

	for (int i = 0; i < 3; i++) {
		uint64_t begin = cpu_ns();

		most = FUZZ_TIME_NS + FUZZ_BYTE_NS * t->run(data, bytes);
		took = cpu_ns() - begin;
		if (took <= most)
			return;
	}
	fprintf(stderr, "%s: %zu bytes take %llu ms of CPU time, more than %llu\n", t->name, bytes,
		(unsigned long long)(took / 1000000), (unsigned long long)(most / 1000000));
	abort();
}

int fuzz_file(const uint8_t *data, size_t bytes, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes) {
		perror("memfd");
		abort();
	}
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}
