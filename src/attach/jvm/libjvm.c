/* SPDX-License-Identifier: Apache-2.0 */
/* Finds libjvm and the hsperfdata file in a process's maps, and searches these files for marker strings. */
#include "attach/jvm/libjvm.h"

#include "attach/proc.h"
#include "base/clean.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCAN_STEP (64u << 10)
#define JVM_LIMIT (4u << 20) /* in all HotSpots the marker is in the first 32 kB */
#define EXE_LIMIT \
	(256u << 20) /* native-image programs have up to 100 MB; section names come last */

/* A dynamic symbol of every HotSpot since JDK 6, one of the tables that the walker reads. */
#define HOTSPOT_MARK "gHotSpotVMStructs"
/* The name of the flag that relocates the temporary folder; may be anywhere in the file. */
#define ALT_TEMP_MARK  "AltTempDir"
#define JVM_FILE_LIMIT (256u << 20)
#define PERF_FOLDER    "hsperfdata_"
/* The name of musl's loader: near a program's start, or at its end if a tool has changed it. java has 14 to 25 kB. */
#define MUSL_MARK  "/ld-musl-"
#define MUSL_LIMIT (64u << 10)
/* The section with a native-image program's initial heap. */
#define NATIVE_IMAGE_MARK ".svm_heap"

/* True for the JVM's own counters: those of other JVMs, mapped by jstat and similar tools, are not writable. */
static bool is_own_perf(const struct proc_map *map)
{
	const char *name = path_name(map->path), *folder = name - 1;

	if (map->perms[1] != 'w' || map->perms[3] != 's' || !*name ||
		strspn(name, "0123456789") != strlen(name) || folder <= map->path)
		return false;
	while (folder > map->path && folder[-1] != '/')
		folder--;
	return !strncmp(folder, PERF_FOLDER, strlen(PERF_FOLDER));
}

static void copy_map(const struct proc_map *map, struct proc_map *out, char path[512])
{
	*out = *map;
	out->path = path;
	snprintf(path, 512, "%s", map->path);
}

/* Stops when libjvm and the counters have been found. */
static bool check_map(void *ctx, const struct proc_map *map)
{
	struct libjvm *jvm = ctx;

	if (!jvm->mapped && !strcmp(path_name(map->path), "libjvm.so")) {
		jvm->mapped = true;
		copy_map(map, &jvm->map, jvm->path);
	} else if (!jvm->perf_path[0] && is_own_perf(map)) {
		copy_map(map, &jvm->perf, jvm->perf_path);
	}
	return !jvm->mapped || !jvm->perf_path[0];
}

/* For a process in a chroot, maps shows paths with the prefix of its root, which /proc/PID/root shows alone. */
static void strip_root(pid_t pid, char *path)
{
	char root[sizeof(((struct libjvm *)0)->path)];

	if (!proc_link(pid, "root", root, sizeof(root)))
		return;
	size_t len = strlen(root);
	if (len > 1 && !strncmp(path, root, len) && path[len] == '/')
		memmove(path, path + len, strlen(path + len) + 1);
}

int libjvm_find(pid_t pid, struct libjvm *out)
{
	memset(out, 0, sizeof(*out));
	int rc = proc_maps(pid, check_map, out);
	strip_root(pid, out->path);
	strip_root(pid, out->perf_path);
	return rc;
}

/* 1: the first `limit` bytes contain the text, 0: they do not, -1: unreadable. Chunks overlap, so no match is split. */
static int file_contains(int fd, const char *text, size_t limit)
{
	size_t len = strlen(text);
	char *step = malloc(SCAN_STEP);
	int found = step ? 0 : -1;
	off_t at = 0;

	while (found == 0 && at < (off_t)limit) {
		ssize_t n = pread(fd, step, SCAN_STEP, at);

		if (n < 0)
			found = -1;
		else if (memmem(step, (size_t)n, text, len))
			found = 1;
		else if ((size_t)n < SCAN_STEP)
			break;
		at += (off_t)(SCAN_STEP - (len - 1));
	}
	free(step);
	return found;
}

static int libjvm_contains(pid_t pid, const struct libjvm *jvm, const char *text, size_t limit)
{
	int fd = proc_open_mapped(pid, &jvm->map);

	if (fd < 0)
		return -1;
	int answer = file_contains(fd, text, limit);
	close(fd);
	return answer;
}

int libjvm_is_hotspot(pid_t pid, const struct libjvm *jvm)
{
	return libjvm_contains(pid, jvm, HOTSPOT_MARK, JVM_LIMIT);
}

bool libjvm_temp(const struct libjvm *jvm, pid_t nspid, char *out, size_t bytes)
{
	const char *name = path_name(jvm->perf_path),
		   *folder = strstr(jvm->perf_path, "/" PERF_FOLDER);
	const char *next = folder;

	/* The last match: the temporary folder's path may contain such a folder itself. */
	while (next && (next = strstr(next + 1, "/" PERF_FOLDER)) != NULL)
		folder = next;
	if (!folder || atoi(name) != nspid || (size_t)(folder - jvm->perf_path) >= bytes)
		return false;
	snprintf(out, bytes, "%.*s", (int)(folder - jvm->perf_path), jvm->perf_path);
	return true;
}

int libjvm_has_alt_temp(pid_t pid, const struct libjvm *jvm)
{
	return libjvm_contains(pid, jvm, ALT_TEMP_MARK, JVM_FILE_LIMIT);
}

static bool release_version(int fd, char *out, size_t bytes)
{
	static const char key[] = "JAVA_VERSION=\"";
	char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	const char *v = strstr(text, key);
	if (!v)
		return false;
	v += strlen(key);
	clean_text(out, bytes, v, strcspn(v, "\"\n"));
	return out[0] != '\0';
}

/* JDK/lib/server/libjvm.so, or JDK/jre/lib/amd64/server/libjvm.so before 9. */
bool libjvm_version(pid_t pid, const struct libjvm *jvm, char *out, size_t bytes)
{
	char path[sizeof(jvm->path) + sizeof("/release")];
	bool found = false;
	char *slash;

	snprintf(path, sizeof(path), "%s", jvm->path);
	for (int up = 0; up < 6 && !found && (slash = strrchr(path, '/')) != NULL; up++) {
		strcpy(slash, "/release");
		int fd = proc_open_in(pid, "root", path, O_RDONLY);
		*slash = '\0';
		if (fd < 0)
			continue;
		found = release_version(fd, out, bytes);
		close(fd);
	}
	return found;
}

static bool exe_contains(pid_t pid, const char *text, size_t limit)
{
	char path[PROC_PATH_BYTES];
	int fd = rooted_link(proc_path_living(path, pid, "exe"), O_RDONLY);

	if (fd < 0)
		return false;
	int found = file_contains(fd, text, limit);
	close(fd);
	return found == 1;
}

bool exe_is_native_image(pid_t pid)
{
	return exe_contains(pid, NATIVE_IMAGE_MARK, EXE_LIMIT);
}

bool exe_is_musl(pid_t pid)
{
	return exe_contains(pid, MUSL_MARK, MUSL_LIMIT);
}
