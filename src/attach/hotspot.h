/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes are HotSpot JVMs, and whether and how each can be attached.
 *
 * Looks only (proc, hsperfdata); never signals or writes. Plain values.
 */
#ifndef JHOT_ATTACH_HOTSPOT_H
#define JHOT_ATTACH_HOTSPOT_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum hotspot_verdict {
	HOTSPOT_OK,        /* same mount and PID namespace */
	HOTSPOT_OK_NS,     /* attachable; the agent must be copied into its root */
	HOTSPOT_UNKNOWN,   /* probably: no hsperfdata to tell; note says so */
	HOTSPOT_NEEDS_UID, /* another user's: `sudo -u USER` or root */
	HOTSPOT_NO,        /* why says the reason */
};

struct hotspot {
	pid_t pid;   /* here */
	pid_t nspid; /* as it sees itself: last field of NSpid */
	uid_t euid;
	gid_t egid;
	bool is_java;    /* libjvm mapped */
	bool is_hotspot; /* and it is HotSpot's */
	bool other_mnt_ns, other_pid_ns;
	bool starting; /* refused only because it has just been started: look again soon */
	enum hotspot_verdict verdict;
	char why[240];  /* for UNKNOWN, NEEDS_UID, NO: a sentence */
	char hint[240]; /* what to do about it, "" if nothing */
	char user[40];
	char name[128];  /* jar or main class, short */
	char args[1024]; /* the command line, spaces between */
	char jdk[64];    /* "21.0.4", "" if unknown */
	char vm[128];
	uint64_t rss_bytes;
	int threads;
	int64_t uptime_s;
	uint64_t cpu_ticks; /* user + system so far, for CPU % between two looks */
	char libjvm[512];   /* path inside its own root */
};

/* hotspot_check: look at one process. -1 only if there is no such process (ERR_NO_TARGET). */
int hotspot_check(pid_t pid, struct hotspot *out, struct err *err);

struct hotspot_list {
	struct hotspot *jvms; /* Java processes, attachable or not, by pid */
	int count;
};
int hotspot_list(struct hotspot_list *out, struct err *err);
void hotspot_list_done(struct hotspot_list *list);

/*
 * hotspot_find: PID or (part of) a name -> one JVM, attachable or not. Several matches or none:
 * ERR_NO_TARGET with what there is. A process that is no HotSpot JVM, also by its exact name: ERR_ATTACH
 * with the reason.
 */
int hotspot_find(const char *pid_or_name, struct hotspot *out, struct err *err);

/* hotspot_refusal: the three-block error for a verdict that does not allow attaching. Returns -1. */
int hotspot_refusal(const struct hotspot *jvm, struct err *err);

extern const char *const hotspot_verdict_names[]; /* "ok", "ok ns", "ok ?", "sudo", "no" */

#endif
