/* SPDX-License-Identifier: Apache-2.0 */
/* System calls are tried in a child: calls that a filter forbids are found, without effects on this process. */
#include "sampler/calls.c"

#include "tests/tap.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

static char note[1024];

bool publish_note(
	struct publish *p, uint32_t kind, uint64_t time_ns, uint64_t arg_ns, const char *text)
{
	(void)p;
	(void)kind;
	(void)time_ns;
	(void)arg_ns;
	snprintf(note, sizeof(note), "%s", text);
	return true;
}

static enum sampler_stop ended;

void lease_end(struct sampler *s, enum sampler_stop why)
{
	(void)s;
	ended = why;
}

/* Makes these system calls of this process end with this action. */
static void filter(uint32_t action, int count, const int *numbers)
{
	struct sock_filter code[64] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	unsigned short used = 1;

	for (int i = 0; i < count; i++) {
		code[used++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)numbers[i], 0, 1);
		code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	}
	code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
			&(struct sock_fprog){.len = used, .filter = code})) {
		printf("Bail out! no filter of system calls may be set here\n");
		exit(1);
	}
}

static int sigchlds, sigsyses;

static void count_signal(int sig)
{
	sigchlds += sig == SIGCHLD;
	sigsyses += sig == SIGSYS;
}

static bool core_file(void)
{
	DIR *dir = opendir(".");
	bool found = false;

	for (struct dirent *e; dir && (e = readdir(dir));)
		found |= !strncmp(e->d_name, "core", 4);
	closedir(dir);
	return found;
}

static int failed;

static void check(bool good, const char *what, long got)
{
	if (!good)
		diag("failed: %s (%ld)", what, got);
	failed += !good;
}

struct test_row {
	const char *name;
	uint32_t action;
	int numbers[8];
	int result;
	const char *note;
	bool zombie; /* one child remains */
	bool dumps;  /* from Linux 5.16 on, that child dumps core */
};

/*
 * One filter, as on a kernel before or since Linux 5.16 (old kernels dump core). In a process of its own, as filters
 * cannot be removed.
 */
