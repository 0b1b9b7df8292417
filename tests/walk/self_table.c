/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles, packs and checks the rows of this very process, the way front end and agent do it together. */
#include "tests/walk/self_table.h"

#include "session/unwind_pack.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

static _Noreturn void give_up(const char *what, const struct err *e)
{
	diag("%s: %s", what, e->what);
	ok(false, "setup");
	exit(tap_done());
}

static struct cfi *compile(struct cfi *c, const char *what, struct err *e)
{
	int r = 0;

	while (c && !(r = cfi_compile(c, 1000000, e)))
		;
	if (!c || r < 0)
		give_up(what, e);
	return c;
}

struct cfi *self_compile(const char *path)
{
	struct err e = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct cfi *c = fd < 0 ? NULL : cfi_open(fd, &e);

	return compile(c, path, &e); /* fd: read on until cfi_close, and the test is short */
}

static size_t vdso_bytes(uint64_t start)
{
	char line[4096];
	unsigned long from, to = 0;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from == start)
			break;
	if (f)
		fclose(f);
	return to - start;
}

struct cfi *self_compile_vdso(void)
{
	struct err e = {0};
	unsigned long start = getauxval(AT_SYSINFO_EHDR);

	return compile(cfi_open_image((void *)start, vdso_bytes(start), &e), "vdso", &e);
}

struct unwind_rows *self_pack(const struct cfi_row *rows, size_t count)
{
	struct err e = {0};
	struct buf b = {0};
	size_t bytes;
	void *block;

	if (unwind_pack(rows, count, &b, &e))
		give_up("pack", &e);
	bytes = b.len;
	block = buf_steal(&b);
	if (!unwind_rows_check(block, bytes))
		give_up("check", &e);
	return block;
}

struct unwind_table *self_table(void)
{
	struct unwind_table *t = calloc(1, sizeof *t + 64 * sizeof t->modules[0]);
	char line[4096], path[4096], perms[8];
	unsigned long start, end, offset;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && t && t->count < 64 && fgets(line, sizeof line, f)) {
		struct cfi *c;
		size_t count;
		const struct cfi_row *rows;

		path[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &start, &end, perms, &offset,
			    path) < 4 ||
			perms[2] != 'x' || (path[0] != '/' && strcmp(path, "[vdso]")))
			continue;
		c = path[0] == '/' ? self_compile(path) : self_compile_vdso();
		rows = cfi_rows(c, &count);
		t->modules[t->count++] =
			(struct unwind_module){start, end, offset, self_pack(rows, count)};
		cfi_close(c);
	}
	if (f)
		fclose(f);
	return t;
}

static bool load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	struct iovec local = {out, bytes}, remote = {(void *)addr, bytes};

	(void)mem;
	if (addr - (uint64_t)__builtin_frame_address(0) < 1u << 20) { /* this stack, upwards */
		memcpy(out, (const void *)addr, bytes);
		return true;
	}
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

struct walk_mem self_mem(void)
{
	return (struct walk_mem){load, NULL};
}
