/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one thread's clock, system call and scheduling statistics. */
#include "sampler/task.h"

#include "base/clock.h"
#include "sampler/procfile.h"
#include "sampler/signal/raw.h"
#include "sampler/text.h"
#include "wire/record.h"

#include <stdlib.h>
#include <string.h>

bool task_cpu_ns(int32_t tid, uint64_t *ns)
{
	struct timespec now = {0, 0};

	if (raw(SYS_clock_gettime, TASK_CLOCK(tid), &now) < 0)
		return false;
	*ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
	return true;
}

/*
 * Reads a small file of the thread; false when it is unreadable. With TASK_BY_PATH the descriptor is in the program's
 * table for about 10 us, where the program may close it and reuse its number: pread moves no offset and consumes
 * nothing of another file, and a number that denotes another file by now is not closed.
 */
static bool task_read(int task_fd, int32_t task, const char *name, char *out, size_t bytes)
{
	struct raw_file file;
	char path[48];
	struct text text = text_into(path, sizeof(path));
	long got;

	text_add(&text, task_fd == TASK_BY_PATH ? "/proc/self/task/" : "");
	text_add_number(&text, (uint64_t)task);
	text_add(&text, name);
	long fd = raw(SYS_openat, task_fd, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	if (task_fd == TASK_BY_PATH) {
		raw_file_identify(&file, (int32_t)fd);
		got = raw(SYS_pread64, fd, out, bytes - 1, 0);
		raw_file_close(&file);
	} else {
		got = raw(SYS_read, fd, out, bytes - 1);
		raw(SYS_close, fd);
	}
	out[got > 0 ? got : 0] = '\0';
	return got > 0;
}

bool task_delay_ns(int task_fd, int32_t task, uint64_t *ns)
{
	char line[96];
	const char *at = line;

	if (!task_read(task_fd, task, "/schedstat", line, sizeof(line)))
		return false;
	procfile_digits(&at, 10);
	if (*at++ != ' ')
		return false;
	*ns = procfile_digits(&at, 10);
	return true;
}

bool task_sleeps(int task_fd, int32_t task, uint64_t *count)
{
	char status[PROCFILE_STATUS];

	if (!task_read(task_fd, task, "/status", status, sizeof(status)))
		return false;
	*count = procfile_number(status, "voluntary_ctxt_switches:", UINT64_MAX);
	return *count != UINT64_MAX;
}

static bool task_blocked(int task_fd, int32_t task, struct task_signals *out)
{
	char status[PROCFILE_STATUS];
	const char *at;

	if (!task_read(task_fd, task, "/status", status, sizeof(status)) ||
		!(at = procfile_find(status, "SigBlk:")))
		return false;
	out->blocked |= procfile_digits(&at, 16);
	out->filters = procfile_filters(status);
	return true;
}

/*
 * Reads the blocked signals before and after the call: a thread that is just returning from sigwait blocks the awaited
 * signals again.
 */
bool task_signals(int task_fd, int32_t task, struct task_signals *out)
{
	struct task_call call;

	*out = (struct task_signals){.waits = false};
	if (!task_blocked(task_fd, task, out))
		return false;
	task_state_call(task_fd, task, &call);
	out->waits = call.sp && call.number == SYS_rt_sigtimedwait;
	out->set = call.arguments[0];
	return out->waits || task_blocked(task_fd, task, out);
}

int32_t task_tid(int task_fd, int32_t task)
{
	char status[PROCFILE_STATUS];
	const char *at;
	uint64_t tid = 0;

	if (!task_read(task_fd, task, "/status", status, sizeof(status)) ||
		!(at = procfile_find(status, "NSpid:")))
		return 0;
	do /* outer namespaces come first */
		tid = procfile_digits(&at, 10);
	while (*at++ == '\t');
	return (int32_t)tid;
}

/* Parses "se.exec_start   :   15995809.148196" (ms), near the beginning of the file, to ns. */
static bool task_stamp(int task_fd, int32_t task, uint64_t *ns)
{
	char head[384];
	const char *at;

	if (!task_read(task_fd, task, "/sched", head, sizeof(head)) ||
		!(at = procfile_find(head, "se.exec_start")))
		return false;
	while (*at == ' ' || *at == ':')
		at++;
	uint64_t ms = procfile_digits(&at, 10);
	if (!ms || *at++ != '.')
		return false; /* 0: the thread is migrating to another CPU */
	*ns = ms * 1000000 + procfile_digits(&at, 10);
	return true;
}

/* Parses the 39th field of "TID (name) S ...". The name may contain any character, but is short. */
static bool task_cpu(int task_fd, int32_t task, int32_t *cpu)
{
	char line[1024];
	const char *at = line;

	if (!task_read(task_fd, task, "/stat", line, sizeof(line)))
		return false;
	for (int field = 1; *at && field < 39; at++)
		field = *at == ')' ? 2 : field + (*at == ' ');
	*cpu = (int32_t)procfile_digits(&at, 10);
	return *at == ' ';
}

bool task_slept(int task_fd, int32_t task, int32_t *cpu, uint64_t *stamp)
{
	return task_stamp(task_fd, task, stamp) && task_cpu(task_fd, task, cpu);
}

bool task_ran_on(int task_fd, int32_t cpu, uint64_t *stamp)
{
	uint64_t before[16], only[16] = {0}; /* 1,024 CPUs */
	long bytes = raw(SYS_sched_getaffinity, 0, sizeof(before), before);

	/* Outside of the affinity mask, for example isolated. */
	if (bytes <= 0 || (uint32_t)cpu >= (uint32_t)bytes * 8 ||
		!(before[cpu / 64] >> (cpu % 64) & 1))
		return false;
	only[cpu / 64] = 1ull << (cpu % 64);
	if (raw(SYS_sched_setaffinity, 0, sizeof(only), only) < 0)
		return false;
	bool ran = task_stamp(task_fd, raw_gettid(), stamp);
	raw(SYS_sched_setaffinity, 0, (size_t)bytes, before);
	return ran;
}

/* System calls that wait for data, a peer or a device. */
static const uint16_t task_io[] = {
	SYS_read,
	SYS_readv,
	SYS_pread64,
	SYS_preadv,
	SYS_write,
	SYS_writev,
	SYS_pwrite64,
	SYS_pwritev,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_recvmmsg,
	SYS_sendto,
	SYS_sendmsg,
	SYS_sendmmsg,
	SYS_accept,
	SYS_accept4,
	SYS_connect,
	SYS_ppoll,
	SYS_pselect6,
	SYS_epoll_pwait,
	SYS_fsync,
	SYS_fdatasync,
	SYS_openat,
	SYS_sendfile,
	SYS_splice,
	SYS_copy_file_range,
	SYS_flock,
	SYS_io_getevents,
	SYS_sync_file_range,
	SYS_fallocate,
	SYS_ftruncate,
	SYS_unlinkat,
	SYS_msync,
#ifdef SYS_poll
	SYS_poll,
	SYS_select,
	SYS_epoll_wait,
	SYS_open,
	SYS_unlink,
#endif
#ifdef SYS_epoll_pwait2
	SYS_epoll_pwait2,
#endif
#ifdef SYS_io_uring_enter
	SYS_io_uring_enter,
#endif
};

uint32_t task_state_of(const char *line)
{
	if (*line == 'r') /* "running" */
		return TASK_RUNS;
	if (*line == '-') /* blocked outside of a system call: a page is being read */
		return WIRE_STATE_IO;
	if (*line < '0' || *line > '9')
		return TASK_UNKNOWN;
	uint64_t call = procfile_digits(&line, 10);
	if (call == SYS_futex)
		return TASK_IN_FUTEX;
	for (size_t i = 0; i < sizeof(task_io) / sizeof(task_io[0]); i++) {
		if (task_io[i] == call)
			return WIRE_STATE_IO;
	}
	return WIRE_STATE_SLEEPING;
}

uint32_t task_state(int task_fd, int32_t task)
{
	struct task_call call;

	return task_state_call(task_fd, task, &call);
}

bool task_name(int task_fd, int32_t task, char *out, size_t bytes)
{
	return task_read(task_fd, task, "/comm", out, bytes);
}

/* Parses " 0x7ffd9c" and advances past it; false if there is no such number. */
static bool hex_at(const char **at, uint64_t *out)
{
	if ((*at)[0] != ' ' || (*at)[1] != '0' || (*at)[2] != 'x')
		return false;
	*at += 3;
	*out = procfile_digits(at, 16);
	return true;
}

/* The line is "202 0x7f0 0x80 0x0 0x0 0x0 0x0 0x7ffd9c 0x7f5a2b", or "-1 0x7ffd9c 0x7f5a2b" if there is no call. */
bool task_call_of(const char *line, struct task_call *out)
{
	bool none = *line == '-';

	line += none;
	if (*line < '0' || *line > '9')
		return false;
	out->number = procfile_digits(&line, 10);
	if (none)
		out->number = TASK_NO_CALL;
	for (int i = 0; !none && i < TASK_ARGUMENTS; i++)
		if (!hex_at(&line, &out->arguments[i]))
			return false;
	return hex_at(&line, &out->sp) && hex_at(&line, &out->pc);
}

uint32_t task_state_call(int task_fd, int32_t task, struct task_call *out)
{
	char line[256];

	*out = (struct task_call){0};
	if (!task_read(task_fd, task, "/syscall", line, sizeof(line)))
		return TASK_UNKNOWN;
	if (!task_call_of(line, out))
		*out = (struct task_call){0};
	return task_state_of(line);
}

uint64_t task_sp(int task_fd, int32_t task)
{
	struct task_call call;

	task_state_call(task_fd, task, &call);
	return call.sp;
}
