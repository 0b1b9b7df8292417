/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU limit of a process: cgroups v1 and v2, in mock folders. */
#include "attach/cgroup.h"

#include "tests/attach/fake.h"
#include "tests/tap.h"

static struct cgroup_mount mount;
static struct cgroup_cpu cpu;

/* Mounts `top` of a hierarchy of this type at a folder of the mock root, between lines of other mounts. */
static void mounted(const char *top, const char *at, const char *type)
{
	char text[2 * PATH_MAX];

	snprintf(text, sizeof(text),
		"22 1 8:1 / / rw,relatime - ext4 /dev/sda rw\nnot a line of a mount\n"
		"31 22 0:30 %s %.300s/%s rw,nosuid shared:9 master:2 - %s\n"
		"33 22 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
		top, fake_root, at, type);
	fake_file("self/mountinfo", text);
	cgroup_mount_find(&mount, "cpu");
}

static enum cgroup_answer query(const char *groups)
{
	fake_file("10/cgroup", groups);
	return cgroup_cpu(&mount, 10, &cpu);
}

static void test_v2(void)
{
	mounted("/", "cg", "cgroup2 cgroup2 rw,nsdelegate");
	ok(*mount.at && !mount.v1 && !strcmp(mount.top, "/"), "v2: the mount is found");
	fake_file("cg/app/cpu.max", "max 100000\n");
	is_int(query("0::/app\n"), CGROUP_NO_LIMIT, "v2: cpu.max of \"max\" is no limit");
	is_int(query("0::/\n"), CGROUP_NO_LIMIT, "v2: the root cgroup has no limit");
	fake_file("cg/app/cpu.max", "50000 100000\n");
	is_int(query("0::/app\n"), CGROUP_UNKNOWN, "v2: a limit without cpu.stat is unknown");
	fake_file("cg/app/cpu.stat",
		"usage_usec 5\nnr_periods 100\nnr_throttled 38\nthrottled_usec 4100000\n"
		"nr_bursts 0\n");
	is_int(query("0::/app\n"), CGROUP_LIMIT, "v2: a limit with cpu.stat is read");
	ok(cpu.limit == 500 && cpu.period_us == 100000,
		"v2: 50000 of 100000 is half a core in periods of 100 ms");
	ok(cpu.periods == 100 && cpu.throttled == 38 && cpu.throttled_us == 4100000,
		"v2: periods, throttled periods and throttled time are read");
	fake_file("cg/app/inner/cpu.max", "200000 100000\n");
	is_int(query("0::/app/inner\n"), CGROUP_LIMIT,
		"v2: a child cgroup with a wider limit has a limit");
	ok(cpu.limit == 500 && cpu.throttled == 38,
		"v2: the tighter limit of the ancestors applies");
	fake_file("cg/app/inner/cpu.max", "20000 50000\n");
	fake_file("cg/app/inner/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_usec 9\n");
	query("0::/app/inner\n");
	ok(cpu.limit == 400 && cpu.periods == 7 && cpu.period_us == 50000,
		"v2: a tighter limit of the child applies");
	fake_file("cg/app/cpu.stat", "nr_periods 100\n");
	is_int(query("0::/app\n"), CGROUP_UNKNOWN,
		"v2: a truncated cpu.stat makes the limit unknown");
	fake_file("cg/app/cpu.max", "nonsense");
	is_int(query("0::/app\n"), CGROUP_NO_LIMIT, "v2: a malformed cpu.max is no limit");
	fake_file("cg/app/cpu.max", "5 0\n");
	is_int(query("0::/app\n"), CGROUP_NO_LIMIT, "v2: a limit with a period of 0 is no limit");
}

