/* SPDX-License-Identifier: Apache-2.0 */
/* Landmarks: calls that begin a phase. Any other call belongs to the current phase. */
#include "fault_phase.h"

#include "wire/layout.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SYS_open /* newer architectures have only their successors */
#define SYS_open     (-1)
#define SYS_poll     (-1)
#define SYS_rename   (-1)
#define SYS_readlink (-1)
#endif

#define PATH_BYTES 512
#define LOOP_FDS   3 /* descriptors that the live view polls: keys, signals, the terminal */

#define BIT(phase) (1u << (phase))
#define ANY        (~0u)
#define SESSION                                                                          \
	(BIT(PHASE_ENABLE) | BIT(PHASE_SAMPLE) | BIT(PHASE_SWITCH) | BIT(PHASE_DETACH) | \
		BIT(PHASE_EXPORT) | BIT(PHASE_END))

const char *const phase_names[PHASES] = {
	[PHASE_NONE] = "none",
	[PHASE_BEGIN] = "begin",
	[PHASE_FIND] = "find",
	[PHASE_PUT] = "put",
	[PHASE_CONNECT] = "connect",
	[PHASE_WAKE] = "wake",
	[PHASE_LOAD] = "load",
	[PHASE_ENABLE] = "enable",
	[PHASE_SAMPLE] = "sample",
	[PHASE_SWITCH] = "switch",
	[PHASE_DETACH] = "detach",
	[PHASE_EXPORT] = "export",
	[PHASE_END] = "end",
};

static struct {
	enum phase now;
	pid_t mapper;      /* the thread that is in the mmap() of the agent's memory; 0: none */
	uint64_t base;     /* address of that memory in jhot; 0: not mapped */
	uint32_t commands; /* sequence number of the last command seen */
	bool begun;        /* a command has started an event */
	bool detached;     /* a command has ended the session */
} run = {.now = PHASE_BEGIN};

