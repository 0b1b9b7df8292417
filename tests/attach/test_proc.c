/* SPDX-License-Identifier: Apache-2.0 */
/* Reading /proc: parsers on the formats of many kernels, and path resolution confined to another root. */
#include "attach/proc.h"

#include "base/maps.h"

#include "tests/attach/fake.h"
#include "tests/tap.h"

#include <errno.h>
#include <sched.h>

static void test_status(void)
{
	struct proc_status st;

	fake_file("10/status",
		"Name:\tjava\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t10\n"
		"Uid:\t1000\t1001\t1002\t1003\nGid:\t2000\t2001\t2002\t2003\nFDSize:\t64\n"
		"NStgid:\t10\t5\t1\nNSpid:\t10\t5\t1\nVmHWM:\t999 kB\nVmRSS:\t  2048 kB\n"
		"VmSwap:\t   512 kB\n"
		"Threads:\t21\nSigCgt:\t2000000181005ccf\n");
	is_int(proc_status(10, &st), 0, "status is read");
	is_int(st.euid, 1001, "the effective uid");
	is_int(st.egid, 2001, "the effective gid");
	is_int(st.nspid, 1, "the pid as the process sees it");
	is_int(st.ns_depth, 3, "how deep it is");
	is_int(st.threads, 21, "threads");
	is_int(st.rss_bytes, 2048 * 1024, "resident bytes");
	is_int(st.swap_bytes, 512 * 1024, "bytes that were moved out");
	ok((st.sig_caught >> 2) & 1, "SIGQUIT is caught");
	is_int(st.state, 'S', "state");
	is_str(st.name, "java", "name");
	fake_file("11/status", "Name:\tkthreadd\nState:\tI (idle)\nUid:\t0\t0\t0\t0\nNSpid:\t11");
	is_int(proc_status(11, &st), 0, "a kernel thread");
	ok(st.rss_bytes == 0 && st.nspid == 11, "has no memory of its own");
	fake_file("12/status", "");
	is_int(proc_status(12, &st), -1, "an empty status");
	is_int(proc_status(13, &st), -1, "no process");
}

static void test_stat(void)
{
	struct proc_machine machine;
	cpu_set_t first;
	struct proc_cpu cpu;
	char comm[32];

	fake_file("uptime", "1000.50 3000.00\n");
	fake_file("20/stat",
		"20 (a) b) (c) R 1 2 3 4 5 6 7 8 9 10 250 50 13 14 15 16 17 18 90000 20 21\n");
	is_int(proc_cpu(20, &cpu), 0, "stat is read past a name with parentheses");
	ok(cpu.utime == 250 && cpu.stime == 50 && cpu.start_ticks == 90000 && cpu.state == 'R',
		"its fields");
	is_int(cpu.major_faults, 9, "major faults of its own, not its children's");
	is_int(proc_uptime_s(90000), 1000 - 90000 / sysconf(_SC_CLK_TCK), "its age");
	fake_file("20/task/25/stat",
		"25 (Thread-7) S 1 2 3 4 5 6 7 8 9 10 1 2 13 14 15 16 17 18 95000 20\n");
	is_int(proc_thread_cpu(20, 25, &cpu, comm), 0, "a thread's");
	is_str(comm, "Thread-7", "its name");
	is_int(proc_swapped_in(), -1, "no vmstat: not known what was read back from swap");
	fake_file("vmstat", "nr_free_pages 5\npswpout 9\npgpgin 7\n");
	is_int(proc_swapped_in(), -1, "nor of a kernel without swap");
	fake_file("vmstat", "nr_free_pages 5\npgpgin 7\npswpin 1234\npswpout 9\n");
	is_int(proc_swapped_in(), 1234, "pages that were read back");
	is_int(proc_machine(getpid(), &machine), -ENOENT, "no stat of the machine");
	fake_file("stat", "cpu  100 20 30 4000 500 6 7 8 90 10\ncpu0 50 10 15 2000 250 3 3 4 45 5\n"
			  "cpu3 50 10 15 2000 250 3 4 4 45 5\nintr 12345 cpu\nctxt 99\n");
	is_int(proc_machine(getpid(), &machine), 0, "the machine's");
	is_int(machine.busy_ticks, 171, "neither idle time nor a guest's, which is the user's too");
	is_int(machine.cpus, 2, "CPUs in use");
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	ok(!sched_setaffinity(0, sizeof(first), &first), "on the first CPU alone");
	is_int(proc_machine(getpid(), &machine), 0, "the machine's again");
	is_int(machine.free_ticks, 2250, "of that: idle, and waiting for a disk");
	fake_file("stat", "intr 1\n");
	is_int(proc_machine(getpid(), &machine), -EINVAL, "a stat without it");
	fake_file("21/stat", "21 (cut) R 1 2\n");
	is_int(proc_cpu(21, &cpu), -1, "a stat cut off");
	fake_file("22/stat", "22 no name");
	is_int(proc_cpu(22, &cpu), -1, "a stat without a name");
}

