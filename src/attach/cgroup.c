/* SPDX-License-Identifier: Apache-2.0 */
/* A few small files per level, from the process's own cgroup up to what is mounted. */
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

#define PERIOD_MAX_US 1000000 /* the kernel takes no longer one */
#define LEVELS        32
#define UNKNOWN       INT64_MIN

/* --- where it is mounted ------------------------------------------------------------------------------ */

/* has_word: "cpu" is in "rw,cpu,cpuacct", but not in "rw,cpuset". */
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

/* "36 35 98:0 /root /mount/point options [field]... - type source superoptions" */
static void take_mount(const char *line, struct cgroup_mount *out)
{
	struct cgroup_mount m = {.controller = out->controller};
	const char *end = strstr(line, " - ");
	char type[16], options[256];
	bool v1;

	if (!end || sscanf(line, "%*s %*s %*s %255s %255s", m.top, m.at) != 2 ||
		sscanf(end, " - %15s %*s %255s", type, options) != 2 || strchr(m.at, '\\'))
		return;
	v1 = !strcmp(type, "cgroup") && has_word(options, m.controller, ",");
	if (!v1 && strcmp(type, "cgroup2") != 0)
		return;
	/* Where both are mounted the controller is the first version's. */
	if (*out->at && (out->v1 || !v1))
		return;
	m.v1 = v1;
	*out = m;
}

void cgroup_mount_find(struct cgroup_mount *out, const char *controller)
{
	struct buf text = {0};
	char *at, *line;

	*out = (struct cgroup_mount){.controller = controller};
	at = proc_read_host("self/mountinfo", &text) ? NULL : text.data;
	while ((line = strsep(&at, "\n")))
		take_mount(line, out);
	buf_done(&text);
}

/* --- which one it is ---------------------------------------------------------------------------------- */

/* "4:cpu,cpuacct:/path", "0::/path": the path in the hierarchy of this mount; "" if it is not seen there. */
static void take_path(char *text, const struct cgroup_mount *mount, char *out, size_t bytes)
{
	for (char *line; (line = strsep(&text, "\n"));) {
		char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		if (mount->v1 ? has_word(names + 1, mount->controller, ",") : !names[1])
			snprintf(out, bytes, "%s", path);
	}
}

/* group_of: its folder, through the mount; false if that does not show it. */
static bool group_of(const struct cgroup_mount *mount, pid_t pid, char out[CGROUP_PATH])
{
	size_t top = strcmp(mount->top, "/") ? strlen(mount->top) : 0;
	char path[CGROUP_PATH - sizeof(mount->at)] = "";
	struct buf text = {0};

	if (*mount->at && !proc_read(pid, "cgroup", &text) && text.len)
		take_path(text.data, mount, path, sizeof(path));
	buf_done(&text);
	/* "/../other": outside of the part of the tree that we see; a path cut off is another cgroup. */
	if (*path != '/' || has_word(path, "..", "/") || strlen(path) + 1 == sizeof(path))
		return false;
	if (strncmp(path, mount->top, top) != 0 || (top && path[top] && path[top] != '/'))
		return false;
	snprintf(out, CGROUP_PATH, "%s%s", mount->at, strcmp(path, "/") ? path + top : "");
	return true;
}

/* --- its limit ---------------------------------------------------------------------------------------- */

static bool read_in(const char *folder, const char *file, struct buf *out)
{
	char path[CGROUP_PATH + 32];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return !proc_read_path(path, out) && out->len;
}

/* A number of its own line: of "nr_periods 12", or of the whole file for "". */
static int64_t number(const char *text, const char *key)
{
	const char *at = text;
	size_t length = strlen(key);
	char *end;
	int64_t value;

	while (length && (strncmp(at, key, length) != 0 || at[length] != ' ')) {
		at = strchr(at, '\n');
		if (!at)
			return UNKNOWN;
		at++;
	}
	value = strtoll(at + length, &end, 10);
	return end == at + length ? UNKNOWN : value;
}

/* The limit of one level. A file that is not there is no limit: the top of the tree has none. */
static void read_limit(const struct cgroup_mount *mount, const char *folder, struct buf *text,
	struct cgroup_cpu *out)
{
	int64_t quota = -1, period = 0;

