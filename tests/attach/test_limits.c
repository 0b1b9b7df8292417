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

static int check_listener(void)
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
	is_int(check_listener(), 0, "1,015 free descriptors suffice");
	limits("13", "unlimited");
	is_int(check_listener(), 0,
		"4 free descriptors suffice; an open one above the limit does not count");
	limits("12", "unlimited");
	is_int(check_listener(), -1, "3 free descriptors are too few");
	ok(err.kind == ERR_ATTACH && strstr(err.what, "9 of 12") && strstr(err.hint, "prlimit"),
		"the error gives the count and advises prlimit");
	limits("unlimited", "unlimited");
	is_int(check_listener(), 0, "unlimited descriptors suffice");
}

static int check_agent(void)
{
	err = (struct err){0};
	return limits_check_agent(&jvm, &err);
}

/* Writes a limit of `bytes` for the resource `name` to /proc/PID/limits. */
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
	is_int(check_listener(), -1, "7 MB are too little for the attach listener");
	ok(strstr(err.what, what) && strstr(err.hint, option), "the error names %s and advises %s",
		what, option);
	limit(name, used + (9u << 20));
	is_int(check_listener(), 0, "9 MB suffice for the attach listener");
	is_int(check_agent(), -1, "9 MB are too little for a session");
	ok(strstr(err.what, what) && strstr(err.what, "all of what"),
		"the error says that the session would use all of the remainder");
	limit(name, used + (80u << 20));
	is_int(check_agent(), -1, "80 MB are too little: a session would use most of them");
	ok(strstr(err.what, "most of what") != NULL,
		"the error says that the session would use most of the remainder");
	limit(name, used + (109u << 20));
	is_int(check_agent(), 0, "109 MB suffice for a session");
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
	is_int(check_agent(), 0, "with CAP_IPC_LOCK the limit of locked memory does not apply");
	status("VmLck:\t 0 kB\nVmData:\t 1 kB\nCapEff:\t0000000000000000\n");
	is_int(check_agent(), 0,
		"the limit of locked memory does not apply to a process that locks none");
}

static void test_commit(void)
{
	fake_file("meminfo", "MemTotal: 9 kB\nCommitLimit: 1000000 kB\nCommitted_AS: 950000 kB\n");
	fake_file("sys/vm/overcommit_memory", "0\n");
	is_int(check_agent(), 0, "the commit limit does not apply while the kernel overcommits");
	fake_file("sys/vm/overcommit_memory", "2\n");
	is_int(check_agent(), -1, "49 MB below the commit limit are too little without overcommit");
	ok(strstr(err.what, "vm.overcommit_memory=2") && strstr(err.hint, "swap"),
		"the error names vm.overcommit_memory and advises more swap");
	fake_file("meminfo", "MemTotal: 9 kB\nCommitLimit: 1000000 kB\nCommitted_AS: 885000 kB\n");
	is_int(check_agent(), 0, "112 MB below the commit limit suffice");
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
	is_int(check_agent(), 0, "200 free mappings suffice");
	maps(873);
	is_int(check_agent(), -1, "127 free mappings are too few for a session");
	ok(strstr(err.what, "vm.max_map_count") && strstr(err.hint, "vm.max_map_count"),
		"the error and the hint name vm.max_map_count");
	is_int(check_listener(), 0, "127 free mappings suffice for the attach listener");
	maps(969);
	is_int(check_listener(), -1, "31 free mappings are too few for the attach listener");
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
	is_int(check_listener(), 0, "5 free threads in the cgroup suffice");
	fake_file("pids/app/pids.max", "99\n");
	is_int(check_listener(), -1, "4 free threads in the cgroup are too few");
	ok(strstr(err.what, "threads") && strstr(err.hint, "pids.max"),
		"the error names threads and the hint pids.max");
}

static void memory(const char *file, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "memory/%s", file);
	fake_file(path, text);
}