struct maps_seen {
	int count, stop_at;
	struct proc_map last;
	char path[256];
};

static bool see_map(void *ctx, const struct proc_map *map)
{
	struct maps_seen *seen = ctx;

	seen->last = *map;
	snprintf(seen->path, sizeof(seen->path), "%s", map->path);
	return ++seen->count != seen->stop_at;
}

static void test_maps(void)
{
	struct maps_seen seen = {0};

	fake_file("30/maps",
		"00400000-00401000 r-xp 00000000 fe:01 77   /bin/with blank (deleted)\n"
		"not a line of maps\n"
		"7f0000000000-7f0000001000 rw-s 00002000 00:0f 123 /memfd:x (deleted)\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0\n");
	is_int(proc_maps(30, see_map, &seen), 0, "maps are read");
	is_int(seen.count, 3, "all lines but the broken one");
	ok(seen.last.start == 0xffffffffff600000ull && !seen.path[0], "a mapping without a file");
	seen = (struct maps_seen){.stop_at = 1};
	proc_maps(30, see_map, &seen);
	is_int(seen.count, 1, "the caller may stop");
	is_str(seen.path, "/bin/with blank", "a path with blanks");
	ok(seen.last.deleted && seen.last.inode == 77 && seen.last.dev_major == 0xfe &&
			seen.last.dev_minor == 1 && !strcmp(seen.last.perms, "r-xp"),
		"its fields");
	ok(proc_maps(31, see_map, &seen) == -ENOENT, "no process");
}

static bool opens(const char *path, const char *content)
{
	char text[64] = "";
	int fd = proc_open_in(40, "root", path, O_RDONLY);

	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return !strcmp(text, content);
}

