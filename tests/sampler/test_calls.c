/* SPDX-License-Identifier: Apache-2.0 */
/* System calls tried in a child: what a filter forbids is found, and nothing of it reaches this process. */
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

/* From now on these system calls of this process return this result. */
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

struct row_of_test {
	const char *name;
	uint32_t action;
	int numbers[8];
	int result;
	const char *note;
	bool zombie; /* one child stays */
	bool dumps;  /* from Linux 5.16 on, that child does */
};

/* One filter, as on a kernel whose core dumps kill, or not. In a process of its own, since filters stay. */
static void try_row(const struct row_of_test *row, bool old_kernel)
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
	if (old_kernel) { /* calls_try, but for the kernel's version */
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
	check(result == row->result, "the result", result);
	for (int i = 0; i < count && result != AGENT_UNTRIED; i++)
		check(row->numbers[i] == SYS_swapon || row->zombie || raw(row->numbers[i], -1) < 0,
			"a forbidden call fails", row->numbers[i]);
	check(!raw_refusal(SYS_openat), "openat is still made", 0);
	calls_report((struct sampler *)note);
	check(row->note ? strstr(note, row->note) != NULL : !*note, note, 0);
	check(!sigchlds && !sigsyses, "no signal has come", sigsyses);
	check(row->zombie || waitpid(-1, NULL, __WALL) < 0, "no child is left", 0);
	check(prctl(PR_GET_DUMPABLE) == 1, "the process may dump core as before", 0);
	check((row->dumps && !old_kernel) || !core_file(), "no core was dumped", 0);
	if (!old_kernel)
		check(calls_try() == row->result, "the same again", 0);
}

#define KILL SECCOMP_RET_KILL_PROCESS

static const struct row_of_test test_rows[] = {
	{"no filter", 0, {0}, AGENT_OK, .note = NULL},
	{"nothing of ours forbidden", KILL, {SYS_swapon}, AGENT_OK, .note = NULL},
	{"perf_event_open killed", KILL, {SYS_perf_event_open}, AGENT_OK, .note = NULL},
	{"several killed", KILL, {SYS_statx, SYS_sched_setattr, SYS_recvfrom, SYS_fallocate},
		AGENT_OK,
		.note = "forbids statx (no names of what threads read and write); recvfrom ("},
	{"one thread killed", SECCOMP_RET_KILL_THREAD, {SYS_statx}, AGENT_OK,
		.note = "forbids statx"},
	{"trapped", SECCOMP_RET_TRAP, {SYS_statx, SYS_timer_create}, AGENT_OK,
		.note = "forbids timer_create"},
	{"EPERM", SECCOMP_RET_ERRNO | EPERM, {SYS_statx}, AGENT_OK, .note = "forbids statx"},
	{"ENOSYS", SECCOMP_RET_ERRNO | ENOSYS, {SYS_statx}, AGENT_OK, .note = "forbids statx"},
	{"prlimit64 killed", KILL, {SYS_prlimit64, SYS_statx}, AGENT_OK, .note = "forbids statx",
		.dumps = true},
	{"memfd_create killed", KILL, {SYS_memfd_create, SYS_statx},
		AGENT_FORBIDDEN + CALL_memfd_create, .note = "forbids statx"},
	{"wait4 killed", KILL, {SYS_wait4, SYS_statx}, AGENT_FORBIDDEN + CALL_wait4, .note = NULL,
		.zombie = true},
	{"no child", SECCOMP_RET_ERRNO | EPERM, {SYS_clone, SYS_clone3}, AGENT_UNTRIED,
		.note = NULL},
};

/* Filters that come while a session runs. */
static void try_later(void)
{
	struct sampler *s = (struct sampler *)note;

	check(calls_try() == AGENT_OK, "there is no filter", 0);
	check(calls_are_of(procfile_filters("Name:\tx\nSeccomp:\t0\nSeccomp_filters:\t0\n")),
		"nor has another thread one", 0);
	check(!calls_are_of(procfile_filters("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n")),
		"a thread that has one is told from it", 0);
	check(!calls_are_of(procfile_filters("Name:\tx\nSeccomp:\t2\n")), "also before Linux 5.9",
		0);
	filter(KILL, 1, (int[]){SYS_statx});
	calls_poll(s);
	check(strstr(note, "forbids statx") != NULL, note, 0);
	check(raw_refusal(SYS_statx) == -EPERM && ended == SAMPLER_RUNS, "the session goes on", 0);
	check(calls_are_of(procfile_filters("Seccomp:\t2\nSeccomp_filters:\t1\n")), "one is known",
		0);
	check(!calls_are_of(procfile_filters("Seccomp:\t2\nSeccomp_filters:\t2\n")), "two are not",
		0);
	filter(KILL, 1, (int[]){SYS_getdents64});
	calls_poll(s);
	check(ended == SAMPLER_FORBIDDEN, "without a needed call it ends", ended);
}

int main(void)
{
	char folder[] = "/tmp/jhot-test.XXXXXX";
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	int status;

#if defined(__SANITIZE_ADDRESS__)
	tap_skip_all("a child on another stack and sanitizers do not go together");
#endif
	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	setrlimit(RLIMIT_CORE, &limit);
	for (size_t i = 0; i < 2 * sizeof(test_rows) / sizeof(test_rows[0]); i++) {
		const struct row_of_test *row = &test_rows[i / 2];
		pid_t pid;

		if (i % 2 && !row->numbers[0])
			continue;
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			try_row(row, i % 2);
			fflush(stdout);
			_exit(failed);
		}
		ok(waitpid(pid, &status, 0) == pid && status == 0, "%s%s", row->name,
			i % 2 ? ", as before Linux 5.16" : "");
		unlink("core");
	}
	fflush(stdout);
	if (fork() == 0) {
		try_later();
		fflush(stdout);
		_exit(failed);
	}
	ok(wait(&status) > 0 && status == 0, "filters that come while a session runs");
	rmdir(folder);
	return tap_done();
}
