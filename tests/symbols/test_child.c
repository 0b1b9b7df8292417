/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols: the child that parses ELF files: its sandbox; a crash, a hang, excessive memory or an invalid reply
 * affects one file only; mutated files.
 *
 * The child in this test obeys a command in the unused bytes of an ELF header (EI_PAD), to misbehave on one file.
 * FUZZ_SECONDS=N mutates files for that long (make fuzz-parsers); otherwise a fixed, deterministic number of them.
 */
#include "base/clock.h"
#include "symbols/child/child.h"
#include "symbols/symbols.h"
#include "tests/tap.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUTATIONS 120
#define CPU_MS    1000
#define SLEEP_MS  500
#define SYMBOL    "main"

/* How a crash shows: the address sanitizer catches it, reports and exits. */
#ifdef __SANITIZE_ADDRESS__
#define CRASH_SAYS "ended by itself (status 1)"
#else
#define CRASH_SAYS "crashed (Segmentation fault)"
#endif

enum command { NOTHING, CRASH, SPIN, SLEEP, HOG, LIE, LIE_LATE, LEAVE, PROBE };

/* --- in the child ------------------------------------------------------------------------------------ */

enum probe { OPEN, SOCKET, FORK, KILL, TRACE, WRITE, EXECUTABLE, LIMIT, EXEC, PROBES };
static const char *const probe_names[PROBES] = {"open a file", "create a socket", "fork",
	"signal its parent", "trace its parent", "write to its file", "map executable memory",
	"raise a limit", "run a program"};

/* Calls by number: what the libc makes of them does not matter. pid: the parent's, as getppid is not allowed either. */
static long try(enum probe what, int fd, long pid)
{
	static char *const none[] = {NULL};
	struct rlimit high = {RLIM_INFINITY, RLIM_INFINITY};

	switch (what) {
	case OPEN: return syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
	case SOCKET: return syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
	case FORK: return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	case KILL: return syscall(SYS_kill, pid, 0);
	case TRACE: return syscall(SYS_ptrace, PTRACE_SEIZE, pid, 0, 0);
	case WRITE: return syscall(SYS_pwrite64, fd, "x", 1, 0);
	case EXECUTABLE:
		return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0) == MAP_FAILED
			       ? -1
			       : 0;
	case LIMIT: return syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &high, NULL);
	default: return syscall(SYS_execve, "/bin/true", none, none);
	}
}

/* 1: not refused, 2: refused; exec last, which would end it. */
static void probe(int fd, long pid, volatile int *results)
{
	for (int i = 0; i < PROBES; i++) {
		results[i] = 1;
		if (try((enum probe)i, fd, pid) < 0)
			results[i] = 2;
	}
}

static void obey(int fd)
{
	unsigned char ident[EI_NIDENT];
	volatile int *volatile nowhere = NULL;
	uint32_t word = 0;
	int *shared;

	if (pread(fd, ident, sizeof(ident), 0) != sizeof(ident))
		return;
	switch (ident[EI_PAD]) {
	case CRASH: *nowhere = 1; break;
	case SPIN:
		for (;;)
			__asm__ volatile("");
	case SLEEP:
		for (;;)
			syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	case HOG:
		for (;;)
			*(volatile char *)xmalloc(16 << 20) = 1;
	case LIE: send(0, obey, 2000, 0); break;
	case LIE_LATE: send(0, obey, 10, 0); break;
	case LEAVE: _exit(0);
	case PROBE:
		shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 1 << 20);
		if (shared != MAP_FAILED)
			probe(fd, shared[PROBES + 1], shared);
	}
}

/* --- files ------------------------------------------------------------------------------------------- */

static unsigned char self[32 << 20];
static size_t self_bytes;

static void read_self(void)
{
	FILE *f = fopen("/proc/self/exe", "re");

	self_bytes = f ? fread(self, 1, sizeof(self), f) : 0;
	if (f)
		fclose(f);
}