static void run_row(const struct test_row *row, bool old_kernel)
{
	struct timespec begin, end;
	int count = 0, result;
	long us;

	signal(SIGCHLD, count_signal);
	signal(SIGSYS, count_signal);
	while (row->numbers[count])
		count++;
	if (count)
		filter(row->action, count, row->numbers);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (old_kernel) { /* calls_try, without its check of the kernel's version */
		trial.old_kernel = true;
		result = try_all();
		for (uint32_t i = 0; i < CALL_COUNT && result == AGENT_OK; i++)
			if (rows[i].need == NEEDED && raw_refusal(rows[i].number))
				result = AGENT_FORBIDDEN + (int)i;
	} else {
		result = calls_try();
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	us = (end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000;
	diag("%s%s: %ld us", row->name, old_kernel ? ", as before Linux 5.16" : "", us);
	check(result == row->result, "calls_try returns the expected result", result);
	for (int i = 0; i < count && result != AGENT_UNTRIED; i++)
		check(row->numbers[i] == SYS_swapon || row->zombie || raw(row->numbers[i], -1) < 0,
			"a forbidden call fails", row->numbers[i]);
	check(!raw_refusal(SYS_openat), "openat is still allowed", 0);
	calls_report((struct sampler *)note);
	check(row->note ? strstr(note, row->note) != NULL : !*note, note, 0);
	check(!sigchlds && !sigsyses, "no SIGCHLD or SIGSYS arrived", sigsyses);
	check(row->zombie || waitpid(-1, NULL, __WALL) < 0, "no child is left", 0);
	check(prctl(PR_GET_DUMPABLE) == 1, "the process is still dumpable", 0);
	check((row->dumps && !old_kernel) || !core_file(), "no core was dumped", 0);
	if (!old_kernel)
		check(calls_try() == row->result, "a second try gives the same result", 0);
}

#define KILL SECCOMP_RET_KILL_PROCESS

static const struct test_row test_rows[] = {
	{"without a filter all calls are allowed", 0, {0}, AGENT_OK, .note = NULL},
	{"a filter of an unused call changes nothing", KILL, {SYS_swapon}, AGENT_OK, .note = NULL},
	{"perf_event_open killing the process is not reported", KILL, {SYS_perf_event_open},
		AGENT_OK, .note = NULL},
	{"several calls killing the process are reported", KILL,
		{SYS_statx, SYS_sched_setattr, SYS_recvfrom, SYS_fallocate}, AGENT_OK,
		.note = "forbids statx (no names of what threads read and write); recvfrom ("},
	{"a call killing the thread is reported", SECCOMP_RET_KILL_THREAD, {SYS_statx}, AGENT_OK,
		.note = "forbids statx"},
	{"calls raising SIGSYS are reported", SECCOMP_RET_TRAP, {SYS_statx, SYS_timer_create},
		AGENT_OK, .note = "forbids timer_create"},
	{"a call failing with EPERM is reported", SECCOMP_RET_ERRNO | EPERM, {SYS_statx}, AGENT_OK,
		.note = "forbids statx"},
	{"a call failing with ENOSYS is reported", SECCOMP_RET_ERRNO | ENOSYS, {SYS_statx},
		AGENT_OK, .note = "forbids statx"},
	{"prlimit64 killing the process leaves the other calls tried", KILL,
		{SYS_prlimit64, SYS_statx}, AGENT_OK, .note = "forbids statx", .dumps = true},
	{"memfd_create killing the process is refused", KILL, {SYS_memfd_create, SYS_statx},
		AGENT_FORBIDDEN + CALL_memfd_create, .note = "forbids statx"},
	{"wait4 killing the process is refused", KILL, {SYS_wait4, SYS_statx},
		AGENT_FORBIDDEN + CALL_wait4, .note = NULL, .zombie = true},
	{"without a child nothing can be tried", SECCOMP_RET_ERRNO | EPERM, {SYS_clone, SYS_clone3},
		AGENT_UNTRIED, .note = NULL},
};

/* Filters that are added while a session runs. */
static void run_later(void)
{
	struct sampler *s = (struct sampler *)note;

	check(calls_try() == AGENT_OK, "calls_try succeeds without a filter", 0);
	check(calls_are_of(procfile_filters("Name:\tx\nSeccomp:\t0\nSeccomp_filters:\t0\n")),
		"a thread without a filter has the tried calls", 0);
	check(!calls_are_of(procfile_filters("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n")),
		"a thread with a filter has other calls", 0);
	check(!calls_are_of(procfile_filters("Name:\tx\nSeccomp:\t1\nSeccomp_filters:\t0\n")),
		"so has a thread in strict mode", 0);
	check(!calls_are_of(procfile_filters("Name:\tx\nSeccomp:\t2\n")),
		"so has one on Linux before 5.9", 0);
	filter(KILL, 1, (int[]){SYS_statx});
	calls_poll(s);
	check(strstr(note, "forbids statx") != NULL, note, 0);
	check(raw_refusal(SYS_statx) == -EPERM && ended == SAMPLER_RUNS,
		"the session continues after statx was forbidden", 0);
	check(calls_are_of(procfile_filters("Seccomp:\t2\nSeccomp_filters:\t1\n")),
		"a thread with the same single filter has the tried calls", 0);
	check(!calls_are_of(procfile_filters("Seccomp:\t2\nSeccomp_filters:\t2\n")),
		"a thread with two filters has other calls", 0);
	filter(KILL, 1, (int[]){SYS_getdents64});
	calls_poll(s);
	check(ended == SAMPLER_FORBIDDEN, "the session ends when a required call is forbidden",
		ended);
}

int main(void)
{
	char folder[] = "/tmp/jhot-test.XXXXXX";
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	int status;

#if defined(__SANITIZE_ADDRESS__)
	tap_skip_all("the sanitizer does not support a child on another stack");
#endif
	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	setrlimit(RLIMIT_CORE, &limit);
	for (size_t i = 0; i < 2 * sizeof(test_rows) / sizeof(test_rows[0]); i++) {
		const struct test_row *row = &test_rows[i / 2];
		pid_t pid;

		if (i % 2 && !row->numbers[0])
			continue;
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			run_row(row, i % 2);
			fflush(stdout);
			_exit(failed);
		}
		ok(waitpid(pid, &status, 0) == pid && status == 0, "%s%s", row->name,
			i % 2 ? ", as before Linux 5.16" : "");
		unlink("core");
	}
	fflush(stdout);
	if (fork() == 0) {
		run_later();
		fflush(stdout);
		_exit(failed);
	}
	ok(wait(&status) > 0 && status == 0, "filters added while a session runs are noticed");
	rmdir(folder);
	return tap_done();
}
