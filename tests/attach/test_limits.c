/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the limits in /proc leave a JVM enough of each resource for a first attach. */
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
	return limits_check_listener(&jvm, &err);
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

static int asks_agent(void)
{
	err = (struct err){0};
	return limits_check_agent(&jvm, &err);
}

/* Limits of which 4 MB, 20 MB and so on are left: `text` goes into the line of /proc/PID/limits of this name. */
static void limit(const char *name, uint64_t bytes)
{
	char text[256];

	snprintf(text, sizeof(text),
		"Max open files            1024 1024 files\n%-25s %-20" PRIu64
		" unlimited            bytes\n",
		name, bytes);
	fake_file("10/limits", text);
}

static void test_bytes(const char *name, uint64_t used, const char *what, const char *option)
{
	limit(name, used + (7u << 20));
	is_int(asks(), -1, "7 MB are too little for the listener");
	ok(strstr(err.what, what) && strstr(err.hint, option), "%s is named, and %s", what, option);
	limit(name, used + (9u << 20));
	is_int(asks(), 0, "9 MB are enough");
	is_int(asks_agent(), -1, "but not for a session");
	ok(strstr(err.what, what) && strstr(err.what, "all of what"), "which is told");
	limit(name, used + (80u << 20));
	is_int(asks_agent(), -1, "80 MB neither: most of it would go");
	ok(strstr(err.what, "most of what") != NULL, "which is told");
	limit(name, used + (109u << 20));
	is_int(asks_agent(), 0, "109 MB are enough");
}

static void status(const char *more)
{
	char text[512];

	snprintf(text, sizeof(text),
		"Name:\tjava\nState:\tS (sleeping)\nFDSize:\t64\nVmSize:\t  4000000 kB\n%s", more);
	fake_file("10/status", text);
}

static void test_space(void)
{
	test_bytes("Max address space", 4000000ull * 1024, "address space", "--as=");
	status("VmData:\t 300000 kB\n");
	test_bytes("Max data size", 300000ull * 1024, "data", "--data=");
	status("VmLck:\t 400 kB\nVmData:\t 1 kB\nCapEff:\t0000000000000000\n");
	test_bytes("Max locked memory", 400ull * 1024, "locked memory", "--memlock=");
	limit("Max locked memory", 65536);
	status("VmLck:\t 400 kB\nVmData:\t 1 kB\nCapEff:\t000001ffffffffff\n");
	is_int(asks_agent(), 0, "CAP_IPC_LOCK has no limit of locked memory");
	status("VmLck:\t 0 kB\nVmData:\t 1 kB\nCapEff:\t0000000000000000\n");
	is_int(asks_agent(), 0, "who locks nothing has none, either");
}

static void test_commit(void)
{
	fake_file("meminfo", "MemTotal: 9 kB\nCommitLimit: 1000000 kB\nCommitted_AS: 950000 kB\n");
	fake_file("sys/vm/overcommit_memory", "0\n");
	is_int(asks_agent(), 0, "the kernel overcommits");
	fake_file("sys/vm/overcommit_memory", "2\n");
	is_int(asks_agent(), -1, "it does not, and may promise 49 MB more");
	ok(strstr(err.what, "vm.overcommit_memory=2") && strstr(err.hint, "swap"), "which is told");
	fake_file("meminfo", "MemTotal: 9 kB\nCommitLimit: 1000000 kB\nCommitted_AS: 885000 kB\n");
	is_int(asks_agent(), 0, "112 MB are enough");
	fake_file("sys/vm/overcommit_memory", "0\n");
}

static void maps(unsigned lines)
{
	struct buf text = {0};

	for (unsigned i = 0; i < lines; i++)
		buf_add(&text, "1-2 r--p 0 00:00 0\n", 19);
	fake_file("10/maps", buf_str(&text));
	buf_done(&text);
}

static void test_maps(void)
{
	fake_file("sys/vm/max_map_count", "1000\n");
	maps(800);
	is_int(asks_agent(), 0, "200 mappings are left");
	maps(873);
	is_int(asks_agent(), -1, "127 are too few for a session");
	ok(strstr(err.what, "vm.max_map_count") && strstr(err.hint, "vm.max_map_count"),
		"which is told");
	is_int(asks(), 0, "but enough for the listener");
	maps(969);
	is_int(asks(), -1, "31 are not");
	maps(1);
}

