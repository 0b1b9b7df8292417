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
	is_int(proc_status(10, &st), 0, "proc_status reads a status file");
	is_int(st.euid, 1001, "euid is the effective uid");
	is_int(st.egid, 2001, "egid is the effective gid");
	is_int(st.nspid, 1, "nspid is the pid in the innermost namespace");
	is_int(st.ns_depth, 3, "ns_depth is the number of nested pid namespaces");
	is_int(st.threads, 21, "threads is the thread count");
	is_int(st.rss_bytes, 2048 * 1024, "rss_bytes is VmRSS in bytes");
	is_int(st.swap_bytes, 512 * 1024, "swap_bytes is VmSwap in bytes");
	ok((st.sig_caught >> 2) & 1, "sig_caught has the bit of SIGQUIT");
	is_int(st.state, 'S', "state is the letter of the state");
	is_str(st.name, "java", "name is the process's name");
	fake_file("11/status", "Name:\tkthreadd\nState:\tI (idle)\nUid:\t0\t0\t0\t0\nNSpid:\t11");
	is_int(proc_status(11, &st), 0, "the status of a kernel thread is read");
	ok(st.rss_bytes == 0 && st.nspid == 11, "a kernel thread has no resident memory");
	fake_file("12/status", "");
	is_int(proc_status(12, &st), -1, "an empty status file is rejected");
	is_int(proc_status(13, &st), -1, "proc_status fails for a missing process");
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
	is_int(proc_cpu(20, &cpu), 0, "stat is parsed when the name contains parentheses");
	ok(cpu.utime == 250 && cpu.stime == 50 && cpu.start_ticks == 90000 && cpu.state == 'R',
		"CPU times, start time and state are read from stat");
	is_int(cpu.major_faults, 9, "major faults exclude those of children");
	is_int(proc_uptime_s(90000), 1000 - 90000 / sysconf(_SC_CLK_TCK),
		"proc_uptime_s computes the age from the start time");
	fake_file("20/task/25/stat",
		"25 (Thread-7) S 1 2 3 4 5 6 7 8 9 10 1 2 13 14 15 16 17 18 95000 20\n");
	is_int(proc_thread_cpu(20, 25, &cpu, comm), 0, "a thread's stat is read");
	is_str(comm, "Thread-7", "the thread's name is read");
	is_int(proc_swapped_in(), -1, "pages swapped in are unknown without vmstat");
	fake_file("vmstat", "nr_free_pages 5\npswpout 9\npgpgin 7\n");
	is_int(proc_swapped_in(), -1, "pages swapped in are unknown if vmstat has no pswpin");
	fake_file("vmstat", "nr_free_pages 5\npgpgin 7\npswpin 1234\npswpout 9\n");
	is_int(proc_swapped_in(), 1234, "pages swapped in are read from pswpin");
	is_int(proc_machine(getpid(), &machine), -ENOENT,
		"proc_machine fails with ENOENT without /proc/stat");
	fake_file("stat", "cpu  100 20 30 4000 500 6 7 8 90 10\ncpu0 50 10 15 2000 250 3 3 4 45 5\n"
			  "cpu3 50 10 15 2000 250 3 4 4 45 5\nintr 12345 cpu\nctxt 99\n");
	is_int(proc_machine(getpid(), &machine), 0, "proc_machine reads /proc/stat");
	is_int(machine.busy_ticks, 171,
		"busy time excludes idle time and guest time, which user time includes");
	is_int(machine.cpus, 2, "the CPUs online are counted");
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	ok(!sched_setaffinity(0, sizeof(first), &first), "this process is bound to CPU 0");
	is_int(proc_machine(getpid(), &machine), 0, "proc_machine reads /proc/stat on one CPU");
	is_int(machine.free_ticks, 2250, "free time is idle and iowait time of the allowed CPUs");
	fake_file("stat", "intr 1\n");
	is_int(proc_machine(getpid(), &machine), -EINVAL,
		"a /proc/stat without a cpu line is rejected");
	fake_file("21/stat", "21 (cut) R 1 2\n");
	is_int(proc_cpu(21, &cpu), -1, "a truncated stat is rejected");
	fake_file("22/stat", "22 no name");
	is_int(proc_cpu(22, &cpu), -1, "a stat without a name is rejected");
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
	is_int(proc_maps(30, see_map, &seen), 0, "proc_maps reads a maps file");
	is_int(seen.count, 3, "a malformed line is skipped, the other three are read");
	ok(seen.last.start == 0xffffffffff600000ull && !seen.path[0],
		"a mapping without a file has an empty path");
	seen = (struct maps_seen){.stop_at = 1};
	proc_maps(30, see_map, &seen);
	is_int(seen.count, 1, "a callback that returns false ends the iteration");
	is_str(seen.path, "/bin/with blank", "a path with a blank is read, without \"(deleted)\"");
	ok(seen.last.deleted && seen.last.inode == 77 && seen.last.dev_major == 0xfe &&
			seen.last.dev_minor == 1 && !strcmp(seen.last.perms, "r-xp"),
		"deleted flag, inode, device and permissions are read");
	ok(proc_maps(31, see_map, &seen) == -ENOENT, "proc_maps fails for a missing process");
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

