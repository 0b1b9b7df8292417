/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records all JVMs of a name, each by a child process of its own, so that a JVM that hangs does not delay the others.
 *
 *   scan for JVMs -> a new one: fork -> child: recorder_one()
 *   SIGUSR1, SIGTERM, SIGINT, SIGHUP -> the children
 *   a child ended: its JVM has ended, or it is tried again after a pause that doubles with each failure
 */
#include "cli/recorder/recorder.h"

#include "attach/proc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "cli/report.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_MS        100
#define CHECK_NS       (1 * NS_PER_S)
#define SCAN_COST      20u             /* scans may take 1/20 of the time */
#define SCAN_MOST_NS   (60 * NS_PER_S) /* even if there is no new process */
#define SCAN_AGAIN_NS  (5 * NS_PER_S)  /* a new process may become a JVM this late */
#define RETRY_FIRST_NS (2 * NS_PER_S)
#define RETRY_MOST_NS  (300 * NS_PER_S)

#define STOPPED        64 /* exit status of a child whose session was ended by `jhot stop` */

/* A JVM of the name; identified by pid and start. */
struct instance {
	pid_t pid, child; /* child 0: not being recorded */
	uint64_t start_ticks;
	uint64_t pause_ns, retry_ns; /* after a failure: try again at retry_ns */
	bool stopped;                /* by `jhot stop`: not to be recorded any more */
	bool seen;                   /* by the current scan */
};

struct instances {
	struct recorder *r;
	const char *name;
	struct instance *list;
	uint32_t count, cap;
	bool waiting_said;

	struct proc_newcomers processes;
	uint64_t changed_ns; /* when there was a new process, or a JVM that was still starting */
	uint64_t scanned_ns, allowed_ns; /* the last scan; the next one may begin at allowed_ns */
};

static volatile sig_atomic_t instances_end, instances_save;

static void on_instances_signal(int signo)
{
	if (signo == SIGUSR1)
		instances_save = 1;
	else
		instances_end = signo;
}

static void instances_signals(void (*handler)(int))
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sampling_catch(signals[i], handler, SA_RESTART);
}

void recorder_wait_signal(void)
{
	instances_signals(on_instances_signal);
	while (!instances_end)
		poll(NULL, 0, STEP_MS);
}

static void instances_kill(const struct instances *all, int signo)
{
	for (uint32_t i = 0; i < all->count; i++)
		if (all->list[i].child)
			kill(all->list[i].child, signo);
}

static void instance_begin(
	const struct instances *all, struct instance *i, const struct hotspot *jvm)
{
	pid_t child = fork();

	if (!child) {
		/* Exit with status 0 after a signal, or after the end of the JVM. */
		struct recorder *r = all->r;
		struct err err = {0};

		prctl(PR_SET_PDEATHSIG, SIGTERM);
		instances_signals(SIG_DFL);
		setpgid(0, 0); /* Ctrl-C reaches the parent, which passes it on */
		r->sampling.jvm = *jvm;
		int rc = events_resolve(&r->sampling.events, jvm->pid, NULL, &err);
		if (!rc)
			rc = recorder_one(r, &err);
		if (r->stopped)
			exit(STOPPED);
		if (rc && !r->sampling.begin_ns)
			report_error(stderr, &err);
		exit(!rc || (err.kind == ERR_GONE && r->sampling.begin_ns) ? 0 : err.kind);
	}
	if (child > 0)
		i->child = child;
	else
		i->retry_ns = clock_mono_ns() + RETRY_FIRST_NS;
}

static struct instance *instance_find(struct instances *all, const struct hotspot *jvm)
{
	for (uint32_t i = 0; i < all->count; i++)
		if (all->list[i].pid == jvm->pid && all->list[i].start_ticks == jvm->start_ticks)
			return &all->list[i];
	all->list = xgrow(all->list, all->count, &all->cap, sizeof(*all->list));
	all->list[all->count] = (struct instance){.pid = jvm->pid, .start_ticks = jvm->start_ticks};
	return &all->list[all->count++];
}

