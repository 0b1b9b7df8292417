/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, validates and maps the memfd. Every value of the header is validated before anything is mapped. */
#include "session/mapping.h"

#include "base/maps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAPPING_BYTES_MAX (1ull << 30)
#define MEMFD_LINK        "/memfd:" WIRE_MEMFD_PREFIX
#define MAPPING_PUBLISHER "jhot publisher\n" /* sampler/session/publisher.h */
#define MAPPING_TRIES     20
#define MAPPING_PAUSE_NS  5000000

int mapping_check(const struct wire_header *h, uint64_t file_bytes, struct err *err)
{
	if (h->magic != WIRE_MAGIC)
		return err_set(err, ERR_FAILED,
			"The agent's memory does not start with jhot's magic number.");
	if (h->major != WIRE_MAJOR) {
		err_set(err, ERR_FAILED,
			"The agent in the JVM uses protocol version %u.%u, this jhot %u.%u.",
			h->major, h->minor, WIRE_MAJOR, WIRE_MINOR);
		err_hint(err, "use the jhot that the agent came with, or restart the JVM");
		return -1;
	}
	if (h->header_bytes < sizeof(*h) || h->map_bytes > MAPPING_BYTES_MAX ||
		h->map_bytes > file_bytes)
		return err_set(err, ERR_FAILED,
			"The agent's memory has an unexpected layout: header %u bytes, %llu of "
			"%llu mapped.",
			h->header_bytes, (unsigned long long)h->map_bytes,
			(unsigned long long)file_bytes);
	const struct {
		const char *name;
		uint64_t off, bytes;
		uint64_t need, align;
	} areas[] = {
		{"control", h->control_off, h->control_bytes, sizeof(struct wire_control), 8},
		{"status", h->status_off, h->status_bytes, sizeof(struct wire_status), 8},
		{"cursors", h->cursors_off, h->cursors_bytes, sizeof(struct wire_cursors), 64},
		{"ring", h->ring_off, h->ring_bytes, 2 * WIRE_RECORD_MAX, 8},
		{"staging area", h->staging_off, h->staging_bytes, 0, 8},
	};
	uint64_t end = sizeof(*h);
	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		uint64_t off = areas[i].off, bytes = areas[i].bytes;
		if (off < end || off % areas[i].align || bytes < areas[i].need ||
			bytes > h->map_bytes || off > h->map_bytes - bytes)
			return err_set(err, ERR_FAILED,
				"The agent's memory has an unexpected layout: its %s is %llu bytes "
				"at %llu of %llu.",
				areas[i].name, (unsigned long long)bytes, (unsigned long long)off,
				(unsigned long long)h->map_bytes);
		end = off + bytes;
	}
	if (h->ring_bytes & (h->ring_bytes - 1))
		return err_set(err, ERR_FAILED,
			"The agent's ring has %u bytes, which is not a power of two.",
			h->ring_bytes);
	return 0;
}

int mapping_open_fd(struct mapping *m, int fd, struct err *err)
{
	struct wire_header h;
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	memset(m, 0, sizeof(*m));
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return err_set(err, ERR_FAILED,
			"The agent's memory is not sealed, so it was not created by jhot.");
	if (fstat(fd, &st) || pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h))
		return err_set(err, ERR_FAILED, "The agent's memory cannot be read.");
	if (mapping_check(&h, (uint64_t)st.st_size, err))
		return -1;
	m->base = mmap(NULL, h.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m->base == MAP_FAILED) {
		m->base = NULL;
		return err_set_errno(err, ERR_FAILED, "The agent's memory cannot be mapped");
	}
	m->bytes = h.map_bytes;
	m->header = h;
	m->control = (struct wire_control *)(m->base + h.control_off);
	m->status = (struct wire_status *)(m->base + h.status_off);
	m->cursors = (struct wire_cursors *)(m->base + h.cursors_off);
	m->ring = m->base + h.ring_off;
	m->staging = m->base + h.staging_off;
	return 0;
}

void mapping_close(struct mapping *m)
{
	if (m->base)
		munmap(m->base, m->bytes);
	memset(m, 0, sizeof(*m));
}

/* --- finding it -------------------------------------------------------------------------------------- */

