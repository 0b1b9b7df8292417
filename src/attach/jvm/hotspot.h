/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes are HotSpot JVMs, and whether and how each can be attached.
 *
 * Looks only (proc, hsperfdata); never signals or writes. No look waits for a process: see hotspot_look_begin.
 * Plain values.
 */
#ifndef JHOT_ATTACH_JVM_HOTSPOT_H
#define JHOT_ATTACH_JVM_HOTSPOT_H

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
	/* Of another process, cleaned (base/clean.h). */
	char user[40];
	char name[128];  /* jar or main class, short */
	char args[1024]; /* the command line, spaces between */
	char jdk[64];    /* "21.0.4", "" if unknown */
	char vm[128];
	uint64_t rss_bytes;
	int threads;
	int64_t uptime_s;
	uint64_t
		start_ticks; /* with pid: which process it is, however soon numbers are used again */
	uint64_t cpu_ticks;  /* user + system so far, for CPU % between two looks */
	char libjvm[512];    /* path inside its own root; as the kernel has it, so not cleaned */
	/* Its temporary folder inside its own root, where its attach socket is; "" if not known. Not cleaned. */
	char temp[256];
	bool full_signals; /* its counters tell that it runs without -Xrs */
};

/*
 * hotspot_check: look at one process. -1 only if there is no such process, or the number is that of one of its
 * threads (ERR_NO_TARGET).
 */
int hotspot_check(pid_t pid, struct hotspot *out, struct err *err);

struct hotspot_list {
	struct hotspot *jvms; /* Java processes, attachable or not, by pid */
	int count;
};
int hotspot_list(struct hotspot_list *out, struct err *err);
void hotspot_list_done(struct hotspot_list *list);

/*
 * The same bit by bit, for who has other things to do. The looks are taken by a child process; what does not answer it
 * for HOTSPOT_PATIENCE_MS, because its files or its memory hang, is a row that says so, and the others follow.
 * step: 1 = all were looked at, 0 = not within timeout_ms, -1 with an error.
 */
#define HOTSPOT_PATIENCE_MS 2000
struct hotspot_look;
struct hotspot_look *hotspot_look_begin(struct err *err);
int hotspot_look_step(struct hotspot_look *l, int timeout_ms, struct err *err);
void hotspot_look_copy(const struct hotspot_look *l, struct hotspot_list *out); /* so far */
void hotspot_look_end(struct hotspot_look *l);

/*
 * hotspot_find: PID or name -> one JVM, attachable or not. A name is that of the main class or jar, whole or its
 * last part (org.acme.Shop: Shop; shop-api.jar: shop-api). Several of that name or none: ERR_NO_TARGET with
 * what there is. A process that is no HotSpot JVM, also by its exact name: ERR_ATTACH
 * with the reason.
 */
int hotspot_find(const char *pid_or_name, struct hotspot *out, struct err *err);

/* hotspot_find_ready: the same, one that may be attached to, be it soon: a JVM that has just been started is waited for. */
int hotspot_find_ready(const char *pid_or_name, struct hotspot *out, struct err *err);

/* hotspot_refusal: the three-block error for a verdict that does not allow attaching. Returns -1. */
int hotspot_refusal(const struct hotspot *jvm, struct err *err);

extern const char *const hotspot_verdict_names[]; /* "ok", "ok ns", "ok ?", "sudo", "no" */

#endif