static bool read_memory(pid_t pid, uint64_t address, void *out, size_t bytes)
{
	struct iovec local = {out, bytes}, remote = {(void *)(uintptr_t)address, bytes};

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/* --- calls with a path ----------------------------------------------------------------------------------- */

static const struct {
	long number;
	int path; /* index of the argument that is one */
} path_calls[] = {
	{SYS_open, 0},
	{SYS_openat, 1},
	{SYS_newfstatat, 1},
	{SYS_readlink, 0},
	{SYS_readlinkat, 1},
	{SYS_rename, 0},
	{SYS_renameat, 1},
};

/* Copies a string of another process, truncated to fit. Reads page by page, as the page after its end may be unmapped. */
static void read_text(pid_t pid, uint64_t at, char *out, size_t bytes)
{
	size_t n = 0;

	memset(out, 0, bytes);
	while (n < bytes - 1 && strlen(out) == n) {
		size_t page = WIRE_PAGE - (at + n) % WIRE_PAGE, left = bytes - 1 - n;

		if (!read_memory(pid, at + n, out + n, page < left ? page : left))
			break;
		n += page < left ? page : left;
	}
}

/* The path argument of a call, "" if it has none. */
static void path_of(const struct phase_call *call, char out[PATH_BYTES])
{
	out[0] = '\0';
	for (size_t i = 0; i < sizeof(path_calls) / sizeof(path_calls[0]); i++)
		if ((long)call->number == path_calls[i].number)
			read_text(call->tid, call->args[path_calls[i].path], out, PATH_BYTES);
}

static bool creates(const struct phase_call *call)
{
	return ((long)call->number == SYS_openat && (call->args[2] & O_CREAT)) ||
	       ((long)call->number == SYS_open && (call->args[1] & O_CREAT));
}

static bool renames(const struct phase_call *call)
{
	return (long)call->number == SYS_rename || (long)call->number == SYS_renameat;
}

/* --- landmarks ------------------------------------------------------------------------------------------ */

static bool other_process(const struct phase_call *call, const char *path)
{
	return !strncmp(path, "/proc/", 6) && path[6] >= '0' && path[6] <= '9';
}

static bool agent_file(const struct phase_call *call, const char *path)
{
	return creates(call) && strstr(path, "libjhot-");
}

static bool attach_socket(const struct phase_call *call, const char *path)
{
	/* Connecting stats it relative to AT_FDCWD, inspecting the target relative to an open folder. */
	return strstr(path, ".java_pid") &&
	       ((long)call->number != SYS_newfstatat || (int)call->args[0] == AT_FDCWD);
}

static bool trigger(const struct phase_call *call, const char *path)
{
	return creates(call) && strstr(path, ".attach_pid");
}

/* Requests of the attach protocol begin with "1" and a NUL. Children that parse ELF files use sendto() as well. */
static bool request(const struct phase_call *call, const char *path)
{
	char version[2] = "";

	return (long)call->number == SYS_sendto &&
	       read_memory(call->tid, call->args[1], version, sizeof(version)) &&
	       version[0] == '1' && version[1] == '\0';
}

/* The mmap() of the memory that jhot shares with the agent. */
static bool memory(const struct phase_call *call, const char *path)
{
	static const char wanted[] = "/memfd:" WIRE_MEMFD_PREFIX;
	char file[64], link[sizeof(wanted)] = "";

	if ((long)call->number != SYS_mmap || !(call->args[3] & MAP_SHARED))
		return false;
	snprintf(file, sizeof(file), "/proc/%d/fd/%d", (int)call->tid, (int)call->args[4]);
	return readlink(file, link, sizeof(link) - 1) > 0 && !strcmp(link, wanted);
}

/* A temporary file is created. */
static bool part(const struct phase_call *call, const char *path)
{
	return creates(call) && strstr(path, ".part");
}

/* A temporary file gets its final name. */
static bool whole(const struct phase_call *call, const char *path)
{
	return renames(call) && strstr(path, ".part");
}

/* The live view waits for keys, record for the next publication. */
bool phase_waits(const struct phase_call *call)
{
	uint64_t published = run.base + 2 * WIRE_PAGE + offsetof(struct wire_status, publish_seq);
	bool polls = (long)call->number == SYS_poll || (long)call->number == SYS_ppoll;

	return (polls && call->args[1] == LOOP_FDS) ||
	       ((long)call->number == SYS_futex && call->args[0] == published &&
		       call->args[1] == FUTEX_WAIT);
}

static bool loop(const struct phase_call *call, const char *path)
{
	return run.begun && !run.detached && phase_waits(call);
}

/* The first one that matches the call and the current phase (`in`) applies. */
static const struct landmark {
	unsigned in;
	bool (*is)(const struct phase_call *call, const char *path);
	enum phase begins;
} landmarks[] = {
	{BIT(PHASE_BEGIN), other_process, PHASE_FIND},
	{BIT(PHASE_FIND), attach_socket, PHASE_CONNECT},
	{BIT(PHASE_CONNECT), trigger, PHASE_WAKE},
	{BIT(PHASE_CONNECT) | BIT(PHASE_WAKE), agent_file, PHASE_PUT},
	{BIT(PHASE_PUT), request, PHASE_LOAD},
	{ANY, memory, PHASE_ENABLE},
	{SESSION, part, PHASE_EXPORT},
	{BIT(PHASE_EXPORT), whole, PHASE_END},
	{SESSION, loop, PHASE_SAMPLE},
};

/* --- commands ------------------------------------------------------------------------------------------- */

/* The phase that a command begins: `first` before the main loop, `later` during it. PHASES: none. */
static const struct {
	uint32_t op;
	enum phase first, later;
} ops[] = {
	{WIRE_OP_EVENT_START, PHASE_ENABLE, PHASE_SWITCH},
	{WIRE_OP_EVENT_STOP, PHASE_ENABLE, PHASE_SWITCH},
	{WIRE_OP_DETACH, PHASE_DETACH, PHASE_DETACH},
	{WIRE_OP_UNWIND, PHASES, PHASES},
	{WIRE_OP_FLUSH, PHASES, PHASES},
	{WIRE_OP_THREADS, PHASES, PHASES},
	{WIRE_OP_BUDGET, PHASES, PHASES},
	{WIRE_OP_DEPTH, PHASES, PHASES},
	{WIRE_OP_LEND, PHASE_ENABLE, PHASE_SWITCH},
};

static enum phase phase_of_op(uint32_t op)
{
	bool later = run.now == PHASE_SAMPLE || run.now == PHASE_SWITCH;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (ops[i].op == op)
			return later ? ops[i].later : ops[i].first;
	return PHASE_NONE;
}

/* A command's phase begins with the next call, which wakes the agent. PHASE_SWITCH ends with the agent's reply. */
static void follow_command(pid_t command)
{
	struct wire_control control;
	uint32_t done;
	enum phase begins;

	if (!run.base || !read_memory(command, run.base + WIRE_PAGE, &control, sizeof(control)) ||
		!read_memory(command,
			run.base + 2 * WIRE_PAGE + offsetof(struct wire_status, done_seq), &done,
			sizeof(done)))
		return;
	if (control.command_seq != run.commands) {
		run.commands = control.command_seq;
		run.begun = run.begun || control.command.op == WIRE_OP_EVENT_START;
		run.detached = run.detached || control.command.op == WIRE_OP_DETACH;
		begins = phase_of_op(control.command.op);
		run.now = begins == PHASES ? run.now : begins;
	} else if (run.now == PHASE_SWITCH && done == run.commands) {
		run.now = PHASE_SAMPLE;
	}
}

bool phase_has_samples(pid_t command)
{
	struct wire_status status;
	uint64_t samples = 0;

	if (run.base && read_memory(command, run.base + 2 * WIRE_PAGE, &status, sizeof(status)))
		for (int i = 0; i < WIRE_EVENTS; i++)
			samples += status.events[i].samples;
	return samples > 0;
}

/* --- the current phase ---------------------------------------------------------------------------------- */

static void follow_unmap(pid_t command, const struct phase_call *call)
{
	if ((long)call->number == SYS_munmap && run.base && call->args[0] == run.base)
		run.base = 0;
}

enum phase phase_of(pid_t command, const struct phase_call *call)
{
	char path[PATH_BYTES];

	follow_command(command);
	path_of(call, path);
	for (size_t i = 0; i < sizeof(landmarks) / sizeof(landmarks[0]); i++) {
		if (!(landmarks[i].in & BIT(run.now)) || !landmarks[i].is(call, path))
			continue;
		run.now = landmarks[i].begins;
		if (landmarks[i].is == memory)
			run.mapper = call->tid;
		break;
	}
	follow_unmap(command, call);
	return run.now;
}

void phase_result(pid_t tid, int64_t result)
{
	if (tid != run.mapper)
		return;
	run.mapper = 0;
	run.base = result > 0 ? (uint64_t)result : 0;
	run.commands = 0;
}