/* True when this descriptor of the target is a memfd of jhot with this token; token NULL: any. */
static bool mapping_is_ours(int dir, const char *name, const char *token)
{
	char link[128];
	ssize_t n = readlinkat(dir, name, link, sizeof(link) - 1);
	size_t prefix = strlen(MEMFD_LINK);

	if (n <= 0)
		return false;
	link[n] = '\0';
	if (strncmp(link, MEMFD_LINK, prefix))
		return false;
	size_t len = strcspn(link + prefix, " ");
	return !token || (strlen(token) == len && !strncmp(link + prefix, token, len));
}

/* Maps it into m if it is valid and more recent than the one in m. */
static void mapping_adopt(struct mapping *m, const char *folder, const char *name, struct err *err)
{
	char link[PROC_PATH_BYTES + 256];
	struct mapping other;

	snprintf(link, sizeof(link), "%s/%s", folder, name);
	int fd = rooted_link(link, O_RDWR);
	if (fd < 0) {
		if (fd != -ENOENT)
			err_set(err, ERR_FAILED, "The agent's memory cannot be opened: %s",
				strerror(-fd));
		return;
	}
	if (!mapping_open_fd(&other, fd, err)) {
		bool newer = !m->base || other.header.start_mono_ns > m->header.start_mono_ns;
		mapping_close(newer ? m : &other);
		if (newer)
			*m = other;
	}
	close(fd);
}

/* Scans a folder of descriptors. 0, or -errno if it cannot be opened. */
static int mapping_find_in(struct mapping *m, const char *path, const char *token, struct err *why)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && mapping_is_ours(dirfd(dir), entry->d_name, token))
			mapping_adopt(m, path, entry->d_name, why);
	closedir(dir);
	return 0;
}

/* True when this task is the agent's publisher, whose descriptor table has the memfd. */
static bool mapping_is_publisher(int tasks, const char *tid)
{
	char file[64], comm[sizeof(MAPPING_PUBLISHER)] = "";

	snprintf(file, sizeof(file), "%.20s/comm", tid);
	int fd = openat(tasks, file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, comm, sizeof(comm));
	close(fd);
	return n == (ssize_t)strlen(MAPPING_PUBLISHER) &&
	       !memcmp(comm, MAPPING_PUBLISHER, strlen(MAPPING_PUBLISHER));
}

/* The agent's threads have a separate descriptor table, so each of them is scanned. */
static void mapping_find_by_threads(
	struct mapping *m, pid_t pid, const char *token, struct err *why)
{
	char path[PROC_PATH_BYTES], file[64];
	DIR *dir = opendir(proc_path(path, pid, "task"));
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !mapping_is_publisher(dirfd(dir), entry->d_name))
			continue;
		snprintf(file, sizeof(file), "task/%.20s/fd", entry->d_name);
		mapping_find_in(m, proc_path(path, pid, file), token, why);
	}
	closedir(dir);
}

/*
 * One scan. 1: mapped, 0: none, -1: an invalid one (reason in `why`), or the descriptors cannot be listed (`err`).
 * Agents of earlier versions, and those without a separate table, have the memfd in the process's table.
 */
static int mapping_search(
	struct mapping *m, pid_t pid, const char *token, struct err *why, struct err *err)
{
	char path[PROC_PATH_BYTES];

	*why = (struct err){0};
	int error = -mapping_find_in(m, proc_path_living(path, pid, "fd"), token, why);
	errno = error;
	if (error)
		return error == ENOENT || error == ESRCH
			       ? 0
			       : err_set_errno(err, ERR_ATTACH,
					 "The descriptors of process %d cannot be listed",
					 (int)pid);
	mapping_find_by_threads(m, pid, token, why);
	return m->base ? 1 : why->kind == ERR_NONE ? 0 : -1;
}

/* An invalid memfd may be under construction, so the scan is repeated for about 100 ms. */
int mapping_find(struct mapping *m, pid_t pid, const char *token, struct err *err)
{
	struct timespec pause = {0, MAPPING_PAUSE_NS};
	struct err why = {0};
	int found;

	memset(m, 0, sizeof(*m));
	for (int tries = 1;; tries++) {
		found = mapping_search(m, pid, token, &why, err);
		m->pid = pid;
		if (found >= 0 || why.kind == ERR_NONE || tries == MAPPING_TRIES)
			break;
		nanosleep(&pause, NULL);
	}
	if (found < 0 && why.kind != ERR_NONE && err)
		*err = why;
	return found;
}
