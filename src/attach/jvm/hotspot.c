/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inspects one process: collects facts (struct probe), then derives the verdict by a table of rules. The first rule that applies
 * writes the sentence and ends the search, so the rules are ordered from the most to the least specific reason.
 */
#include "attach/jvm/hotspot.h"

#include "attach/cgroup.h"
#include "attach/jvm/check.h"
#include "attach/jvm/cmdline.h"
#include "attach/jvm/hsperf.h"
#include "attach/jvm/libjvm.h"
#include "attach/jvm/listener.h"
#include "attach/proc.h"
#include "base/clean.h"
#include "base/env.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A JVM younger than this that does not catch SIGQUIT yet may still be starting. */
#define BOOT_SECONDS 10
#define PERF_TEXT    1024 /* HotSpot's limit of a string counter */

const char *const hotspot_verdict_names[] = {
	[HOTSPOT_OK] = "ok",
	[HOTSPOT_OK_NS] = "ok ns",
	[HOTSPOT_UNKNOWN] = "ok ?",
	[HOTSPOT_NEEDS_UID] = "sudo",
	[HOTSPOT_NO] = "no",
};

/* Prefixes of java.vm.name of virtual machines that resemble HotSpot but are not. */
static const char *const other_vms[] = {"Zing", "Eclipse OpenJ9", "IBM J9", "Substrate VM"};

struct probe {
	struct proc_status status;
	struct buf cmdline, env;
	int maps_error; /* -errno; 0: maps were read */
	struct libjvm lib;
	int hotspot; /* result of libjvm_is_hotspot */
	struct hsperf *perf;
	struct err perf_err; /* why perf is NULL */
	bool reduced;        /* its counters list -Xrs among its arguments */
	char capability;     /* attaching: '1' enabled, '0' disabled, '?' unknown */
	bool socket;         /* a socket of its user exists at the attach socket's path */
	bool blocked;        /* another user's file exists there */
	uid_t blocker;       /* owner of that file */
	bool same_ids, root;
	int64_t age_s;
};

/* --- facts ------------------------------------------------------------------------------------------- */

static void store_status(const struct proc_status *status, struct hotspot *out)
{
	out->nspid = status->nspid ? status->nspid : out->pid;
	out->euid = status->euid;
	out->egid = status->egid;
	out->threads = status->threads;
	out->rss_bytes = status->rss_bytes;
	env_user(out->euid, out->user, sizeof(out->user));
}

int hotspot_status(struct hotspot *out)
{
	struct proc_status status;

	if (proc_status(out->pid, &status))
		return -1;
	store_status(&status, out);
	snprintf(out->name, sizeof(out->name), "%s", status.name);
	return 0;
}

/*
 * True when -XX:AltTempDir, or an option invisible from outside, may have relocated the temporary folder: options also come
 * from files, and a program that embeds the JVM passes them in memory.
 */
static bool may_relocate_temp(const struct probe *p)
{
	static const char *const words[] = {"AltTempDir", "-XX:Flags=", "-XX:VMOptionsFile="};
	const struct buf *texts[] = {&p->cmdline, &p->env};
	bool found = !cmdline_is_java(&p->cmdline) || cmdline_has_file(&p->cmdline) ||
		     environ_has_file(&p->env);

	for (size_t t = 0; t < 2; t++)
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			found |= texts[t]->len && memmem(texts[t]->data, texts[t]->len, words[i],
							  strlen(words[i])) != NULL;
	return found;
}

/* Checks the attach socket's path: a file of another user there prevents the JVM from opening its socket. */
static void probe_socket(struct probe *p, const struct hotspot *out)
{
	int tmp =
		out->temp[0] ? proc_open_in(out->pid, "root", out->temp, O_PATH | O_DIRECTORY) : -1;
	char name[32];
	struct stat st;

	if (tmp < 0)
		return;
	snprintf(name, sizeof(name), ".java_pid%d", (int)out->nspid);
	if (!fstatat(tmp, name, &st, AT_SYMLINK_NOFOLLOW)) {
		p->socket = S_ISSOCK(st.st_mode) && st.st_uid == out->euid;
		p->blocked = st.st_uid != out->euid && out->euid != 0;
		p->blocker = st.st_uid;
	}
	close(tmp);
}

