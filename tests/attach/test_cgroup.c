/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU limit of a process: cgroups v1 and v2, in mock folders. */
#include "attach/cgroup.h"

#include "tests/attach/fake.h"
#include "tests/tap.h"

static struct cgroup_mount mount;
static struct cgroup_cpu cpu;

/* A mount of this kind at a folder of the fake root; lines before and after are of others. */
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

static enum cgroup_answer asks(const char *groups)
{
	fake_file("10/cgroup", groups);
	return cgroup_cpu(&mount, 10, &cpu);
}

static void test_second(void)
{
	mounted("/", "cg", "cgroup2 cgroup2 rw,nsdelegate");
	ok(*mount.at && !mount.v1 && !strcmp(mount.top, "/"), "the second version is mounted");
	fake_file("cg/app/cpu.max", "max 100000\n");
	is_int(asks("0::/app\n"), CGROUP_NO_LIMIT, "a cgroup without a limit");
	is_int(asks("0::/\n"), CGROUP_NO_LIMIT, "the top of the tree has none");
	fake_file("cg/app/cpu.max", "50000 100000\n");
	is_int(asks("0::/app\n"), CGROUP_UNKNOWN, "a limit without counts");
	fake_file("cg/app/cpu.stat",
		"usage_usec 5\nnr_periods 100\nnr_throttled 38\nthrottled_usec 4100000\n"
		"nr_bursts 0\n");
	is_int(asks("0::/app\n"), CGROUP_LIMIT, "a limit");
	ok(cpu.limit == 500 && cpu.period_us == 100000, "of half a core in periods of 100 ms");
	ok(cpu.periods == 100 && cpu.throttled == 38 && cpu.throttled_us == 4100000, "its counts");
	fake_file("cg/app/inner/cpu.max", "200000 100000\n");
	is_int(asks("0::/app/inner\n"), CGROUP_LIMIT, "a wider limit below it");
	ok(cpu.limit == 500 && cpu.throttled == 38, "the tighter one counts");
	fake_file("cg/app/inner/cpu.max", "20000 50000\n");
	fake_file("cg/app/inner/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_usec 9\n");
	asks("0::/app/inner\n");
	ok(cpu.limit == 400 && cpu.periods == 7 && cpu.period_us == 50000, "wherever it is");
	fake_file("cg/app/cpu.stat", "nr_periods 100\n");
	is_int(asks("0::/app\n"), CGROUP_UNKNOWN, "counts cut off");
	fake_file("cg/app/cpu.max", "nonsense");
	is_int(asks("0::/app\n"), CGROUP_NO_LIMIT, "what is no limit is none");
	fake_file("cg/app/cpu.max", "5 0\n");
	is_int(asks("0::/app\n"), CGROUP_NO_LIMIT, "nor one of periods of 0");
}

static void test_first(void)
{
	char both[2 * PATH_MAX];

	mounted("/", "cpu", "cgroup cgroup rw,cpu,cpuacct");
	ok(*mount.at && mount.v1, "the first version is mounted");
	fake_file("cpu/app/cpu.cfs_quota_us", "-1\n");
	fake_file("cpu/app/cpu.cfs_period_us", "100000\n");
	is_int(asks("9:cpuset:/x\n4:cpu,cpuacct:/app\n0::/y\n"), CGROUP_NO_LIMIT,
		"without a limit");
	fake_file("cpu/app/cpu.cfs_quota_us", "150000\n");
	fake_file("cpu/app/cpu.stat", "nr_periods 10\nnr_throttled 2\nthrottled_time 5000000\n");
	is_int(asks("9:cpuset:/x\n4:cpu,cpuacct:/app\n0::/y\n"), CGROUP_LIMIT, "with one");
	ok(cpu.limit == 1500 && cpu.throttled == 2 && cpu.throttled_us == 5000,
		"a core and a half, its ns as us");
	is_int(asks("9:cpuset:/app\n0::/app\n"), CGROUP_UNKNOWN, "no line of this controller");
	snprintf(both, sizeof(both),
		"40 1 0:38 / %.300s/unified rw - cgroup2 cgroup2 rw\n"
		"41 1 0:39 / %.300s/cpu rw - cgroup cgroup rw,cpu\n"
		"42 1 0:38 / %.300s/unified rw - cgroup2 cgroup2 rw\n",
		fake_root, fake_root, fake_root);
	fake_file("self/mountinfo", both);
	cgroup_mount_find(&mount, "cpu");
	ok(mount.v1, "where both are mounted, the controller is the first version's");
}