static bool scan_is_due(struct instances *all, uint64_t now_ns)
{
	if (proc_has_newcomers(&all->processes))
		all->changed_ns = now_ns;
	if (now_ns < all->allowed_ns)
		return false;
	for (uint32_t i = 0; i < all->count; i++)
		if (!all->list[i].child && !all->list[i].stopped && now_ns >= all->list[i].retry_ns)
			return true;
	return all->scanned_ns < all->changed_ns + SCAN_AGAIN_NS ||
	       now_ns - all->scanned_ns >= SCAN_MOST_NS;
}

/* Begins to record the JVMs that are not being recorded, and forgets those that have ended. */
static int instances_scan(struct instances *all, struct err *err)
{
	uint64_t now_ns = clock_mono_ns();
	struct hotspot_list list;
	uint32_t kept = 0;
	int found = 0;

	if (hotspot_list(&list, err))
		return -1;
	for (uint32_t i = 0; i < all->count; i++)
		all->list[i].seen = all->list[i].child != 0;
	for (int k = 0; k < list.count; k++) {
		struct hotspot *jvm = &list.jvms[k];

		if (!hotspot_has_name(jvm, all->name))
			continue;
		found++;
		if (jvm->starting) {
			all->changed_ns = now_ns;
			continue;
		}
		struct instance *i = instance_find(all, jvm);
		i->seen = true;
		if (i->child || i->stopped || now_ns < i->retry_ns)
			continue;
		if (jvm->verdict <= HOTSPOT_UNKNOWN) {
			instance_begin(all, i, jvm);
			continue;
		}
		if (!i->pause_ns) {
			hotspot_refusal(jvm, err);
			report_error(stderr, err);
		}
		i->pause_ns = RETRY_MOST_NS;
		i->retry_ns = now_ns + RETRY_MOST_NS;
	}
	hotspot_list_done(&list);
	for (uint32_t i = 0; i < all->count; i++)
		if (all->list[i].seen)
			all->list[kept++] = all->list[i];
	all->count = kept;
	if (!found && !all->waiting_said)
		fprintf(stderr, "waiting for a JVM named \"%s\"\n", all->name);
	all->waiting_said = !found;
	return 0;
}

static void instances_wait_all(struct instances *all)
{
	for (uint32_t i = 0; i < all->count; i++)
		while (all->list[i].child && !waitpid(all->list[i].child, NULL, WNOHANG)) {
			/* a second signal: the children end without waiting for names */
			if (instances_end)
				instances_kill(all, instances_end);
			instances_end = 0;
			poll(NULL, 0, STEP_MS);
		}
}

int recorder_instances(struct recorder *r, const char *name, struct err *err)
{
	struct instances all = {.r = r, .name = name};
	uint64_t check_ns = 0;
	int rc = 0;

	instances_signals(on_instances_signal);
	while (!rc && !instances_end) {
		uint64_t now_ns = clock_mono_ns();
		if (now_ns >= check_ns) {
			check_ns = now_ns + CHECK_NS;
			if (scan_is_due(&all, now_ns)) {
				rc = instances_scan(&all, err);
				all.scanned_ns = clock_mono_ns();
				all.allowed_ns =
					all.scanned_ns + (all.scanned_ns - now_ns) * SCAN_COST;
			}
		}
		if (instances_save) {
			instances_save = 0;
			instances_kill(&all, SIGUSR1);
		}
		poll(NULL, 0, STEP_MS);
		recorder_report_pushes(r);
		for (uint32_t k = 0; k < all.count; k++) {
			struct instance *i = &all.list[k];
			int status;
			if (!i->child || waitpid(i->child, &status, WNOHANG) != i->child)
				continue;
			i->child = 0;
			i->stopped = WIFEXITED(status) && WEXITSTATUS(status) == STOPPED;
			i->pause_ns =
				WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : 2 * i->pause_ns;
			if (i->pause_ns < RETRY_FIRST_NS)
				i->pause_ns = RETRY_FIRST_NS;
			if (i->pause_ns > RETRY_MOST_NS)
				i->pause_ns = RETRY_MOST_NS;
			i->retry_ns = clock_mono_ns() + i->pause_ns;
		}
	}
	instances_kill(&all, instances_end ? instances_end : SIGTERM);
	instances_end = 0;
	instances_wait_all(&all);
	free(all.list);
	proc_newcomers_done(&all.processes);
	return rc;
}