/* Facts from its counters. HotSpot truncates the texts of its options, so a long one does not prove that -Xrs is absent. */
static void probe_counters(struct probe *p, struct hotspot *out)
{
	static const char *const options[] = {"java.rt.vmArgs", "java.rt.vmFlags"};
	char text[PERF_TEXT];

	p->capability = '?';
	out->exits_on_full_heap = heap_has_option(p->cmdline.data, p->cmdline.len);
	out->heap = (struct heap){-1, -1};
	p->perf = hsperf_open(out->pid, out->nspid, &p->lib, &p->perf_err);
	if (!p->perf)
		return;
	if (hsperf_string(
		    p->perf, hsperf_find(p->perf, "sun.rt.jvmCapabilities"), text, sizeof(text)) &&
		text[0])
		p->capability = text[0];
	out->full_signals = true;
	for (size_t i = 0; i < 2; i++) {
		bool known = hsperf_string(
			p->perf, hsperf_find(p->perf, options[i]), text, sizeof(text));

		p->reduced |= strstr(text, "-Xrs") || strstr(text, "+ReduceSignalUsage");
		out->exits_on_full_heap |= heap_has_option(text, strlen(text));
		out->full_signals &= known && !p->reduced && strlen(text) < PERF_TEXT - 10;
	}
	out->heap = heap_read(p->perf);
	hsperf_string(p->perf, hsperf_find(p->perf, "java.property.java.vm.name"), out->vm,
		sizeof(out->vm));
	hsperf_string(p->perf, hsperf_find(p->perf, "java.property.java.version"), out->jdk,
		sizeof(out->jdk));
	hsperf_string(p->perf, hsperf_find(p->perf, "sun.rt.javaCommand"), text, sizeof(text));
	cmdline_name(&p->cmdline, text, out->name, sizeof(out->name));
}

/*
 * The name of a JVM without counters, or of another program. Without a java launcher, no word of the command line is known to
 * be a class, and an argument may be a secret, so the executable's name is used.
 */
static void probe_name(struct probe *p, struct hotspot *out)
{
	char exe[512];

	if (!out->name[0])
		cmdline_name(&p->cmdline, "", out->name, sizeof(out->name));
	if (!out->name[0] && out->is_java && proc_link(out->pid, "exe", exe, sizeof(exe)))
		clean_text(out->name, sizeof(out->name), path_name(exe),
			strcspn(path_name(exe), " ")); /* before " (deleted)" */
	if (!out->name[0])
		snprintf(out->name, sizeof(out->name), "%s", p->status.name);
}