/* This program with a command for the child, as a file in memory. */
static int file_with(enum command command, char path[64])
{
	unsigned char ident = (unsigned char)command;
	int fd = memfd_create("file", MFD_CLOEXEC);

	if (write(fd, self, self_bytes) != (ssize_t)self_bytes ||
		pwrite(fd, &ident, 1, EI_PAD) != 1)
		tap_skip_all("no memory for a copy of this program");
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static bool has_main(const struct symtab *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (!strcmp(t->texts.data + t->entries[i].text, SYMBOL))
			return true;
	return false;
}

static bool names_main(struct elf_child *c, struct err *err)
{
	struct symtab table = {0};
	char path[64];
	int fd = file_with(NOTHING, path);
	bool found = !elf_child_names(c, fd, -1, NULL, &table, err) && has_main(&table);

	symtab_done(&table);
	close(fd);
	return found;
}

/* --- what it can reach ------------------------------------------------------------------------------- */

static int child_pid(void)
{
	char path[64], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	return atoi(text);
}

/* A line of /proc/PID/FILE that begins with this, without it; "" if there is none. */
static const char *proc_line(int pid, const char *file, const char *begin, char line[256])
{
	char path[64];
	FILE *f;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	f = fopen(path, "re");
	while (f && !found && fgets(line, 256, f))
		found = !strncmp(line, begin, strlen(begin));
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return found ? line + strlen(begin) : "";
}

static void test_confined(void)
{
	struct elf_child *c = elf_child_new();
	struct elf_facts facts;
	struct err err = {0};
	char path[64], line[256];
	int fd = file_with(PROBE, path), pid, *shared;

	if (ftruncate(fd,
		    (1 << 20) + 4096 > (off_t)self_bytes ? (1 << 20) + 4096 : (off_t)self_bytes))
		tap_skip_all("the file cannot grow");
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 1 << 20);
	memset(shared, 0, 4096);
	shared[PROBES + 1] = (int)getpid();
	ok(!elf_child_facts(c, fd, NULL, &facts, &err), "the sandboxed child answers a request: %s",
		err.what);
	for (int i = 0; i < PROBES; i++)
		ok(shared[i] == 2, "the child cannot %s (%s)", probe_names[i],
			shared[i] ? "tried" : "not tried");
	pid = child_pid();
	ok(pid > 0, "the child stays for the next file");
	is_str(proc_line(pid, "status", "NoNewPrivs:\t", line), "1", "the child has NoNewPrivs");
	is_str(proc_line(pid, "status", "Seccomp:\t", line), "2", "the child has a seccomp filter");
	is_str(proc_line(pid, "status", "CapEff:\t", line), "0000000000000000",
		"the child has no effective capability");
	is_str(proc_line(pid, "status", "CapPrm:\t", line), "0000000000000000",
		"the child has no permitted capability");
	ok(strncmp(proc_line(pid, "status", "Uid:\t", line), "0", 1) != 0,
		"the child's real uid is not root: %s", line);
	is_str(proc_line(pid, "limits", "Max core file size ", line) + 7,
		"0                    0                    bytes     ",
		"the child cannot dump core");
	ok(!strncmp(proc_line(pid, "limits", "Max open files ", line) + 11, "8 ", 2),
		"the child has few descriptors: %s", line);
	is_int(getsid(pid), pid, "the child is in its own session, out of reach of Ctrl-C");
	elf_child_free(c);
	is_int(child_pid(), 0, "the child ends with its owner");
	munmap(shared, 4096);
	close(fd);
}

/* --- what it does wrong ------------------------------------------------------------------------------ */

static const struct {
	enum command command;
	const char *what, *says;
} faults[] = {
	{CRASH, "a crash", CRASH_SAYS},
	{SPIN, "an endless loop", "took too much time"},
	{SLEEP, "a sleep without end", "did not answer"},
#ifndef __SANITIZE_ADDRESS__ /* which maps more than any limit itself */
	{HOG, "memory without end", "ended by itself"},
#endif
	{LIE, "a reply that is none", "sent an invalid reply"},
	{LIE_LATE, "a reply that begins late", "sent an invalid reply"},
	{LEAVE, "an exit", "ended by itself"},
};

static void test_faults(void)
{
	struct elf_child *c = elf_child_new();

	elf_child_limit(c, CPU_MS, 20 * CPU_MS);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct symtab table = {0};
		struct err err = {0};
		char path[64];
		int fd = file_with(faults[i].command, path), rc;

		if (faults[i].command == SLEEP)
			elf_child_limit(c, CPU_MS, SLEEP_MS);
		rc = elf_child_names(c, fd, -1, NULL, &table, &err);
		elf_child_limit(c, CPU_MS, 20 * CPU_MS);
		ok(rc == -1 && strstr(err.what, faults[i].says), "%s in the child is an error: %s",
			faults[i].what, err.what);
		ok(!table.count, "a failed request yields no names");
		is_int(child_pid(), 0, "the failed child is gone");
		err = (struct err){0};
		ok(names_main(c, &err), "another child reads the next file %s", err.what);
		close(fd);
	}
	elf_child_free(c);
}

static void test_stop(void)
{
	struct elf_child *c = elf_child_new();
	atomic_bool stop = true;
	struct elf_facts facts;
	struct err err = {0};
	char path[64];
	int fd = file_with(SLEEP, path);

	ok(elf_child_facts(c, fd, &stop, &facts, &err) && strstr(err.what, "was stopped"),
		"a request with the stop flag set does not wait: %s", err.what);
	elf_child_free(c);
	close(fd);
}

