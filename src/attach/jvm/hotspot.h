/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds HotSpot JVMs, and decides whether and how each can be attached.
 *
 * Read-only (/proc, hsperfdata): never signals a process or writes a file. Processes are inspected by a child process, so that
 * one whose files or memory hang delays the caller by a bounded time only (see hotspot_scan_begin). Plain values.
 * Single-threaded.
 */
#ifndef JHOT_ATTACH_JVM_HOTSPOT_H
#define JHOT_ATTACH_JVM_HOTSPOT_H

#include "attach/jvm/heap.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum hotspot_verdict {
	HOTSPOT_OK,        /* same mount and PID namespace */
	HOTSPOT_OK_NS,     /* attachable; the agent must be copied into its root */
	HOTSPOT_UNKNOWN,   /* probably attachable, not verifiable without hsperfdata; see why */
	HOTSPOT_NEEDS_UID, /* requires another user or group (`sudo -u USER`), or root */
	HOTSPOT_NO,        /* not attachable; see why */
};

struct hotspot {
	pid_t pid;   /* in our namespace */
	pid_t nspid; /* in its own namespace: last field of NSpid */
	uid_t euid;
	gid_t egid;
	/* libjvm is mapped, or its maps are closed to us and the program is called java. */
	bool is_java;
	bool is_hotspot; /* that libjvm is HotSpot's */
	bool other_mnt_ns, other_pid_ns;
	bool starting; /* refused only because it is still starting: check again soon */
	enum hotspot_verdict verdict;
	char why[240];  /* the reason for UNKNOWN, NEEDS_UID, NO: a sentence */
	char hint[240]; /* lines, each a remedy; "": none */
	/* Text of another process, cleaned (base/clean.h). */
	char user[40];
	char name[128];  /* short name of jar or main class */
	char args[1024]; /* the command line, arguments separated by blanks */
	char jdk[64];    /* "21.0.4", "" if unknown */
	char vm[128];
	uint64_t rss_bytes;
	int threads;
	int64_t uptime_s;
	uint64_t start_ticks; /* since boot; with pid, identifies it even if pids are reused */
	uint64_t cpu_ticks;   /* user + system since its start */
	char libjvm[512];     /* path inside its own root, not cleaned */
	/* Its temporary folder, where its attach socket is: path inside its own root, not cleaned; "": unknown. */
	char temp[256];
	bool full_signals; /* its counters prove that it runs without -Xrs */
	struct heap heap;
	/* An option makes it exit, run a command or write a heap dump when an allocation fails. */
	bool exits_on_full_heap;
};

/*
 * Inspects one process; blocks for up to about HOTSPOT_PATIENCE_MS if it hangs (ten times that on a busy machine). -1 with
 * ERR_NO_TARGET if there is no such process or pid is a thread id; a process that cannot be attached is not an error.
 */
int hotspot_check(pid_t pid, struct hotspot *out, struct err *err);

struct hotspot_list {
	struct hotspot *jvms; /* Java processes, attachable or not, sorted by pid; owned */
	int count;
};
/* Inspects all processes; blocks until it is complete. 0, or -1 with an error. */
int hotspot_list(struct hotspot_list *out, struct err *err);
void hotspot_list_done(struct hotspot_list *list);

/*
 * The same incrementally. If the child process that inspects gets no answer for HOTSPOT_PATIENCE_MS, because the target's files
 * or memory hang, the process becomes a row that says so, and inspection continues with the next. hotspot_scan_step: 1:
 * complete, 0: timeout_ms has passed, -1 with an error.
 */
#define HOTSPOT_PATIENCE_MS 2000
struct hotspot_scan;
struct hotspot_scan *hotspot_scan_begin(struct err *err);
int hotspot_scan_step(struct hotspot_scan *s, int timeout_ms, struct err *err);
/* Copies the rows found until now, sorted by pid; the caller calls hotspot_list_done. */
void hotspot_scan_copy(const struct hotspot_scan *s, struct hotspot_list *out);
void hotspot_scan_end(struct hotspot_scan *s);

/* True for an operand of digits only, which is a pid; any other is a name. */
bool hotspot_is_pid(const char *pid_or_name);
/*
 * Finds one JVM, attachable or not, by its pid or name. A name matches the main class or jar, whole or its last part
 * (org.acme.Shop: Shop; shop-api.jar: shop-api), ignoring case. ERR_NO_TARGET with candidates as hints if none or several
 * match; ERR_ATTACH with the reason if the pid or exact name is that of a process that is not a HotSpot JVM.
 */
int hotspot_find(const char *pid_or_name, struct hotspot *out, struct err *err);

/* The same for a JVM that can be attached to: waits up to about 10 s for one that is starting, and refuses any other. */
int hotspot_find_ready(const char *pid_or_name, struct hotspot *out, struct err *err);

/* True if hotspot_find() would find this JVM by this name. */
bool hotspot_has_name(const struct hotspot *jvm, const char *name);

/* Fills in the error for a verdict that does not allow attaching. Returns -1. */
int hotspot_refusal(const struct hotspot *jvm, struct err *err);

extern const char *const hotspot_verdict_names[]; /* "ok", "ok ns", "ok ?", "sudo", "no" */

#endif