/* --- the verdict ------------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static bool decide(
	struct hotspot *out, enum hotspot_verdict verdict, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out->why, sizeof(out->why), fmt, ap);
	va_end(ap);
	out->verdict = verdict;
	return true;
}

__attribute__((format(printf, 2, 3))) static void hint(struct hotspot *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out->hint, sizeof(out->hint), fmt, ap);
	va_end(ap);
}

static bool has_option(const struct probe *p, const char *option)
{
	return cmdline_has(&p->cmdline, option) || environ_has(&p->env, option);
}

static bool is_young(const struct probe *p)
{
	return p->age_s >= 0 && p->age_s <= BOOT_SECONDS;
}

static bool decide_starting(struct hotspot *out)
{
	out->starting = true;
	hint(out, "try again in a second");
	return decide(out, HOTSPOT_NO,
		"The JVM is still starting and does not accept attach requests yet.");
}

static bool rule_ended(const struct probe *p, struct hotspot *out)
{
	return strchr("ZXx", p->status.state) &&
	       decide(out, HOTSPOT_NO, "The process has ended already.");
}

static bool rule_not_java(const struct probe *p, struct hotspot *out)
{
	if (out->is_java)
		return false;
	if (cmdline_is_java(&p->cmdline) && is_young(p))
		return decide_starting(out);
	if (exe_is_native_image(out->pid)) {
		decide(out, HOTSPOT_NO,
			"It is a native-image program: Java compiled ahead of time, without a "
			"JVM.");
		hint(out, "perf record -g -p %d", (int)out->pid);
	} else if (p->maps_error) {
		decide(out, HOTSPOT_NO,
			"It does not look like a Java process, and you may not read its memory map "
			"(%s).",
			strerror(-p->maps_error));
	} else {
		decide(out, HOTSPOT_NO, "It is not a Java process: it has no libjvm.so.");
		hint(out, "jhot list");
	}
	return true;
}

static bool rule_other_user(const struct probe *p, struct hotspot *out)
{
	char me[40];

	if (p->root || p->same_ids)
		return false;
	env_user(geteuid(), me, sizeof(me));
	if (out->euid != geteuid()) {
		decide(out, HOTSPOT_NEEDS_UID,
			"The JVM runs as user %s (uid %u); you are %s (uid %u). HotSpot lets only "
			"the same user, or root, attach.",
			out->user, (unsigned)out->euid, me, (unsigned)geteuid());
		hint(out, "sudo -u %s jhot %d\nsudo jhot %d", out->user, (int)out->pid,
			(int)out->pid);
	} else {
		decide(out, HOTSPOT_NEEDS_UID,
			"The JVM runs with group %u, you with group %u. HotSpot lets only the same "
			"user and group attach, or root.",
			(unsigned)out->egid, (unsigned)getegid());
		hint(out, "sudo jhot %d", (int)out->pid);
	}
	return true;
}

static bool rule_closed(const struct probe *p, struct hotspot *out)
{
	if (!p->maps_error)
		return false;
	decide(out, HOTSPOT_NO,
		"No permission to read its memory map (%s): the process has capabilities or is not "
		"dumpable, or you lack CAP_SYS_PTRACE.",
		strerror(-p->maps_error));
	if (!p->root)
		hint(out, "sudo jhot %d", (int)out->pid);
	else if (p->same_ids)
		hint(out,
			"give it the JVM's capabilities, or CAP_SYS_PTRACE (docker run --cap-add)");
	else
		hint(out,
			"run it as user %u:%u (docker run --user)\n"
			"give it CAP_SYS_PTRACE (docker run --cap-add)",
			(unsigned)out->euid, (unsigned)out->egid);
	return true;
}

static bool rule_other_vm(const struct probe *p, struct hotspot *out)
{
	for (size_t i = 0; i < sizeof(other_vms) / sizeof(other_vms[0]); i++)
		if (!strncmp(out->vm, other_vms[i], strlen(other_vms[i]))) {
			out->is_hotspot = false;
			return decide(out, HOTSPOT_NO, "Its virtual machine is %s, not HotSpot.",
				out->vm);
		}
	if (p->hotspot != 0)
		return false;
	return decide(out, HOTSPOT_NO,
		"Its libjvm.so is not HotSpot's (OpenJ9 or another virtual machine).");
}

static bool rule_stopped(const struct probe *p, struct hotspot *out)
{
	if (p->status.state == 't') {
		decide(out, HOTSPOT_NO, "The JVM is stopped by a debugger or tracer.");
	} else if (p->status.state == 'T') {
		decide(out, HOTSPOT_NO, "The JVM is stopped (SIGSTOP or ^Z), so it cannot answer.");
		hint(out, "kill -CONT %d", (int)out->pid);
	} else if (cgroup_frozen(out->pid)) {
		decide(out, HOTSPOT_NO,
			"The JVM is frozen with its cgroup (docker pause, systemctl freeze), so it "
			"cannot answer.");
		hint(out, "resume it (docker unpause, systemctl thaw), then try again");
	} else {
		return false;
	}
	return true;
}

static bool rule_disabled(const struct probe *p, struct hotspot *out)
{
	bool by_flag = p->capability == '?' && has_option(p, "-XX:+DisableAttachMechanism") &&
		       !has_option(p, "-XX:-DisableAttachMechanism");

	if (p->capability != '0' && !by_flag)
		return false;
	decide(out, HOTSPOT_NO,
		"The JVM was started with attaching disabled (-XX:+DisableAttachMechanism).");
	hint(out, "restart it without -XX:+DisableAttachMechanism");
	return true;
}

/* A JVM whose listener already runs needs no SIGQUIT. */
static bool rule_no_handler(const struct probe *p, struct hotspot *out)
{
	bool reduced =
		has_option(p, "-Xrs") || has_option(p, "-XX:+ReduceSignalUsage") || p->reduced;

	if (p->perf_err.kind != ERR_BUSY && listener_wakes(out->pid, out->full_signals))
		return false;
	if (p->socket && listener_runs(out->pid))
		return false;
	if (!reduced && is_young(p))
		return decide_starting(out);
	decide(out, HOTSPOT_NO,
		"The attach listener is not running, and the JVM does not handle SIGQUIT (%s), "
		"which would start it.",
		reduced ? "it runs with -Xrs"
			: "-Xrs, or the embedding program handles the signal");
	hint(out, "restart it with -XX:+StartAttachListener, or without -Xrs");
	return true;
}

