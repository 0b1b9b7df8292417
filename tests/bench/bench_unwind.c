/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of unwind rows: per ELF file the number of rows, their size as sent, the time to compile them; ns per step.
 * Usage: bench_unwind [FILE...]; without files, those mapped by this process.
 */
#include "base/clock.h"
#include "symbols/cfi.h"
#include "walk/frames/unwind.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS 2000000

/* A stack on which every step finds its way up, whatever the rule. */
static bool load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	(void)mem;
	addr += 64;
	memcpy(out, &addr, bytes);
	return true;
}

static double step_ns(const struct unwind_rows *rows, uint64_t from, uint64_t to)
{
	const struct walk_mem mem = {.load = load, .ctx = NULL};
	struct unwind_table *t = calloc(1, sizeof *t + sizeof t->modules[0]);
	uint64_t random = 1, start, stuck = 0;

	t->count = 1;
	t->modules[0] = (struct unwind_module){from, to, from, rows};
	start = clock_mono_ns();
	for (int i = 0; i < STEPS; i++) {
		struct walk_regs r = {.sp = 0x7ffc00000000, .fp = 0x7ffc00001000};

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		r.pc = from + (random >> 20) % (to - from);
		stuck += unwind_step(t, &mem, &r, true) > UNWIND_OK_EXACT;
	}
	start = clock_mono_ns() - start;
	free(t);
	return stuck < STEPS ? (double)start / STEPS : -1;
}

static int bench(const char *path)
{
	struct err e = {0};
	struct buf block = {0};
	int r, fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t t0 = clock_mono_ns(), t1, t2;
	struct cfi *c = fd < 0 ? NULL : cfi_open(fd, -1, &e);
	const struct cfi_row *rows;
	size_t count;

	r = c ? cfi_compile(c, NULL, &e) : -1;
	t1 = clock_mono_ns();
	if (r) {
		printf("%s: %s\n", path, fd < 0 ? "cannot be opened" : e.what);
		return 1;
	}
	rows = cfi_rows(c, &count);
	if (!unwind_pack(rows, count, &block, &e) && unwind_rows_check(block.data, block.len)) {
		t2 = clock_mono_ns();
		printf("%8zu %9zu %8.2f %8.2f %7.1f  %s\n", count, block.len,
			(double)(t1 - t0) / 1e6, (double)(t2 - t1) / 1e6,
			step_ns((void *)block.data, rows[0].offset, rows[count - 1].offset), path);
	} else {
		printf("%s: %s\n", path, e.what);
		r = -1;
	}
	cfi_close(c);
	close(fd);
	buf_done(&block);
	return r < 0;
}

static int bench_loaded(struct dl_phdr_info *info, size_t bytes, void *failed)
{
	(void)bytes;
	if (info->dlpi_name[0] == '/')
		*(int *)failed |= bench(info->dlpi_name);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	printf("%8s %9s %8s %8s %7s\n", "rows", "bytes", "make ms", "pack ms", "step ns");
	for (int i = 1; i < argc; i++)
		failed |= bench(argv[i]);
	if (argc == 1)
		dl_iterate_phdr(bench_loaded, &failed);
	return failed;
}