static void test_threads(void)
{
	char line[PATH_MAX + 128];

	limits("1024", "unlimited");
	snprintf(line, sizeof(line), "31 22 0:30 / %.300s/pids rw - cgroup2 cgroup2 rw\n",
		fake_root);
	fake_file("self/mountinfo", line);
	fake_file("10/cgroup", "0::/app\n");
	fake_file("pids/app/pids.current", "95\n");
	fake_file("pids/app/pids.max", "100\n");
	is_int(asks(), 0, "its cgroup allows five threads more");
	fake_file("pids/app/pids.max", "99\n");
	is_int(asks(), -1, "four are too few");
	ok(strstr(err.what, "threads") && strstr(err.hint, "pids.max"), "which is told, too");
}

static void memory(const char *file, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "memory/%s", file);
	fake_file(path, text);
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
	is_int(asks_agent(), 0, "no limit of memory is known");
	memory("memory.max", "max\n");
	memory("memory.current", "99000000\n");
	is_int(asks_agent(), 0, "there is none");
	memory("memory.max", "100000000\n");
	is_int(asks_agent(), -1, "1 MB is left");
	ok(strstr(err.what, "memory") && strstr(err.hint, "docker update"),
		"which is told, with what to do");
	memory("memory.stat", "anon 70000000\ninactive_file 20000000\nactive_file 8000000\n");
	is_int(asks_agent(), 0, "and 28 MB of pages of files");
	memory("memory.stat", "anon 70000000\ninactive_file 20000000\nactive_file 3000000\n");
	is_int(asks_agent(), -1, "or 23 MB");
	memory("memory.swap.max", "60000000\n");
	memory("memory.swap.current", "50000000\n");
	is_int(asks_agent(), -1, "it may swap, but the host has no swap");
	fake_file("meminfo", "SwapFree: 50000 kB\n");
	is_int(asks_agent(), 0, "the host has some");

	memory("memory.max", "140000000\n");
	fake_file("meminfo", "SwapFree: 0 kB\n");
	is_int(asks_agent(), 0, "64 MB with the pages of files are left");
	snprintf(own, sizeof(own), "%d/cgroup", (int)getpid());
	fake_file(own, "0::/\n");
	is_int(asks_agent(), -1, "which is too little for jhot in the same container, too");
	ok(strstr(err.what, "jhot and its agent") && strstr(err.hint, "64 MB"), "which is told");
	memory("memory.max", "145000000\n");
	is_int(asks_agent(), 0, "69 MB are enough");
	fake_file(own, "0::/mine\n");

	memory_mounted("cgroup cgroup rw,memory", "4:memory:/\n");
	memory("memory.max", "max\n");
	memory("memory.limit_in_bytes", "9223372036854771712\n");
	memory("memory.usage_in_bytes", "99000000\n");
	fake_file("meminfo", "SwapFree: 0 kB\n");
	is_int(asks_agent(), 0, "version 1 without a limit");
	memory("memory.limit_in_bytes", "100000000\n");
	memory("memory.stat", "total_inactive_file 20000000\ntotal_active_file 3000000\n");
	is_int(asks_agent(), -1, "with one");
	fake_file("meminfo", "SwapFree: 50000 kB\n");
	is_int(asks_agent(), 0, "the host has swap");
	memory("memory.memsw.limit_in_bytes", "100000000\n");
	memory("memory.memsw.usage_in_bytes", "99000000\n");
	is_int(asks_agent(), -1, "which it may not use");

	fake_file("10/cgroup", "4:memory:/../elsewhere\n");
	is_int(asks_agent(), 0, "a cgroup that our mounts do not show");
	fake_file("meminfo", "SwapFree: 0 kB\n");
	fake_file("10/root/sys/fs/cgroup/memory.max", "30000000\n");
	fake_file("10/root/sys/fs/cgroup/memory.current", "29000000\n");
	is_int(asks_agent(), -1, "but the process's own do");
}

int main(void)
{
	fake_begin();
	is_int(asks(), 0, "nothing is known");
	test_fds();
	test_space();
	test_commit();
	test_maps();
	test_threads();
	test_memory();
	fake_end();
	return tap_done();
}
