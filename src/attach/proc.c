/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers for small files of /proc. */
#include "attach/proc.h"

#include "base/clean.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_LIMIT (4u << 20) /* command line and environment may have 2 MB each */

int proc_read_path(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	buf_clear(out);
	if (fd < 0)
		return -errno;
	int rc = buf_read_all(out, fd, READ_LIMIT);
	close(fd);
	return rc;
}

int proc_read(pid_t pid, const char *file, struct buf *out)
{
	char path[PROC_PATH_BYTES];
	int rc = proc_read_path(proc_path(path, pid, file), out);
	pid_t living = rc || !out->len ? proc_living(pid) : 0;

	return living ? proc_read_path(proc_path(path, living, file), out) : rc;
}

int proc_read_host(const char *file, struct buf *out)
{
	char path[PROC_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", proc_root, file);
	return proc_read_path(path, out);
}

int proc_setting(const char *name, int otherwise)
{
	struct buf text = {0};
	char file[128], *end;
	long value = 0;

	snprintf(file, sizeof(file), "sys/%s", name);
	bool known = !proc_read_host(file, &text) && text.len &&
		     (value = strtol(text.data, &end, 10), end != text.data);
	buf_done(&text);
	return known ? (int)value : otherwise;
}

const char *proc_field(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, length) && (line[length] == ' ' || line[length] == '\t'))
			return line + length + strspn(line + length, "\t ");
	}
	return "";
}

bool proc_link(pid_t pid, const char *file, char *out, size_t bytes)
{
	char path[PROC_PATH_BYTES];
	ssize_t n = readlink(proc_path_living(path, pid, file), out, bytes - 1);

	if (n < 0)
		return false;
	out[n] = '\0';
	return true;
}

/* Calls fn for the numbered entries of a folder of /proc. */
static int each_number(const char *path, void (*fn)(void *ctx, pid_t id), void *ctx)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir)
		return -errno;
	while ((e = readdir(dir)) != NULL) {
		char *end;
		long id = strtol(e->d_name, &end, 10);

		if (end != e->d_name && id >= 0 && !*end)
			fn(ctx, (pid_t)id);
	}
	closedir(dir);
	return 0;
}

int proc_pids(void (*fn)(void *ctx, pid_t pid), void *ctx)
{
	return each_number(proc_root, fn, ctx);
}

static void newcomers_add(void *ctx, pid_t pid)
{
	struct proc_newcomers *p = ctx;

	p->list = xgrow(p->list, p->count, &p->cap, sizeof(*p->list));
	p->list[p->count++] = pid;
}