/* Through the whole of symbols: three files, of which the child dies of one. */
static void test_one_file(void)
{
	static const enum command commands[] = {NOTHING, CRASH, NOTHING};
	struct symbols *s = symbols_new(0, 0);
	struct proc_map whole = {.end = UINT64_MAX};
	uint64_t at[3];
	char path[3][64];
	int fds[3];

	for (int i = 0; i < 3; i++) {
		fds[i] = file_with(commands[i], path[i]);
		whole.path = path[i];
		at[i] = symbols_function(s, symbols_module_add(s, &whole), &whole, SYMBOL);
	}
	ok(at[0] && at[0] == at[2], "two of three files have their names");
	is_int((int64_t)at[1], 0, "the file that crashes the child has none");
	ok(strstr(symbols_note(s), CRASH_SAYS) && !strstr(symbols_note(s), "; "),
		"the note names only that file: %s", symbols_note(s));
	symbols_free(s);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

/* Killed from outside while it has nothing to do: at most one request fails. */
static void test_killed(void)
{
	struct elf_child *c = elf_child_new();
	struct err err = {0};
	int pid;

	ok(names_main(c, &err), "a child reads a file");
	pid = child_pid();
	kill(pid, SIGKILL);
	names_main(c, &err);
	ok(names_main(c, &err) && child_pid() != pid,
		"after the child was killed another one takes over");
	elf_child_free(c);
}

/* --- mutated files ----------------------------------------------------------------------------------- */

static uint64_t seed = 20261127;

static size_t random_below(size_t end)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (size_t)(seed % end);
}

/* Headers, tables of sections and any byte; extreme values more often than others. */
static void mutate(unsigned char *file, size_t bytes)
{
	static const uint64_t extreme[] = {0, 1, UINT64_MAX, INT64_MAX, UINT32_MAX, 1u << 31, 0x7f};
	size_t changes = 1 + random_below(24);

	for (size_t i = 0; i < changes; i++) {
		size_t range = random_below(3) == 0 ? 1024 : random_below(2) ? 8192 : bytes;
		size_t at = random_below(range < bytes ? range : bytes);
		uint64_t value = random_below(2) ? extreme[random_below(7)] : seed;
		size_t width = (size_t)1 << random_below(4);

		if (random_below(2))
			at = bytes - 1 - at;
		if (at + width <= bytes)
			memcpy(file + at, &value, width);
	}
}

/* One file through every request. How many of them the child did not survive. */
static unsigned ask_all(struct elf_child *c, int fd)
{
	struct symtab table = {0};
	struct buf block = {0}, exports = {0}, texts = {0};
	struct elf_facts facts;
	struct err err[4] = {{0}};
	unsigned lost = 0;
	bool keeps_fp;

	elf_child_facts(c, fd, NULL, &facts, &err[0]);
	elf_child_names(c, fd, fd, NULL, &table, &err[1]);
	elf_child_unwind(c, fd, fd, NULL, &block, &keeps_fp, &err[2]);
	elf_child_exports(c, fd, NULL, &exports, &texts, &err[3]);
	for (int i = 0; i < 4; i++) {
		lost += err[i].kind == ERR_FAILED;
		if (err[i].kind == ERR_FAILED)
			diag("request %d: %s", i, err[i].what);
	}
	symtab_done(&table);
	buf_done(&block);
	buf_done(&exports);
	buf_done(&texts);
	return lost;
}

static void keep(const unsigned char *file, size_t bytes)
{
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "elf-lost-%llx", (unsigned long long)seed);
	f = fopen(name, "we");
	if (f) {
		fwrite(file, 1, bytes, f);
		fclose(f);
	}
}

/* The child may die of them (none is known to); this process may not, and the next file must have its names. */
static void test_mutated(const char *path, unsigned seconds)
{
	static unsigned char whole[32 << 20], file[32 << 20];
	uint64_t end_ns = clock_mono_ns() + seconds * NS_PER_S;
	FILE *f = fopen(path, "re");
	size_t bytes = f ? fread(whole, 1, sizeof(whole), f) : 0, size;
	struct elf_child *c = elf_child_new();
	int fd = memfd_create("mutated", MFD_CLOEXEC);
	unsigned files = 0, lost = 0;
	struct err err = {0};

	if (f)
		fclose(f);
	for (; bytes && (seconds ? clock_mono_ns() < end_ns : files < MUTATIONS); files++) {
		memcpy(file, whole, bytes);
		mutate(file, bytes);
		file[EI_PAD] = NOTHING;
		size = random_below(8) ? bytes : 1 + random_below(bytes);
		if (ftruncate(fd, 0) || pwrite(fd, file, size, 0) != (ssize_t)size)
			break;
		if (ask_all(c, fd)) {
			lost++;
			if (seconds)
				keep(file, size);
		}
	}
	ok(files > 0, "%s: %u mutated files; the child was lost %u times", strrchr(path, '/') + 1,
		files, lost);
	ok(names_main(c, &err), "afterwards an intact file has its names %s", err.what);
	elf_child_free(c);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *top = getenv("builddir"), *seconds = getenv("FUZZ_SECONDS");
	char split[4096];

	if (elf_child_main(argc, argv, obey))
		return 0;
	read_self();
	snprintf(split, sizeof(split), "%s/tests/symbols/split.so", top ? top : ".");
	if (!seconds) {
		test_confined();
		test_faults();
		test_stop();
		test_one_file();
		test_killed();
	} else {
		seed = clock_wall_ns() | 1;
		diag("seed %llu", (unsigned long long)seed);
	}
	test_mutated(split, seconds ? (unsigned)atoi(seconds) / 2 : 0);
	test_mutated("/proc/self/exe", seconds ? (unsigned)atoi(seconds) / 2 : 0);
	return tap_done();
}
