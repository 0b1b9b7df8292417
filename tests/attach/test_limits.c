/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a JVM has left what a first attach needs of it, by what /proc says of limits. */
#include "attach/limits.h"

#include "base/maps.h"
#include "tests/attach/fake.h"
#include "tests/tap.h"

static const struct hotspot jvm = {.pid = 10, .user = "me"};
static struct err err;

static void limits(const char *files, const char *space)
{
	char text[512];

	snprintf(text, sizeof(text),
		"Limit                     Soft Limit           Hard Limit           Units     \n"
		"Max processes             unlimited            unlimited            processes \n"
		"Max open files            %-20s 4096                 files     \n"
		"Max address space         %-20s unlimited            bytes     \n",
		files, space);
	fake_file("10/limits", text);
}

static int asks(void)
{
	err = (struct err){0};
	return limits_check(&jvm, &err);
}

static void test_fds(void)
{
	fake_file("10/status",
		"Name:\tjava\nState:\tS (sleeping)\nFDSize:\t64\nVmSize:\t  4000000 kB\n");
	for (int fd = 0; fd < 10; fd++) {
		char path[32];

		snprintf(path, sizeof(path), "10/fd/%d", fd < 9 ? fd : 200);
		fake_file(path, "");
	}
	limits("1024", "unlimited");
	is_int(asks(), 0, "many descriptors are left");
	limits("13", "unlimited");
	is_int(asks(), 0, "four are enough; one above the limit is none of them");
	limits("12", "unlimited");
	is_int(asks(), -1, "three are not");
	ok(err.kind == ERR_ATTACH && strstr(err.what, "9 of 12") && strstr(err.hint, "prlimit"),
		"which is told, with what to do");
	limits("unlimited", "unlimited");
	is_int(asks(), 0, "no limit");
}

static void test_space(void)
{
	limits("1024", "4194304000");
	is_int(asks(), 0, "96 MB of address space are left");
	limits("1024", "4110000000");
	is_int(asks(), -1, "13 MB are too little");
	ok(strstr(err.what, "address space") && strstr(err.hint, "prlimit"), "which is told, too");
}

static void test_threads(void)
{
	char line[PATH_MAX + 128];

	limits("1024", "unlimited");
	snprintf(line, sizeof(line), "31 22 0:30 / %.300s/pids rw - cgroup2 cgroup2 rw\n",
		fake_root);
	fake_file("self/mountinfo", line);
	fake_file("10/cgroup", "0::/app\n");
	fake_file("pids/app/pids.current", "96\n");
	fake_file("pids/app/pids.max", "100\n");
	is_int(asks(), 0, "its cgroup allows four threads more");
	fake_file("pids/app/pids.max", "99\n");
	is_int(asks(), -1, "three are too few");
	ok(strstr(err.what, "threads") && strstr(err.hint, "pids.max"), "which is told, too");
}

static void memory(const char *file, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "memory/%s", file);
	fake_file(path, text);
}

static int asks_memory(void)
{
	err = (struct err){0};
	return limits_check_memory(&jvm, &err);
}

/* A mount of this version, of which the process is at the top. */
static void memory_mounted(const char *type, const char *cgroup)
{
	char line[PATH_MAX + 128];

	snprintf(line, sizeof(line), "31 22 0:30 / %.300s/memory rw - %s\n", fake_root, type);
	fake_file("self/mountinfo", line);
	fake_file("10/cgroup", cgroup);
}

static void test_memory(void)
{
	char own[32];

	fake_file("meminfo", "MemTotal: 9000000 kB\nSwapFree: 0 kB\n");
	memory_mounted("cgroup2 cgroup2 rw", "0::/\n");
	is_int(asks_memory(), 0, "no limit of memory is known");
	memory("memory.max", "max\n");
	memory("memory.current", "99000000\n");
	is_int(asks_memory(), 0, "there is none");
	memory("memory.max", "100000000\n");
	is_int(asks_memory(), -1, "1 MB is left");
	ok(strstr(err.what, "memory") && strstr(err.hint, "docker update"),
		"which is told, with what to do");
	memory("memory.stat", "anon 70000000\ninactive_file 20000000\nactive_file 8000000\n");
	is_int(asks_memory(), 0, "and 28 MB of pages of files");
	memory("memory.stat", "anon 70000000\ninactive_file 20000000\nactive_file 3000000\n");
	is_int(asks_memory(), -1, "or 23 MB");
	memory("memory.swap.max", "60000000\n");
	memory("memory.swap.current", "50000000\n");
	is_int(asks_memory(), -1, "it may swap, but the host has no swap");
	fake_file("meminfo", "SwapFree: 50000 kB\n");
	is_int(asks_memory(), 0, "the host has some");

	memory("memory.max", "140000000\n");
	fake_file("meminfo", "SwapFree: 0 kB\n");
	is_int(asks_memory(), 0, "64 MB with the pages of files are left");
	snprintf(own, sizeof(own), "%d/cgroup", (int)getpid());
	fake_file(own, "0::/\n");
	is_int(asks_memory(), -1, "which is too little for jhot in the same container, too");
	ok(strstr(err.what, "jhot and its agent") && strstr(err.hint, "64 MB"), "which is told");
	memory("memory.max", "145000000\n");
	is_int(asks_memory(), 0, "69 MB are enough");
	fake_file(own, "0::/mine\n");

	memory_mounted("cgroup cgroup rw,memory", "4:memory:/\n");
	memory("memory.max", "max\n");
	memory("memory.limit_in_bytes", "9223372036854771712\n");
	memory("memory.usage_in_bytes", "99000000\n");
	fake_file("meminfo", "SwapFree: 0 kB\n");
	is_int(asks_memory(), 0, "version 1 without a limit");
	memory("memory.limit_in_bytes", "100000000\n");
	memory("memory.stat", "total_inactive_file 20000000\ntotal_active_file 3000000\n");
	is_int(asks_memory(), -1, "with one");
	fake_file("meminfo", "SwapFree: 50000 kB\n");
	is_int(asks_memory(), 0, "the host has swap");
	memory("memory.memsw.limit_in_bytes", "100000000\n");
	memory("memory.memsw.usage_in_bytes", "99000000\n");
	is_int(asks_memory(), -1, "which it may not use");

	fake_file("10/cgroup", "4:memory:/../elsewhere\n");
	is_int(asks_memory(), 0, "a cgroup that our mounts do not show");
	fake_file("meminfo", "SwapFree: 0 kB\n");
	fake_file("10/root/sys/fs/cgroup/memory.max", "30000000\n");
	fake_file("10/root/sys/fs/cgroup/memory.current", "29000000\n");
	is_int(asks_memory(), -1, "but the process's own do");
}

int main(void)
{
	fake_begin();
	is_int(asks(), 0, "nothing is known");
	test_fds();
	test_space();
	test_threads();
	test_memory();
	fake_end();
	return tap_done();
}
