/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a few small files per level, from the process's own cgroup up to the mount point. */
#include "attach/cgroup.h"

#include "attach/proc.h"
#include "base/buf.h"
#include "base/maps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PERIOD_MAX_US 1000000 /* the kernel's limit of a period */
#define LEVELS        32
#define UNKNOWN       INT64_MIN
#define NO_LIMIT      (INT64_MAX / 4) /* version 1 reports "no limit" as a huge number */

/* --- the mount point --------------------------------------------------------------------------------- */

/* True when the list has this whole word: "cpu" is in "rw,cpu,cpuacct", but not in "rw,cpuset". */
static bool has_word(const char *list, const char *word, const char *separators)
{
	size_t length = strlen(word);

	while (*list) {
		size_t bytes = strcspn(list, separators);

		if (bytes == length && !strncmp(list, word, bytes))
			return true;
		list += bytes + (list[bytes] != '\0');
	}
	return false;
}

/* A line of mountinfo: "36 35 98:0 /root /mount/point options [field]... - type source superoptions". */
static void parse_mount(const char *line, struct cgroup_mount *out)
{
	struct cgroup_mount m = {.controller = out->controller};
	const char *end = strstr(line, " - ");
	char type[16], options[256];

	if (!end || sscanf(line, "%*s %*s %*s %255s %255s", m.top, m.at) != 2 ||
		sscanf(end, " - %15s %*s %255s", type, options) != 2 || strchr(m.at, '\\'))
		return;
	bool v1 = !strcmp(type, "cgroup") && has_word(options, m.controller, ",");
	if (!v1 && strcmp(type, "cgroup2") != 0)
		return;
	/* If both versions are mounted, the controller is in the hierarchy of version 1. */
	if (*out->at && (out->v1 || !v1))
		return;
	m.v1 = v1;
	*out = m;
}

void cgroup_mount_find(struct cgroup_mount *out, const char *controller)
{
	struct buf text = {0};
	char *line;

	*out = (struct cgroup_mount){.controller = controller};
	char *at = proc_read_host("self/mountinfo", &text) ? NULL : text.data;
	while ((line = strsep(&at, "\n")))
		parse_mount(line, out);
	buf_done(&text);
}

/* --- the process's cgroup ---------------------------------------------------------------------------- */

/* The folder of its cgroup below our mount; false if the mount does not show it. */
static bool group_of(const struct cgroup_mount *mount, pid_t pid, char out[CGROUP_PATH])
{
	size_t top = strcmp(mount->top, "/") ? strlen(mount->top) : 0;
	char path[CGROUP_PATH - sizeof(mount->at)] = "";
	struct buf text = {0};

	/* Lines are "4:cpu,cpuacct:/path", in version 2 "0::/path". */
	char *at = *mount->at && !proc_read(pid, "cgroup", &text) && text.len ? text.data : NULL;
	for (char *line; (line = strsep(&at, "\n"));) {
		char *names = strchr(line, ':'), *of = names ? strchr(names + 1, ':') : NULL;

		if (!of)
			continue;
		*of++ = '\0';
		if (mount->v1 ? has_word(names + 1, mount->controller, ",") : !names[1])
			snprintf(path, sizeof(path), "%s", of);
	}
	buf_done(&text);
	/* "/../other" is outside of the subtree that we see; a truncated path would name another cgroup. */
	if (*path != '/' || has_word(path, "..", "/") || strlen(path) + 1 == sizeof(path))
		return false;
	if (strncmp(path, mount->top, top) != 0 || (top && path[top] && path[top] != '/'))
		return false;
	snprintf(out, CGROUP_PATH, "%s%s", mount->at, strcmp(path, "/") ? path + top : "");
	return true;
}

/* --- its levels -------------------------------------------------------------------------------------- */

/* The number after `key` in its line ("nr_periods 12"), or that of the whole file if key is "". UNKNOWN: none. */
static int64_t number(const char *text, const char *key)
{
	const char *at = *key ? proc_field(text, key) : text;
	char *end;
	int64_t value = strtoll(at, &end, 10);

	return end == at ? UNKNOWN : value;
}

/* One level of the hierarchy: a folder in our mounts, or in the process's own root. */
struct level {
	const char *folder;
	pid_t inside;    /* the process whose root `folder` is in; 0: ours */
	struct buf text; /* content of the last file read */
};