/* The fallback for kernels before 5.6, without openat2: resolves the path without opening it. */
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
			"%s resolves inside the process's root", leads_inside[i]);
	for (size_t i = 0; i < sizeof(leads_nowhere) / sizeof(leads_nowhere[0]); i++)
		ok(proc_open_in(40, "root", leads_nowhere[i], O_RDONLY) < 0 &&
				!walks(leads_nowhere[i], "yes"),
			"%s does not resolve, in particular not to a file outside the root",
			leads_nowhere[i]);
	is_int(proc_open_in(41, "root", "/", O_RDONLY), -ENOENT,
		"opening a path of a missing process fails with ENOENT");
}

/* Opening any of these would block for ever or have a side effect. */
static void test_no_files(void)
{
	char path[PROC_PATH_BYTES];
	int dir = open(fake_path("40/root/tmp/."), O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (mkfifo(fake_path("40/root/tmp/fifo"), 0666))
		fake_bail("mkfifo");
	link_inside("40/root/tmp/to-fifo", "fifo");
	link_inside("40/root/tmp/to-x", "x");
	alarm(60); /* kills this test if it hangs */
	is_int(proc_open_in(40, "root", "/tmp/fifo", O_RDONLY), -EINVAL, "a fifo is not opened");
	is_int(proc_open_in(40, "root", "/tmp/to-fifo", O_RDONLY), -EINVAL,
		"a fifo is not opened through a symbolic link");
	is_int(proc_open_in(40, "root", "/tmp", O_RDONLY), -EINVAL,
		"a folder is not opened as a file");
	is_int(proc_open_in(40, "root", "/tmp/x", O_RDONLY | O_DIRECTORY), -ENOTDIR,
		"a file is not opened as a folder");
	is_int(rooted_in(dir, "fifo", O_RDONLY), -EINVAL, "rooted_in does not open a fifo");
	is_int(rooted_in(dir, "to-x", O_RDONLY), -ELOOP,
		"rooted_in does not follow a symbolic link");
	is_int(rooted_link(proc_path(path, 40, "root/tmp/fifo"), O_RDONLY), -EINVAL,
		"rooted_link does not open a fifo");
	is_int(rooted_link("/dev/zero", O_RDONLY), -EINVAL, "rooted_link does not open a device");
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
	is_int(proc_threads(50, count_pid, &sum), 0, "proc_threads reads the task folder");
	is_int(sum, 101, "each thread is listed once");
	is_int(proc_thread_count(59), 0, "the thread count of a missing process is 0");
	sum = 0;
	fake_file("self/x", "");
	fake_file("51x/x", "");
	proc_pids(count_pid, &sum);
	is_int(sum, 10 + 11 + 12 + 20 + 21 + 22 + 30 + 40 + 50,
		"proc_pids lists the folders with numeric names");
	fake_path("60/fd/0");
	ok(!proc_fds_open_to_us(60), "an empty fd folder counts as unreadable");
	if (symlink("/dev/null", fake_path("60/fd/0")))
		fake_bail("symlink");
	ok(proc_fds_open_to_us(60), "an fd folder with an entry counts as readable");
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
	is_int(proc_status(getpid(), &st), 0, "proc_status reads this process from the real /proc");
	ok(st.euid == geteuid() && st.threads == 1 && st.rss_bytes > 0 && st.nspid > 0,
		"euid, threads, resident size and nspid of this process are right");
	is_int(proc_thread_count(getpid()), 1, "proc_thread_count of this process is 1");
	ok(proc_same_ns(getpid(), "mnt") && proc_same_root(getpid()),
		"a process shares namespaces and root with itself");
	return tap_done();
}
