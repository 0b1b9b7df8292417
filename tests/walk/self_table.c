/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles, packs and checks the unwind rows of this process, as front end and agent do together. */
#include "tests/walk/self_table.h"

#include "tests/tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#define MODULES 128

/* Never freed; reachable for the leak checker. */
static void *keep(void *memory)
{
	static void *kept[64];
	static size_t count;

	if (count < sizeof(kept) / sizeof(kept[0]))
		kept[count++] = memory;
	return memory;
}

static _Noreturn void give_up(const char *what, const struct err *e)
{
	diag("%s: %s", what, e->what);
	ok(false, "the table is set up");
	exit(tap_done());
}

static struct cfi *compile(struct cfi *c, const char *what, struct err *e)
{
	if (!c || cfi_compile(c, NULL, e))
		give_up(what, e);
	return c;
}

struct cfi *self_compile(const char *path)
{
	struct err e = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct cfi *c = fd < 0 ? NULL : cfi_open(fd, -1, &e);

	return compile(c, path, &e); /* fd stays open: it is read until cfi_close */
}

/* The image lives as long as the test: libelf reads from it. */
static struct cfi *compile_vdso(pid_t pid, uint64_t start, size_t bytes)
{
	struct err e = {0};
	void *image = keep(malloc(bytes));
	struct iovec local = {image, bytes}, remote = {(void *)start, bytes};

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != (ssize_t)bytes)
		return compile(NULL, "the vDSO cannot be read", &e);
	return compile(cfi_open_image(image, bytes, &e), "vdso", &e);
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

/* A JVM also maps other files as code: class archives, its own shared memory. */
static bool has_rows(const char *path)
{
	int fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char magic[4] = "";
	bool elf = read(fd, magic, sizeof magic) == sizeof magic && !memcmp(magic, "\177ELF", 4);

	if (fd >= 0)
		close(fd);
	return elf || !strcmp(path, "[vdso]");
}

struct unwind_table *process_table(pid_t pid)
{
	struct unwind_table *t = keep(calloc(1, sizeof *t + MODULES * sizeof t->modules[0]));
	char name[64], line[4096], path[4096], perms[8];
	unsigned long start, end, offset;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
	f = fopen(name, "r");
	while (f && t && t->count < MODULES && fgets(line, sizeof line, f)) {
		struct cfi *c;
		size_t count;
		const struct cfi_row *rows;

		path[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095[^\n]", &start, &end, perms, &offset,
			    path) < 4 ||
			perms[2] != 'x' || !has_rows(path))
			continue;
		c = path[0] == '/' ? self_compile(path) : compile_vdso(pid, start, end - start);
		rows = cfi_rows(c, &count);
		t->modules[t->count++] =
			(struct unwind_module){start, end, offset, self_pack(rows, count)};
		cfi_close(c);
	}
	if (f)
		fclose(f);
	return t;
}

struct unwind_table *self_table(void)
{
	return process_table(getpid());
}

bool self_libc_has_rows(const struct unwind_table *table)
{
	const struct walk_regs regs = {.pc = (uintptr_t)qsort};
	const struct unwind_rule *rule = unwind_rule_of(table, &regs, true);

	return rule && rule->cfa != UNWIND_CFA_NONE;
}

bool self_libc_has_cfi(const struct unwind_table *table)
{
	Dl_info libc;
	struct cfi *c;
	bool of_code;

	if (!self_libc_has_rows(table) || !dladdr((const void *)(uintptr_t)getppid, &libc))
		return false;
	c = self_compile(libc.dli_fname);
	of_code = cfi_of_code(c);
	cfi_close(c);
	return !of_code;
}

struct cfi *self_compile_vdso(void)
{
	char line[4096];
	unsigned long start, end;
	struct cfi *c = NULL;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && !c && fgets(line, sizeof line, f))
		if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			c = compile_vdso(getpid(), start, end - start);
	if (f)
		fclose(f);
	return c;
}

static int mem_fd = -1; /* fallback without process_vm_readv, under emulation */

static bool load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	struct iovec local = {out, bytes}, remote = {(void *)addr, bytes};

	(void)mem;
	if (addr - (uint64_t)__builtin_frame_address(0) <
		1u << 20) { /* this stack, above the current frame */
		memcpy(out, (const void *)addr, bytes);
		return true;
	}
	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes)
		return true;
	return errno == ENOSYS && mem_fd >= 0 &&
	       pread(mem_fd, out, bytes, (off_t)addr) == (ssize_t)bytes;
}

struct walk_mem self_mem(void)
{
	mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	return (struct walk_mem){.load = load, .ctx = NULL};
}