/* The same as kernels before 5.6 need it done: what is there, without being opened. */
static bool walks(const char *path, const char *content)
{
	char text[64] = "", top[PROC_PATH_BYTES], link[64];
	int root = open(proc_path(top, 40, "root"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	int at = rooted_walk(root, path), fd;

	close(root);
	if (at < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	close(at);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return !strcmp(text, content);
}

static void link_inside(const char *from, const char *to)
{
	if (symlink(to, fake_path(from)))
		fake_bail("symlink");
}

static void test_inside(void)
{
	static const char *const leads_inside[] = {"/etc/inside", "../../../etc/inside", "/link",
		"etc/./../etc//inside", "/usr/lib/inside", "/usr/lib64/../../link", "/up",
		"/chain/0"};
	static const char *const leads_nowhere[] = {
		"/out", "/loop", "/etc/none", "/link/x", "/proc-self"};
	char ours[300];

	fake_file("40/root/etc/inside", "yes");
	fake_file("40/root/tmp/x", "tmp");
	link_inside("40/root/link", "/etc/inside");
	link_inside("40/root/out", "/../../../../../../../../../etc/passwd");
	link_inside("40/root/loop", "loop");
	link_inside("40/root/up", "../../../../../../../etc/inside");
	link_inside("40/root/usr/lib64", "lib");
	link_inside("40/root/usr/lib/inside", "../../etc/inside");
	link_inside("40/root/chain/0", "../chain/1");
	link_inside("40/root/chain/1", "/usr/lib64/inside");
	snprintf(ours, sizeof(ours), "%.250s/40/root/etc/inside", fake_root);
	link_inside("40/root/proc-self", ours);
	for (size_t i = 0; i < sizeof(leads_inside) / sizeof(leads_inside[0]); i++)
		ok(opens(leads_inside[i], "yes") && walks(leads_inside[i], "yes"),
			"%s is the process's own", leads_inside[i]);
	for (size_t i = 0; i < sizeof(leads_nowhere) / sizeof(leads_nowhere[0]); i++)
		ok(proc_open_in(40, "root", leads_nowhere[i], O_RDONLY) < 0 &&
				!walks(leads_nowhere[i], "yes"),
			"%s leads nowhere, and never into what is ours", leads_nowhere[i]);
	is_int(proc_open_in(41, "root", "/", O_RDONLY), -ENOENT, "no process");
}

/* Each of these would wait for ever, or do something, if it were opened. */
static void test_no_files(void)
{
	char path[PROC_PATH_BYTES];
	int dir = open(fake_path("40/root/tmp/."), O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (mkfifo(fake_path("40/root/tmp/fifo"), 0666))
		fake_bail("mkfifo");
	link_inside("40/root/tmp/to-fifo", "fifo");
	link_inside("40/root/tmp/to-x", "x");
	alarm(60); /* ends the test that hangs */
	is_int(proc_open_in(40, "root", "/tmp/fifo", O_RDONLY), -EINVAL, "a fifo is not opened");
	is_int(proc_open_in(40, "root", "/tmp/to-fifo", O_RDONLY), -EINVAL, "nor through a link");
	is_int(proc_open_in(40, "root", "/tmp", O_RDONLY), -EINVAL, "nor a folder, as a file");
	is_int(proc_open_in(40, "root", "/tmp/x", O_RDONLY | O_DIRECTORY), -ENOTDIR,
		"nor a file, as a folder");
	is_int(rooted_in(dir, "fifo", O_RDONLY), -EINVAL, "a fifo in a folder");
	is_int(rooted_in(dir, "to-x", O_RDONLY), -ELOOP, "a link in a folder");
	is_int(rooted_link(proc_path(path, 40, "root/tmp/fifo"), O_RDONLY), -EINVAL,
		"what a link of /proc leads to");
	is_int(rooted_link("/dev/zero", O_RDONLY), -EINVAL, "a device is not opened");
	close(dir);
	alarm(0);
}

static void count_pid(void *ctx, pid_t pid)
{
	*(int *)ctx += pid;
}

static void test_lists(void)
{
	int sum = 0;

	fake_file("50/task/50/x", "");
	fake_file("50/task/51/x", "");
	fake_file("50/task/no/x", "");
	is_int(proc_threads(50, count_pid, &sum), 0, "threads");
	is_int(sum, 101, "each once");
	is_int(proc_thread_count(59), 0, "no process has no known number of threads");
	sum = 0;
	fake_file("self/x", "");
	fake_file("51x/x", "");
	proc_pids(count_pid, &sum);
	is_int(sum, 10 + 11 + 12 + 20 + 21 + 22 + 30 + 40 + 50,
		"processes are the numbered folders");
	fake_path("60/fd/0");
	ok(!proc_fds_open_to_us(60), "no descriptor to be seen");
	if (symlink("/dev/null", fake_path("60/fd/0")))
		fake_bail("symlink");
	ok(proc_fds_open_to_us(60), "one to be seen");
}

int main(void)
{
	fake_begin();
	test_status();
	test_stat();
	test_maps();
	test_inside();
	test_no_files();
	test_lists();
	fake_end();
	proc_root = "/proc";
	struct proc_status st;
	is_int(proc_status(getpid(), &st), 0, "the real /proc: this process");
	ok(st.euid == geteuid() && st.threads == 1 && st.rss_bytes > 0 && st.nspid > 0,
		"its fields");
	is_int(proc_thread_count(getpid()), 1, "the number of its threads");
	ok(proc_same_ns(getpid(), "mnt") && proc_same_root(getpid()),
		"shares its namespaces with itself");
	return tap_done();
}