static int pid_compare(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool proc_has_newcomers(struct proc_newcomers *p)
{
	struct proc_newcomers now = {0};
	bool found = false;

	proc_pids(newcomers_add, &now);
	if (now.count)
		qsort(now.list, now.count, sizeof(*now.list), pid_compare);
	for (uint32_t i = 0; i < now.count && !found; i++)
		found = !p->count ||
			!bsearch(&now.list[i], p->list, p->count, sizeof(*p->list), pid_compare);
	free(p->list);
	*p = now;
	return found;
}

void proc_newcomers_done(struct proc_newcomers *p)
{
	free(p->list);
	*p = (struct proc_newcomers){0};
}

int proc_threads(pid_t pid, void (*fn)(void *ctx, pid_t tid), void *ctx)
{
	char path[PROC_PATH_BYTES];

	return each_number(proc_path(path, pid, "task"), fn, ctx);
}

pid_t proc_find_thread(pid_t pid, bool (*matches)(void *ctx, pid_t pid, pid_t tid), void *ctx)
{
	char path[PROC_PATH_BYTES];
	DIR *dir = opendir(proc_path(path, pid, "task"));
	struct dirent *e;
	pid_t found = 0;

	while (dir && !found && (e = readdir(dir)) != NULL) {
		pid_t tid = (pid_t)atoi(e->d_name);

		if (tid > 0 && matches(ctx, pid, tid))
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* A folder's link count is 2 plus its number of subfolders. */
int proc_thread_count(pid_t pid)
{
	char path[PROC_PATH_BYTES];
	struct stat st;

	return !stat(proc_path(path, pid, "task"), &st) && st.st_nlink > 2 ? (int)st.st_nlink - 2
									   : 0;
}

struct fd_readable {
	pid_t pid;
	bool readable;
};

static void check_fd(void *ctx, pid_t fd)
{
	struct fd_readable *search = ctx;
	char file[32], target[PROC_PATH_BYTES];

	snprintf(file, sizeof(file), "fd/%d", (int)fd);
	search->readable = search->readable || proc_link(search->pid, file, target, sizeof(target));
}

bool proc_fds_open_to_us(pid_t pid)
{
	char path[PROC_PATH_BYTES];
	struct fd_readable search = {pid, false};

	return !each_number(proc_path_living(path, pid, "fd"), check_fd, &search) &&
	       search.readable;
}

/* --- status ------------------------------------------------------------------------------------------ */

/* The second of four numbers: real, effective, saved, file system. */
static unsigned effective(const char *value)
{
	char *end;

	strtoul(value, &end, 10);
	return (unsigned)strtoul(end, NULL, 10);
}

static int read_status(pid_t pid, const char *file, struct proc_status *out)
{
	struct buf read = {0};
	int rc = proc_read(pid, file, &read);
	const char *text = rc ? "" : buf_str(&read), *name = proc_field(text, "Name:");

	*out = (struct proc_status){
		.euid = effective(proc_field(text, "Uid:")),
		.egid = effective(proc_field(text, "Gid:")),
		.tgid = atoi(proc_field(text, "Tgid:")),
		.tracer = atoi(proc_field(text, "TracerPid:")),
		.threads = atoi(proc_field(text, "Threads:")),
		.fd_size = strtoull(proc_field(text, "FDSize:"), NULL, 10),
		.vm_bytes = strtoull(proc_field(text, "VmSize:"), NULL, 10) * 1024,
		.data_bytes = strtoull(proc_field(text, "VmData:"), NULL, 10) * 1024,
		.lock_bytes = strtoull(proc_field(text, "VmLck:"), NULL, 10) * 1024,
		.rss_bytes = strtoull(proc_field(text, "VmRSS:"), NULL, 10) * 1024,
		.anon_bytes = strtoull(proc_field(text, "RssAnon:"), NULL, 10) * 1024,
		.swap_bytes = strtoull(proc_field(text, "VmSwap:"), NULL, 10) * 1024,
		.sig_caught = strtoull(proc_field(text, "SigCgt:"), NULL, 16),
		.sig_blocked = strtoull(proc_field(text, "SigBlk:"), NULL, 16),
		.sig_pending = strtoull(proc_field(text, "SigPnd:"), NULL, 16) |
			       strtoull(proc_field(text, "ShdPnd:"), NULL, 16),
		.caps = strtoull(proc_field(text, "CapEff:"), NULL, 16),
		.state = *proc_field(text, "State:"),
	};
	/* One pid per namespace, the innermost last. */
	const char *ids = proc_field(text, "NSpid:");
	char *end;
	for (long id = strtol(ids, &end, 10); end != ids; id = strtol(ids, &end, 10)) {
		out->nspid = (pid_t)id;
		out->ns_depth++;
		ids = end;
	}
	clean_text(out->name, sizeof(out->name), name, strcspn(name, "\n"));
	buf_done(&read);
	return out->state ? 0 : -1;
}

/* If the first thread has exited, memory, state and rights are those of a living thread, name and nspid the first's. */
int proc_status(pid_t pid, struct proc_status *out)
{
	int rc = read_status(pid, "status", out);
	pid_t living = !rc && out->state == 'Z' && out->threads > 1 ? proc_living(pid) : 0;
	struct proc_status first = *out;

	if (!living || read_status(living, "status", out))
		return rc;
	out->nspid = first.nspid;
	memcpy(out->name, first.name, sizeof(out->name));
	return 0;
}

int proc_thread_status(pid_t pid, pid_t tid, struct proc_status *out)
{
	char file[64];

	snprintf(file, sizeof(file), "task/%d/status", (int)tid);
	return read_status(pid, file, out);
}

void proc_thread_name(pid_t pid, pid_t tid, char out[32])
{
	struct buf text = {0};
	char file[64];

	snprintf(file, sizeof(file), "task/%d/comm", (int)tid);
	proc_read(pid, file, &text);
	clean_text(out, 32, buf_str(&text), strcspn(buf_str(&text), "\n"));
	buf_done(&text);
}

unsigned proc_maps_count(pid_t pid)
{
	char path[PROC_PATH_BYTES], part[16384];
	int fd = open(proc_path_living(path, pid, "maps"), O_RDONLY | O_CLOEXEC);
	unsigned lines = 0;
	ssize_t got;

	while (fd >= 0 && (got = read(fd, part, sizeof(part))) > 0)
		for (ssize_t i = 0; i < got; i++)
			lines += part[i] == '\n';
	if (fd >= 0)
		close(fd);
	return lines;
}

/* --- stat -------------------------------------------------------------------------------------------- */

/*
 * "PID (comm) S ppid ...": comm may contain any bytes, so the other fields begin after the last ')'. comm may be NULL. 0, or -1
 * with *out zeroed.
 */
static int read_stat(pid_t pid, const char *file, struct proc_cpu *out, char comm[32])
{
	unsigned long long faults, utime, stime, start;
	struct buf text = {0};
	char state;
	int rc = -1;

	memset(out, 0, sizeof(*out));
	proc_read(pid, file, &text);
	const char *open = strchr(buf_str(&text), '('), *close = strrchr(buf_str(&text), ')');
	if (open && close > open &&
		sscanf(close + 1,
			" %c %*d %*d %*d %*d %*d %*u %*u %*u %llu %*u %llu %llu %*d %*d %*d %*d "
			"%*d "
			"%*d %llu",
			&state, &faults, &utime, &stime, &start) == 5) {
		*out = (struct proc_cpu){.utime = utime,
			.stime = stime,
			.start_ticks = start,
			.major_faults = faults,
			.state = state};
		if (comm)
			clean_text(comm, 32, open + 1, (size_t)(close - open - 1));
		rc = 0;
	}
	buf_done(&text);
	return rc;
}

int proc_cpu(pid_t pid, struct proc_cpu *out)
{
	return read_stat(pid, "stat", out, NULL);
}

int proc_thread_cpu(pid_t pid, pid_t tid, struct proc_cpu *out, char comm[32])
{
	char file[64];

	snprintf(file, sizeof(file), "task/%d/stat", (int)tid);
	return read_stat(pid, file, out, comm);
}

bool proc_thread_queued_ns(pid_t pid, pid_t tid, uint64_t *ns)
{
	struct buf text = {0};
	char file[64];
	uint64_t ran;

	snprintf(file, sizeof(file), "task/%d/schedstat", (int)tid);
	bool known = !proc_read(pid, file, &text) &&
		     sscanf(buf_str(&text), "%" SCNu64 " %" SCNu64, &ran, ns) == 2 && ran > 0;
	buf_done(&text);
	return known;
}

int64_t proc_fds_count(pid_t pid)
{
	char path[PROC_PATH_BYTES];
	struct stat st;

	return !stat(proc_path_living(path, pid, "fd"), &st) && st.st_size > 0 ? (int64_t)st.st_size
									       : -1;
}

uint64_t proc_limit(const char *limits, const char *name)
{
	const char *text = proc_field(limits, name);
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	return end == text ? PROC_NO_LIMIT : value; /* "unlimited" */
}

int64_t proc_fds_limit(pid_t pid)
{
	struct buf text = {0};
	uint64_t limit = PROC_NO_LIMIT;

	if (!proc_read(pid, "limits", &text))
		limit = proc_limit(buf_str(&text), "Max open files");
	buf_done(&text);
	return limit <= INT64_MAX ? (int64_t)limit : -1;
}

int64_t proc_uptime_s(uint64_t start_ticks)
{
	struct buf text = {0};
	int64_t age = -1;

	if (!proc_read_host("uptime", &text) && text.len) {
		double now = strtod(text.data, NULL);

		age = (int64_t)(now - (double)start_ticks / (double)sysconf(_SC_CLK_TCK));
		if (age < 0)
			age = 0;
	}
	buf_done(&text);
	return age;
}

int64_t proc_swapped_in(void)
{
	struct buf text = {0};
	const char *value = "";
	int64_t pages = -1;

	if (!proc_read_host("vmstat", &text))
		value = proc_field(buf_str(&text), "pswpin");
	if (*value)
		pages = strtoll(value, NULL, 10);
	buf_done(&text);
	return pages;
}

/* Columns of a "cpu" line: 4th is idle, 5th iowait; 9th and 10th (guests) are included in others and ignored. */
static void machine_columns(char *at, uint64_t *busy, uint64_t *idle)
{
	enum { IDLE = 3, IOWAIT = 4, STEAL = 7 };

	*busy = *idle = 0;
	for (int i = 0; i <= STEAL; i++)
		*(i == IDLE || i == IOWAIT ? idle : busy) += strtoull(at, &at, 10);
}

int proc_machine(pid_t pid, struct proc_machine *out)
{
	struct buf text = {0};
	uint64_t busy, idle;
	cpu_set_t mine;

	*out = (struct proc_machine){
		.free_ticks = sched_getaffinity(pid, sizeof(mine), &mine) ? -1 : 0};
	int rc = proc_read_host("stat", &text);
	if (!rc && strncmp(buf_str(&text), "cpu ", 4) != 0)
		rc = -EINVAL;
	if (!rc)
		machine_columns(text.data + 4, &out->busy_ticks, &idle);
	for (char *at = rc ? NULL : strstr(text.data, "\ncpu"); at; at = strstr(at, "\ncpu")) {
		unsigned long cpu = strtoul(at + strlen("\ncpu"), &at, 10);

		out->cpus++;
		if (out->free_ticks < 0 || !CPU_ISSET(cpu, &mine))
			continue;
		machine_columns(at, &busy, &idle);
		out->free_ticks += (int64_t)idle;
	}
	buf_done(&text);
	return rc;
}

/* --- root and namespaces ----------------------------------------------------------------------------- */

bool proc_same_ns(pid_t pid, const char *kind)
{
	char file[32], ours[64], its[64];

	snprintf(file, sizeof(file), "ns/%s", kind);
	return !proc_link(pid, file, its, sizeof(its)) ||
	       !proc_link(getpid(), file, ours, sizeof(ours)) || !strcmp(ours, its);
}

bool proc_mounts_are_ours(pid_t pid)
{
	char path[PROC_PATH_BYTES];
	struct stat ours, its, owners;
	int mounts = open(proc_path_living(path, pid, "ns/mnt"), O_RDONLY | O_CLOEXEC);
	int owner = mounts >= 0 ? ioctl(mounts, NS_GET_USERNS) : -1;
	bool same = owner >= 0 && !fstat(owner, &owners) &&
		    !stat(proc_path(path, getpid(), "ns/user"), &ours) &&
		    !stat(proc_path_living(path, pid, "ns/user"), &its) &&
		    ours.st_ino == its.st_ino && ours.st_ino == owners.st_ino &&
		    ours.st_dev == its.st_dev && ours.st_dev == owners.st_dev;

	if (owner >= 0)
		close(owner);
	if (mounts >= 0)
		close(mounts);
	return same;
}

/* A line of uid_map: first id inside, first id outside (as seen by the reader), length of the range. */
uid_t proc_ns_root(pid_t pid)
{
	struct buf text = {0};
	unsigned inside, outside, count;
	uid_t root = 0;

	if (!proc_read(pid, "uid_map", &text))
		for (const char *line = buf_str(&text); line; line = strchr(line, '\n')) {
			line += *line == '\n';
			if (sscanf(line, "%u %u %u", &inside, &outside, &count) == 3 && inside == 0)
				root = outside;
		}
	buf_done(&text);
	return root;
}

bool proc_same_root(pid_t pid)
{
	char path[PROC_PATH_BYTES];
	struct stat ours, its;

	return stat("/", &ours) || stat(proc_path_living(path, pid, "root"), &its) ||
	       (ours.st_dev == its.st_dev && ours.st_ino == its.st_ino);
}