/* What a container sees, or one beside it. */
static void test_parts(void)
{
	char longer[1200];

	mounted("/pod/one", "part", "cgroup2 cgroup2 rw");
	fake_file("part/cpu.max", "100000 100000\n");
	fake_file("part/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_usec 1\n");
	is_int(asks("0::/pod/one\n"), CGROUP_LIMIT, "the cgroup that is mounted");
	is_int(asks("0::/pod/one/below\n"), CGROUP_LIMIT, "and one below it");
	is_int(asks("0::/pod/onetwo\n"), CGROUP_UNKNOWN, "but not one of a longer name");
	is_int(asks("0::/pod/two\n"), CGROUP_UNKNOWN, "nor another");
	is_int(asks("0::/\n"), CGROUP_UNKNOWN, "nor one above it");
	mounted("/", "part", "cgroup2 cgroup2 rw");
	is_int(asks("0::/../other\n"), CGROUP_UNKNOWN, "nor what a namespace says is outside");
	is_int(asks("0::/\n"), CGROUP_LIMIT, "a container's own top has its limit");
	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "0::/", 4);
	longer[sizeof(longer) - 1] = '\0';
	is_int(asks(longer), CGROUP_UNKNOWN, "a path that is too long is no other one");
	is_int(asks(""), CGROUP_UNKNOWN, "nothing said");
	is_int(cgroup_cpu(&mount, 11, &cpu), CGROUP_UNKNOWN, "no process");
	fake_file("self/mountinfo", "");
	cgroup_mount_find(&mount, "cpu");
	is_int(asks("0::/\n"), CGROUP_UNKNOWN, "no mount");
	fake_file("10/root/sys/fs/cgroup/cpu.stat",
		"nr_periods 7\nnr_throttled 3\nthrottled_usec 9\n");
	fake_file("10/root/sys/fs/cgroup/cpu.max", "30000 100000\n");
	is_int(asks("0::/../other\n"), CGROUP_LIMIT,
		"unless the process's own mounts show a limit");
	ok(cpu.limit == 300 && cpu.throttled == 3, "and its counts");
	fake_file("10/root/sys/fs/cgroup/cpu.max", "max 100000\n");
	fake_file("10/root/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "20000\n");
	fake_file("10/root/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	fake_file("10/root/sys/fs/cgroup/cpu/cpu.stat",
		"nr_periods 5\nnr_throttled 2\nthrottled_time 5000\n");
	is_int(asks("0::/../other\n"), CGROUP_LIMIT, "of the first version, too");
	ok(cpu.limit == 200 && cpu.throttled_us == 5, "with its counts");
}

static void test_pids(void)
{
	char line[PATH_MAX + 128];

	snprintf(line, sizeof(line), "31 22 0:30 / %.300s/pids rw - cgroup cgroup rw,pids\n",
		fake_root);
	fake_file("self/mountinfo", line);
	cgroup_mount_find(&mount, "pids");
	fake_file("10/cgroup", "4:cpu:/x\n7:pids:/app/inner\n");
	ok(cgroup_pids_left(&mount, 10) == INT64_MAX, "no limit of threads");
	fake_file("pids/app/pids.max", "100\n");
	fake_file("pids/app/pids.current", "70\n");
	is_int(cgroup_pids_left(&mount, 10), 30, "one in the cgroup above");
	fake_file("pids/app/inner/pids.max", "max\n");
	fake_file("pids/app/inner/pids.current", "40\n");
	is_int(cgroup_pids_left(&mount, 10), 30, "none below it changes nothing");
	fake_file("pids/app/inner/pids.max", "45\n");
	is_int(cgroup_pids_left(&mount, 10), 5, "a tighter one counts");
	fake_file("pids/app/inner/pids.max", "9\n");
	is_int(cgroup_pids_left(&mount, 10), -31, "one that was lowered since");
	ok(cgroup_pids_left(&mount, 11) == INT64_MAX, "no process");
	fake_file("10/cgroup", "7:pids:/../app\n");
	ok(cgroup_pids_left(&mount, 10) == INT64_MAX, "a cgroup that our mounts do not show");
	fake_file("10/root/sys/fs/cgroup/pids.max", "20\n");
	fake_file("10/root/sys/fs/cgroup/pids.current", "17\n");
	is_int(cgroup_pids_left(&mount, 10), 3, "but the process's own do");
	fake_file("10/root/sys/fs/cgroup/pids/pids.max", "20\n");
	fake_file("10/root/sys/fs/cgroup/pids/pids.current", "20\n");
	is_int(cgroup_pids_left(&mount, 10), 0, "also of the first version");
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
	ok(!cgroup_frozen(10), "nothing says that it is frozen");
	fake_file("one/app/freezer.state", "THAWED\n");
	fake_file("two/app/cgroup.events", "populated 1\nfrozen 0\n");
	ok(!cgroup_frozen(10), "it is not");
	fake_file("one/app/freezer.state", "FROZEN\n");
	ok(cgroup_frozen(10), "by the first version");
	fake_file("one/app/freezer.state", "FREEZING\n");
	ok(cgroup_frozen(10), "or nearly so");
	fake_file("one/app/freezer.state", "THAWED\n");
	fake_file("two/app/cgroup.events", "populated 1\nfrozen 1\n");
	ok(cgroup_frozen(10), "by the second");
	fake_file("10/cgroup", "6:freezer:/../app\n0::/../app\n");
	ok(!cgroup_frozen(10), "a cgroup that our mounts do not show");
	fake_file("10/root/sys/fs/cgroup/cgroup.events", "frozen 1\npopulated 1\n");
	ok(cgroup_frozen(10), "but the process's own do");
	fake_file("10/root/sys/fs/cgroup/cgroup.events", "frozen 0\npopulated 1\n");
	fake_file("10/root/sys/fs/cgroup/freezer/freezer.state", "FROZEN\n");
	ok(cgroup_frozen(10), "also of the first version");
	fake_file("10/root/sys/fs/cgroup/freezer/freezer.state", "");
	ok(!cgroup_frozen(10), "an empty file says nothing");
	ok(!cgroup_frozen(11), "no process");
}

int main(void)
{
	fake_begin();
	test_second();
	test_first();
	test_parts();
	test_pids();
	test_frozen();
	fake_end();
	return tap_done();
}