/* Reads a small file of the level; false if it is missing or empty. */
static bool level_read(struct level *at, const char *file)
{
	char path[CGROUP_PATH + 32], text[4096];

	snprintf(path, sizeof(path), "%s/%s", at->folder, file);
	if (!at->inside)
		return !proc_read_path(path, &at->text) && at->text.len;
	int fd = proc_open_in(at->inside, "root", path, O_RDONLY);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	buf_clear(&at->text);
	if (got > 0)
		buf_add(&at->text, text, (size_t)got);
	return got > 0;
}

/* A number in one of its files; UNKNOWN if it is missing or "max". */
static int64_t level_number(struct level *at, const char *file, const char *key)
{
	return level_read(at, file) ? number(buf_str(&at->text), key) : UNKNOWN;
}

/*
 * Calls fn from the process's own cgroup up to the mount point. If our mounts do not show the process's cgroup, calls it for
 * the process's own mounts of version 1 and 2, of which a container shows one level, and returns false.
 */
static bool each_level(const struct cgroup_mount *mount, pid_t pid,
	void (*fn)(struct level *at, void *ctx), void *ctx)
{
	char path[CGROUP_PATH];
	struct level at = {.folder = path};
	bool shown = group_of(mount, pid, path);

	for (int i = 0; shown && i < LEVELS && strlen(path) >= strlen(mount->at); i++) {
		fn(&at, ctx);
		*strrchr(path, '/') = '\0'; /* never NULL: the mount point begins with a slash */
	}
	at.inside = pid;
	for (int i = 0; !shown && i < 2; i++) {
		snprintf(path, sizeof(path), i ? "/sys/fs/cgroup" : "/sys/fs/cgroup/%s",
			mount->controller);
		fn(&at, ctx);
	}
	buf_done(&at.text);
	return shown;
}

/* --- its CPU time ------------------------------------------------------------------------------------ */

struct cpu_search {
	struct cgroup_cpu *out;
	bool counted; /* the counters in `out` are valid */
};

/* In thousandths of a core; -1: none, also if the file is missing, as in the root cgroup. */
static int64_t cpu_limit(struct level *at, int64_t *period)
{
	int64_t quota = -1;

	*period = 0;
	if (level_read(at, "cpu.max")) {
		if (sscanf(buf_str(&at->text), "%" SCNd64 " %" SCNd64, &quota, period) != 2)
			quota = -1;
	} else {
		quota = level_number(at, "cpu.cfs_quota_us", "");
		*period = level_number(at, "cpu.cfs_period_us", "");
	}
	if (quota <= 0 || *period <= 0 || *period > PERIOD_MAX_US || quota > INT64_MAX / 1000)
		return -1;
	return quota * 1000 / *period;
}

/* Stores the limit of this level, with its counters, if it is the tightest one. */
static void cpu_at(struct level *at, void *ctx)
{
	struct cpu_search *s = ctx;
	int64_t period, limit = cpu_limit(at, &period);

	if (limit < 0 || (s->out->limit >= 0 && limit >= s->out->limit))
		return;
	*s->out = (struct cgroup_cpu){.limit = limit, .period_us = period};
	snprintf(s->out->path, sizeof(s->out->path), "%s", at->folder);
	s->counted = level_read(at, "cpu.stat");
	if (!s->counted)
		return;
	const char *text = buf_str(&at->text);
	int64_t ns = number(text, "throttled_time");
	s->out->periods = number(text, "nr_periods");
	s->out->throttled = number(text, "nr_throttled");
	s->out->throttled_us = ns >= 0 ? ns / 1000 : number(text, "throttled_usec");
	s->counted = s->out->periods >= 0 && s->out->throttled >= 0 && s->out->throttled_us >= 0;
}

enum cgroup_answer cgroup_cpu(const struct cgroup_mount *mount, pid_t pid, struct cgroup_cpu *out)
{
	struct cpu_search s = {.out = out};

	*out = (struct cgroup_cpu){.limit = -1};
	bool shown = each_level(mount, pid, cpu_at, &s);
	if (out->limit >= 0)
		return s.counted ? CGROUP_LIMIT : CGROUP_UNKNOWN;
	return shown ? CGROUP_NO_LIMIT : CGROUP_UNKNOWN;
}