/* Mounts a cgroup hierarchy of this type; the process is in its root. */
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
	is_int(check_agent(), 0, "no memory limit is assumed when none can be read");
	memory("memory.max", "max\n");
	memory("memory.current", "99000000\n");
	is_int(check_agent(), 0, "memory.max of \"max\" is no limit");
	memory("memory.max", "100000000\n");
	is_int(check_agent(), -1, "1 MB below the cgroup's memory limit is too little");
	ok(strstr(err.what, "memory") && strstr(err.hint, "docker update"),
		"the error names memory and advises docker update");
	memory("memory.stat", "anon 70000000\ninactive_file 20000000\nactive_file 8000000\n");
	is_int(check_agent(), 0, "1 MB and 28 MB of reclaimable page cache suffice");
	memory("memory.stat", "anon 70000000\ninactive_file 20000000\nactive_file 3000000\n");
	is_int(check_agent(), -1, "1 MB and 23 MB of reclaimable page cache are too little");
	memory("memory.swap.max", "60000000\n");
	memory("memory.swap.current", "50000000\n");
	is_int(check_agent(), -1, "free swap in the cgroup does not count when the host has none");
	fake_file("meminfo", "SwapFree: 50000 kB\n");
	is_int(check_agent(), 0, "free swap in the cgroup counts when the host has swap");

	memory("memory.max", "140000000\n");
	fake_file("meminfo", "SwapFree: 0 kB\n");
	is_int(check_agent(), 0, "64 MB including page cache suffice");
	snprintf(own, sizeof(own), "%d/cgroup", (int)getpid());
	fake_file(own, "0::/\n");
	is_int(check_agent(), -1, "64 MB are too little when jhot runs in the same container");
	ok(strstr(err.what, "jhot and its agent") && strstr(err.hint, "64 MB"),
		"the error names jhot and its agent, and the hint the 64 MB");
	memory("memory.max", "145000000\n");
	is_int(check_agent(), 0, "69 MB suffice for jhot and agent in one container");
	fake_file(own, "0::/mine\n");

	memory_mounted("cgroup cgroup rw,memory", "4:memory:/\n");
	memory("memory.max", "max\n");
	memory("memory.limit_in_bytes", "9223372036854771712\n");
	memory("memory.usage_in_bytes", "99000000\n");
	fake_file("meminfo", "SwapFree: 0 kB\n");
	is_int(check_agent(), 0, "cgroup v1: the maximum value is no limit");
	memory("memory.limit_in_bytes", "100000000\n");
	memory("memory.stat", "total_inactive_file 20000000\ntotal_active_file 3000000\n");
	is_int(check_agent(), -1, "cgroup v1: 24 MB below the limit are too little");
	fake_file("meminfo", "SwapFree: 50000 kB\n");
	is_int(check_agent(), 0, "cgroup v1: swap of the host counts");
	memory("memory.memsw.limit_in_bytes", "100000000\n");
	memory("memory.memsw.usage_in_bytes", "99000000\n");
	is_int(check_agent(), -1,
		"cgroup v1: swap does not count beyond memory.memsw.limit_in_bytes");

	fake_file("10/cgroup", "4:memory:/../elsewhere\n");
	is_int(check_agent(), 0, "a cgroup outside our mounts has no known limit");
	fake_file("meminfo", "SwapFree: 0 kB\n");
	fake_file("10/root/sys/fs/cgroup/memory.max", "30000000\n");
	fake_file("10/root/sys/fs/cgroup/memory.current", "29000000\n");
	is_int(check_agent(), -1,
		"a limit in the process's own mounts applies when ours do not show it");
}

static void test_heap(void)
{
	struct hotspot full = jvm;

	full.heap = (struct heap){.left = 200 << 10, .most = 32 << 20};
	err = (struct err){0};
	is_int(limits_check_agent(&full, &err), 0, "a full heap is no limit");
	full.exits_on_full_heap = true;
	is_int(limits_check_agent(&full, &err), -1,
		"it is if the JVM exits when an allocation fails");
	ok(strstr(err.what, "heap") && strstr(err.hint, "-Xmx"), "the error advises more heap");
	full.heap.left = 300 << 10;
	is_int(limits_check_agent(&full, &err), 0, "300 of 32,768 kB suffice");
	full.heap.most = 32ll << 30;
	is_int(limits_check_agent(&full, &err), -1, "300 kB of 32 GB are too little");
	full.heap.left = -1;
	is_int(limits_check_agent(&full, &err), 0, "an unknown heap is not checked");
}

int main(void)
{
	fake_begin();
	is_int(check_listener(), 0, "the check passes when nothing is known");
	test_heap();
	test_fds();
	test_space();
	test_commit();
	test_maps();
	test_threads();
	test_memory();
	fake_end();
	return tap_done();
}
