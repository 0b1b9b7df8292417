/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seccomp filters for a command, or for a JVM that already runs.
 *
 *   usage: confine [kill=CALLS] [trap=CALLS] [errno=NUMBER:CALLS] COMMAND...
 *          java -agentpath:libconfine.so=FILE ...
 *
 * In the JVM, a thread waits until FILE exists, applies the filter that its first line describes, by one of these options, to
 * all threads, and removes FILE. CALLS are names of src/wire/calls.h, separated by commas. kill: such a call ends the process
 * (SIGSYS); trap: it raises SIGSYS; errno: it fails. Without options the command's filter is that of container runtimes: no
 * perf events, no tracing, no reading of other processes' memory (EPERM).
 */
#include "wire/calls.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALLS_MAX 256

static const struct {
	const char *name;
	uint32_t number;
} calls[] = {
#define CALL(name, ...) {#name, SYS_##name},
	WIRE_CALLS(CALL)
#undef CALL
		{"ptrace", SYS_ptrace},
	{"bpf", SYS_bpf},
	{"userfaultfd", SYS_userfaultfd},
};

static struct sock_filter filter[2 * CALLS_MAX + 2] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
};
static unsigned short used = 1;

static uint32_t number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].number;
	fprintf(stderr, "confine: no system call %s\n", name);
	exit(2);
}

/* Adds "return `action`" for each of these calls. */
static void forbid(char *names, uint32_t action)
{
	for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
		if (used + 3u > sizeof(filter) / sizeof(filter[0]))
			exit(2);
		filter[used++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, number_of(name), 0, 1);
		filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	}
}

/* Adds the rules of an option. Returns false if the text is none. */
static bool option(char *text)
{
	if (!strncmp(text, "kill=", 5)) {
		forbid(text + 5, SECCOMP_RET_KILL_PROCESS);
	} else if (!strncmp(text, "trap=", 5)) {
		forbid(text + 5, SECCOMP_RET_TRAP);
	} else if (!strncmp(text, "errno=", 6)) {
		char *names;
		unsigned long error = strtoul(text + 6, &names, 10);

		forbid(names + (*names == ':'), SECCOMP_RET_ERRNO | (uint32_t)error);
	} else {
		return false;
	}
	return true;
}

static struct sock_fprog finish(void)
{
	filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return (struct sock_fprog){.len = used, .filter = filter};
}

/* --- in a JVM -------------------------------------------------------------------------------------------- */

static void *wait_for_file(void *file)
{
	struct timespec pause = {0, 10000000};
	char text[4096] = "";
	struct sock_fprog program;
	FILE *in;

	while (!(in = fopen(file, "r")))
		nanosleep(&pause, NULL);
	if (fgets(text, sizeof(text), in))
		text[strcspn(text, "\n")] = '\0';
	fclose(in);
	option(text);
	program = finish();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		perror("confine");
	else
		unlink(file);
	pause.tv_sec = 100000;
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL))
		continue;
	return NULL;
}

int Agent_OnLoad(void *vm, char *file, void *reserved);
int Agent_OnLoad(void *vm, char *file, void *reserved)
{
	pthread_t thread;

	(void)vm;
	(void)reserved;
	return pthread_create(&thread, NULL, wait_for_file, strdup(file));
}

/* --- before a command ------------------------------------------------------------------------------------ */

int main(int argc, char **argv)
{
	char containers[] = "perf_event_open,ptrace,process_vm_readv,bpf,userfaultfd";
	struct sock_fprog program;
	int at = 1;

	while (at < argc && option(argv[at]))
		at++;
	if (at == 1)
		forbid(containers, SECCOMP_RET_ERRNO | EPERM);
	program = finish();
	if (at == argc || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("confine");
		return 1;
	}
	execvp(argv[at], argv + at);
	perror(argv[at]);
	return 127;
}