static void test_v1(void)
{
	char both[2 * PATH_MAX];

	mounted("/", "cpu", "cgroup cgroup rw,cpu,cpuacct");
	ok(*mount.at && mount.v1, "v1: the mount is found");
	fake_file("cpu/app/cpu.cfs_quota_us", "-1\n");
	fake_file("cpu/app/cpu.cfs_period_us", "100000\n");
	is_int(query("9:cpuset:/x\n4:cpu,cpuacct:/app\n0::/y\n"), CGROUP_NO_LIMIT,
		"v1: a quota of -1 is no limit");
	fake_file("cpu/app/cpu.cfs_quota_us", "150000\n");
	fake_file("cpu/app/cpu.stat", "nr_periods 10\nnr_throttled 2\nthrottled_time 5000000\n");
	is_int(query("9:cpuset:/x\n4:cpu,cpuacct:/app\n0::/y\n"), CGROUP_LIMIT,
		"v1: a quota is a limit");
	ok(cpu.limit == 1500 && cpu.throttled == 2 && cpu.throttled_us == 5000,
		"v1: 150000 of 100000 is 1.5 cores, and throttled ns are converted to us");
	is_int(query("9:cpuset:/app\n0::/app\n"), CGROUP_UNKNOWN,
		"v1: a process without a line of the cpu controller has an unknown limit");
	snprintf(both, sizeof(both),
		"40 1 0:38 / %.300s/unified rw - cgroup2 cgroup2 rw\n"
		"41 1 0:39 / %.300s/cpu rw - cgroup cgroup rw,cpu\n"
		"42 1 0:38 / %.300s/unified rw - cgroup2 cgroup2 rw\n",
		fake_root, fake_root, fake_root);
	fake_file("self/mountinfo", both);
	cgroup_mount_find(&mount, "cpu");
	ok(mount.v1, "with both versions mounted, the one with the cpu controller is used");
}

/* Mounts of part of a hierarchy, as in a container. */
static void test_partial_mounts(void)
{
	char longer[1200];

	mounted("/pod/one", "part", "cgroup2 cgroup2 rw");
	fake_file("part/cpu.max", "100000 100000\n");
	fake_file("part/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_usec 1\n");
	is_int(query("0::/pod/one\n"), CGROUP_LIMIT,
		"partial mount: the mounted cgroup's limit is read");
	is_int(query("0::/pod/one/below\n"), CGROUP_LIMIT,
		"partial mount: the limit of a cgroup below it is read");
	is_int(query("0::/pod/onetwo\n"), CGROUP_UNKNOWN,
		"partial mount: a cgroup whose name only begins alike is not found");
	is_int(query("0::/pod/two\n"), CGROUP_UNKNOWN, "partial mount: a sibling is not found");
	is_int(query("0::/\n"), CGROUP_UNKNOWN, "partial mount: the parent is not found");
	mounted("/", "part", "cgroup2 cgroup2 rw");
	is_int(query("0::/../other\n"), CGROUP_UNKNOWN,
		"a cgroup outside the namespace is unknown");
	is_int(query("0::/\n"), CGROUP_LIMIT, "a container's root cgroup has its limit");
	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "0::/", 4);
	longer[sizeof(longer) - 1] = '\0';
	is_int(query(longer), CGROUP_UNKNOWN, "a path that is too long is unknown");
	is_int(query(""), CGROUP_UNKNOWN, "an empty cgroup file is unknown");
	is_int(cgroup_cpu(&mount, 11, &cpu), CGROUP_UNKNOWN, "a missing process is unknown");
	fake_file("self/mountinfo", "");
	cgroup_mount_find(&mount, "cpu");
	is_int(query("0::/\n"), CGROUP_UNKNOWN, "without a cgroup mount the limit is unknown");
	fake_file("10/root/sys/fs/cgroup/cpu.stat",
		"nr_periods 7\nnr_throttled 3\nthrottled_usec 9\n");
	fake_file("10/root/sys/fs/cgroup/cpu.max", "30000 100000\n");
	is_int(query("0::/../other\n"), CGROUP_LIMIT,
		"v2: a limit in the process's own mounts is used if ours do not show it");
	ok(cpu.limit == 300 && cpu.throttled == 3,
		"v2: limit and counts come from the process's own mounts");
	fake_file("10/root/sys/fs/cgroup/cpu.max", "max 100000\n");
	fake_file("10/root/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "20000\n");
	fake_file("10/root/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	fake_file("10/root/sys/fs/cgroup/cpu/cpu.stat",
		"nr_periods 5\nnr_throttled 2\nthrottled_time 5000\n");
	is_int(query("0::/../other\n"), CGROUP_LIMIT,
		"v1: a limit in the process's own mounts is used if ours do not show it");
	ok(cpu.limit == 200 && cpu.throttled_us == 5,
		"v1: limit and counts come from the process's own mounts");
}