static bool rule_no_temp(const struct probe *p, struct hotspot *out)
{
	(void)p;
	if (out->temp[0])
		return false;
	decide(out, HOTSPOT_NO,
		"The JVM's temporary folder, where it expects attach requests, is unknown: the JVM "
		"publishes no counters (hsperfdata), and -XX:AltTempDir may have changed the "
		"folder.");
	hint(out, "restart it with -XX:+UsePerfData");
	return true;
}

/* Containers that share /tmp may each have a JVM of this pid, so the file may be the socket of a living JVM. */
static bool rule_blocked(const struct probe *p, struct hotspot *out)
{
	if (!p->blocked)
		return false;
	decide(out, HOTSPOT_NO,
		"A file of uid %u, %s/.java_pid%d, occupies the path of the JVM's attach socket, "
		"and the JVM may not remove it.",
		(unsigned)p->blocker, out->temp, (int)out->nspid);
	if (out->other_pid_ns)
		hint(out, "give each container its own /tmp: the file may belong to a JVM with the "
			  "same pid in another container");
	else
		hint(out, "sudo rm /proc/%d/root%s/.java_pid%d", (int)out->pid, out->temp,
			(int)out->nspid);
	return true;
}

static bool rule_fds_closed(const struct probe *p, struct hotspot *out)
{
	(void)p;
	if (proc_fds_open_to_us(out->pid))
		return false;
	decide(out, HOTSPOT_NO,
		"You may not read its descriptors (/proc/%d/fd), and jhot receives samples through "
		"one of them.",
		(int)out->pid);
	return true;
}

static bool rule_unknown(const struct probe *p, struct hotspot *out)
{
	if (out->is_hotspot && (p->socket || p->capability == '1'))
		return false;
	return decide(out, HOTSPOT_UNKNOWN,
		"%s, so only an attempt shows whether it accepts attach requests.",
		!out->is_hotspot ? "Its libjvm.so cannot be read"
				 : "It publishes no counters (hsperfdata)");
}

static bool rule_ok(const struct probe *p, struct hotspot *out)
{
	(void)p;
	out->verdict = out->other_mnt_ns || out->other_pid_ns ? HOTSPOT_OK_NS : HOTSPOT_OK;
	return true;
}