/* --- threads, memory --------------------------------------------------------------------------------- */

/* The limit in one file minus the usage in another; INT64_MAX: no limit. */
static int64_t level_left(struct level *at, const char *limit, const char *used)
{
	int64_t most = level_number(at, limit, ""), now = level_number(at, used, "");

	return most >= 0 && most < NO_LIMIT && now >= 0 ? most - now : INT64_MAX;
}

/* Stores the smaller of both in *ctx. */
static void minimum(int64_t left, void *ctx)
{
	int64_t *out = ctx;

	*out = left < *out ? left : *out;
}

static void pids_at(struct level *at, void *ctx)
{
	minimum(level_left(at, "pids.max", "pids.current"), ctx);
}

int64_t cgroup_pids_left(const struct cgroup_mount *mount, pid_t pid)
{
	int64_t left = INT64_MAX;

	each_level(mount, pid, pids_at, &left);
	return left;
}

/* The sum of two lines of memory.stat, in bytes. */
static int64_t files_of(struct level *at, const char *one, const char *other)
{
	const char *text = level_read(at, "memory.stat") ? buf_str(&at->text) : "";
	int64_t a = number(text, one), b = number(text, other);

	return (a > 0 ? a : 0) + (b > 0 ? b : 0);
}

/* Free swap of the host, in bytes. */
static int64_t swap_free(void)
{
	struct buf text = {0};
	int64_t kb = proc_read_host("meminfo", &text) ? 0 : number(buf_str(&text), "SwapFree:");

	buf_done(&text);
	return kb > 0 ? kb * 1024 : 0;
}

static int64_t sum(int64_t a, int64_t b)
{
	return a > NO_LIMIT || b > NO_LIMIT ? INT64_MAX : a + b;
}

/* Counts file pages, which can be reclaimed, and free swap as available. */
static void memory_at(struct level *at, void *ctx)
{
	int64_t left = level_left(at, "memory.max", "memory.current"), host = swap_free(), own;

	if (left != INT64_MAX) {
		own = level_left(at, "memory.swap.max", "memory.swap.current");
		left = sum(left, own < host ? own : host);
		minimum(sum(left, files_of(at, "inactive_file", "active_file")), ctx);
		return;
	}
	/* Version 1 limits the sum of memory and swap. */
	left = sum(level_left(at, "memory.limit_in_bytes", "memory.usage_in_bytes"), host);
	own = level_left(at, "memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes");
	left = own < left ? own : left;
	minimum(sum(left, files_of(at, "total_inactive_file", "total_active_file")), ctx);
}

int64_t cgroup_memory_left(const struct cgroup_mount *mount, pid_t pid)
{
	int64_t left = INT64_MAX;

	each_level(mount, pid, memory_at, &left);
	return left;
}

bool cgroup_is_ours(pid_t pid)
{
	struct buf own = {0}, other = {0};
	bool same = !proc_read(getpid(), "cgroup", &own) && !proc_read(pid, "cgroup", &other) &&
		    own.len && own.len == other.len && !memcmp(own.data, other.data, own.len);

	buf_done(&own);
	buf_done(&other);
	return same;
}

/* --- frozen ------------------------------------------------------------------------------------------ */

/* Version 1: "FROZEN", "FREEZING" or "THAWED"; version 2: a line "frozen 1" among others. */
static void frozen_at(struct level *at, void *ctx)
{
	bool *frozen = ctx;

	*frozen = *frozen ||
		  (level_read(at, "freezer.state") && !strncmp(buf_str(&at->text), "FR", 2)) ||
		  level_number(at, "cgroup.events", "frozen") == 1;
}

bool cgroup_frozen(pid_t pid)
{
	/* Either version may be mounted, or both. "" matches no controller of version 1, so only version 2. */
	static const char *const controllers[] = {"freezer", ""};
	struct cgroup_mount mount;
	bool frozen = false;

	for (int i = 0; i < 2 && !frozen; i++) {
		cgroup_mount_find(&mount, controllers[i]);
		each_level(&mount, pid, frozen_at, &frozen);
	}
	return frozen;
}