static void test_pids(void)
{
	char line[PATH_MAX + 128];

	snprintf(line, sizeof(line), "31 22 0:30 / %.300s/pids rw - cgroup cgroup rw,pids\n",
		fake_root);
	fake_file("self/mountinfo", line);
	cgroup_mount_find(&mount, "pids");
	fake_file("10/cgroup", "4:cpu:/x\n7:pids:/app/inner\n");
	ok(cgroup_pids_left(&mount, 10) == INT64_MAX, "pids: no limit without pids.max");
	fake_file("pids/app/pids.max", "100\n");
	fake_file("pids/app/pids.current", "70\n");
	is_int(cgroup_pids_left(&mount, 10), 30, "pids: the parent's limit applies");
	fake_file("pids/app/inner/pids.max", "max\n");
	fake_file("pids/app/inner/pids.current", "40\n");
	is_int(cgroup_pids_left(&mount, 10), 30,
		"pids: \"max\" in the child does not change the parent's limit");
	fake_file("pids/app/inner/pids.max", "45\n");
	is_int(cgroup_pids_left(&mount, 10), 5, "pids: the child's tighter limit applies");
	fake_file("pids/app/inner/pids.max", "9\n");
	is_int(cgroup_pids_left(&mount, 10), -31,
		"pids: the remainder is negative after the limit was lowered");
	ok(cgroup_pids_left(&mount, 11) == INT64_MAX, "pids: no limit for a missing process");
	fake_file("10/cgroup", "7:pids:/../app\n");
	ok(cgroup_pids_left(&mount, 10) == INT64_MAX,
		"pids: no limit for a cgroup outside our mounts");
	fake_file("10/root/sys/fs/cgroup/pids.max", "20\n");
	fake_file("10/root/sys/fs/cgroup/pids.current", "17\n");
	is_int(cgroup_pids_left(&mount, 10), 3,
		"pids: the limit in the process's own v2 mount applies");
	fake_file("10/root/sys/fs/cgroup/pids/pids.max", "20\n");
	fake_file("10/root/sys/fs/cgroup/pids/pids.current", "20\n");
	is_int(cgroup_pids_left(&mount, 10), 0,
		"pids: the limit in the process's own v1 mount applies");
}

static void test_frozen(void)
{
	char both[2 * PATH_MAX];

	snprintf(both, sizeof(both),
		"40 1 0:38 / %.300s/two rw - cgroup2 cgroup2 rw\n"
		"41 1 0:39 / %.300s/one rw - cgroup cgroup rw,freezer\n",
		fake_root, fake_root);
	fake_file("self/mountinfo", both);
	fake_file("10/cgroup", "6:freezer:/app\n0::/app\n");
	ok(!cgroup_frozen(10), "not frozen without a freezer file");
	fake_file("one/app/freezer.state", "THAWED\n");
	fake_file("two/app/cgroup.events", "populated 1\nfrozen 0\n");
	ok(!cgroup_frozen(10), "v1 THAWED and v2 \"frozen 0\" is not frozen");
	fake_file("one/app/freezer.state", "FROZEN\n");
	ok(cgroup_frozen(10), "v1 FROZEN is frozen");
	fake_file("one/app/freezer.state", "FREEZING\n");
	ok(cgroup_frozen(10), "v1 FREEZING is frozen");
	fake_file("one/app/freezer.state", "THAWED\n");
	fake_file("two/app/cgroup.events", "populated 1\nfrozen 1\n");
	ok(cgroup_frozen(10), "v2 \"frozen 1\" is frozen");
	fake_file("10/cgroup", "6:freezer:/../app\n0::/../app\n");
	ok(!cgroup_frozen(10), "a cgroup outside our mounts is not frozen");
	fake_file("10/root/sys/fs/cgroup/cgroup.events", "frozen 1\npopulated 1\n");
	ok(cgroup_frozen(10),
		"v2: the process's own mounts are used if ours do not show the cgroup");
	fake_file("10/root/sys/fs/cgroup/cgroup.events", "frozen 0\npopulated 1\n");
	fake_file("10/root/sys/fs/cgroup/freezer/freezer.state", "FROZEN\n");
	ok(cgroup_frozen(10),
		"v1: the process's own mounts are used if ours do not show the cgroup");
	fake_file("10/root/sys/fs/cgroup/freezer/freezer.state", "");
	ok(!cgroup_frozen(10), "an empty freezer.state is not frozen");
	ok(!cgroup_frozen(11), "a missing process is not frozen");
}

int main(void)
{
	fake_begin();
	test_v2();
	test_v1();
	test_partial_mounts();
	test_pids();
	test_frozen();
	fake_end();
	return tap_done();
}