static bool (*const rules[])(const struct probe *p, struct hotspot *out) = {
	rule_ended,
	rule_not_java,
	rule_other_user,
	rule_closed,
	rule_other_vm,
	rule_stopped,
	rule_disabled,
	rule_no_handler,
	rule_no_temp,
	rule_blocked,
	rule_fds_closed,
	rule_unknown,
	rule_ok,
};

/* --- interface --------------------------------------------------------------------------------------- */

/* Collects all facts about a process, then applies the rules. */
static void probe_and_decide(struct probe *p, struct hotspot *out)
{
	struct proc_cpu cpu;

	store_status(&p->status, out);
	proc_read(out->pid, "environ", &p->env);
	cmdline_join(&p->cmdline, out->args, sizeof(out->args));
	p->same_ids = out->euid == geteuid() && out->egid == getegid();
	p->root = geteuid() == 0;
	out->other_mnt_ns = !proc_same_ns(out->pid, "mnt") || !proc_same_root(out->pid);
	out->other_pid_ns = !proc_same_ns(out->pid, "pid");
	out->uptime_s = -1;
	if (!proc_cpu(out->pid, &cpu)) {
		out->cpu_ticks = cpu.utime + cpu.stime;
		out->start_ticks = cpu.start_ticks;
		out->uptime_s = p->age_s = proc_uptime_s(cpu.start_ticks);
	}
	if (out->is_java)
		probe_counters(p, out);
	probe_name(p, out);
	p->hotspot = p->lib.mapped ? libjvm_is_hotspot(out->pid, &p->lib) : -1;
	out->is_hotspot =
		p->hotspot == 1 || (p->hotspot < 0 && strstr(out->vm, "64-Bit Server VM"));
	snprintf(out->libjvm, sizeof(out->libjvm), "%s", p->lib.path);
	if (!out->jdk[0] && p->lib.mapped)
		libjvm_version(out->pid, &p->lib, out->jdk, sizeof(out->jdk));
	/* The path of the mapped counters is proof. Without them it is /tmp, unless an option may have changed that. */
	if (p->lib.mapped && !libjvm_temp(&p->lib, out->nspid, out->temp, sizeof(out->temp)) &&
		(!libjvm_has_alt_temp(out->pid, &p->lib) || !may_relocate_temp(p)))
		snprintf(out->temp, sizeof(out->temp), "/tmp");
	probe_socket(p, out);
	for (size_t i = 0; !rules[i](p, out); i++)
		;
}

/* only_java: reads maps first, and nothing more if the process is not Java. */
int hotspot_examine(pid_t pid, struct hotspot *out, bool only_java)
{
	struct probe p = {.age_s = -1};

	memset(out, 0, sizeof(*out));
	out->pid = pid;
	out->verdict = HOTSPOT_NO;
	p.maps_error = libjvm_find(pid, &p.lib);
	proc_read(pid, "cmdline", &p.cmdline);
	/* A process whose maps cannot be read counts as Java if its program is called java. */
	out->is_java = p.lib.mapped || (p.maps_error && cmdline_is_java(&p.cmdline));
	bool wanted = (out->is_java || !only_java) && !proc_status(pid, &p.status);
	if (wanted)
		probe_and_decide(&p, out);
	buf_done(&p.cmdline);
	buf_done(&p.env);
	hsperf_close(p.perf);
	return wanted ? 0 : -1;
}

/* /proc/TID exists although /proc does not list it, and `top -H` shows thread ids. */
bool hotspot_is_thread(pid_t pid, struct err *err)
{
	struct proc_status status;

	if (proc_status(pid, &status) || !status.tgid || status.tgid == pid)
		return false;
	err_set(err, ERR_NO_TARGET, "%d is a thread of process %d (%s).", (int)pid,
		(int)status.tgid, status.name);
	err_hint(err, "jhot %d", (int)status.tgid);
	return true;
}
