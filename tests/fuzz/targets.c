/* SPDX-License-Identifier: Apache-2.0 */
/* The table of targets, and files in memory for those that read files. */
#include "tests/fuzz/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
	{"recording", fuzz_recording},
	{"config", fuzz_config},
	{"collapsed", fuzz_collapsed},
	{"pprof", fuzz_pprof},
	{"jfr", fuzz_jfr},
	{NULL, NULL},
};

const struct fuzz_target *fuzz_target_find(const char *name)
{
	for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
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