	if (!mount->v1) {
		if (read_in(folder, "cpu.max", text) && strncmp(buf_str(text), "max", 3) != 0 &&
			sscanf(buf_str(text), "%" SCNd64 " %" SCNd64, &quota, &period) != 2)
			quota = -1;
	} else if (read_in(folder, "cpu.cfs_quota_us", text)) {
		quota = number(buf_str(text), "");
		period = read_in(folder, "cpu.cfs_period_us", text) ? number(buf_str(text), "") : 0;
	}
	out->limit = -1;
	if (quota > 0 && period > 0 && period <= PERIOD_MAX_US && quota <= INT64_MAX / 1000) {
		out->limit = quota * 1000 / period;
		out->period_us = period;
	}
}

static bool read_stat(const struct cgroup_mount *mount, struct buf *text, struct cgroup_cpu *out)
{
	if (!read_in(out->path, "cpu.stat", text))
		return false;
	out->periods = number(buf_str(text), "nr_periods");
	out->throttled = number(buf_str(text), "nr_throttled");
	out->throttled_us = mount->v1 ? number(buf_str(text), "throttled_time") / 1000
				      : number(buf_str(text), "throttled_usec");
	return out->periods >= 0 && out->throttled >= 0 && out->throttled_us >= 0;
}

enum cgroup_answer cgroup_cpu(const struct cgroup_mount *mount, pid_t pid, struct cgroup_cpu *out)
{
	struct cgroup_cpu level = {.limit = -1};
	struct buf text = {0};
	bool known;

	*out = (struct cgroup_cpu){.limit = -1};
	if (!group_of(mount, pid, level.path))
		return CGROUP_UNKNOWN;
	for (int i = 0; i < LEVELS && strlen(level.path) >= strlen(mount->at); i++) {
		read_limit(mount, level.path, &text, &level);
		if (level.limit >= 0 && (out->limit < 0 || level.limit < out->limit))
			*out = level;
		*strrchr(level.path, '/') = '\0'; /* the mount's own path begins with one */
	}
	known = out->limit < 0 || read_stat(mount, &text, out);
	buf_done(&text);
	if (!known)
		return CGROUP_UNKNOWN;
	return out->limit < 0 ? CGROUP_NO_LIMIT : CGROUP_LIMIT;
}

/* --- threads ------------------------------------------------------------------------------------------ */

/* A file that is not there is no limit, as "max" is none. */
static int64_t read_count(const char *folder, const char *file, struct buf *text)
{
	return read_in(folder, file, text) ? number(buf_str(text), "") : UNKNOWN;
}

int64_t cgroup_pids_left(const struct cgroup_mount *mount, pid_t pid)
{
	char path[CGROUP_PATH];
	struct buf text = {0};
	int64_t left = INT64_MAX;

	if (!group_of(mount, pid, path))
		return left;
	for (int i = 0; i < LEVELS && strlen(path) >= strlen(mount->at); i++) {
		int64_t max = read_count(path, "pids.max", &text),
			now = read_count(path, "pids.current", &text);

		if (max >= 0 && now >= 0 && max - now < left)
			left = max - now;
		*strrchr(path, '/') = '\0';
	}
	buf_done(&text);
	return left;
}

/* --- frozen ------------------------------------------------------------------------------------------- */

static const struct freezer {
	const char *controller, *file, *inside; /* inside: where the process itself may see that file */
	bool v1;
} freezers[] = {
	{"freezer", "freezer.state", "/sys/fs/cgroup/freezer/freezer.state", true},
	{"", "cgroup.events", "/sys/fs/cgroup/cgroup.events", false},
};

/* "FROZEN", "FREEZING" or "THAWED"; "frozen 1" among other lines. */
static bool says_frozen(const struct freezer *f, const char *text)
{
	return f->v1 ? !strncmp(text, "FR", 2) : number(text, "frozen") == 1;
}

static bool frozen_inside(const struct freezer *f, pid_t pid)
{
	char text[256];
	int fd = proc_open_in(pid, "root", f->inside, O_RDONLY | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	return says_frozen(f, text);
}

bool cgroup_frozen(pid_t pid)
{
	struct buf text = {0};
	bool frozen = false;

	for (size_t i = 0; i < sizeof(freezers) / sizeof(freezers[0]) && !frozen; i++) {
		const struct freezer *f = &freezers[i];
		struct cgroup_mount mount;
		char path[CGROUP_PATH];

		cgroup_mount_find(&mount, f->controller);
		if (mount.v1 != f->v1 || !group_of(&mount, pid, path))
			frozen = frozen_inside(f, pid);
		else if (read_in(path, f->file, &text))
			frozen = says_frozen(f, buf_str(&text));
	}
	buf_done(&text);
	return frozen;
}
