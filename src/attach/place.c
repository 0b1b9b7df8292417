/* SPDX-License-Identifier: Apache-2.0 */
/* Putting the agent's file where a JVM can open it. */
#include "attach/place.h"

#include "attach/proc.h"
#include "base/file.h"
#include "base/hash.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define AGENT_LIMIT   (64u << 20)
#define STALE_SECONDS 60
#define COPY_MODE     0500 /* read by the JVM, whose user owns it */

/* Where a copy may go, in this order. */
static const struct folder {
	const char *dir;    /* of /proc/PID: what `path` starts from */
	const char *path;   /* to open it */
	const char *prefix; /* what the JVM puts before the file's name */
} folders[] = {
	{"root", "/tmp", "/tmp/"},
	{"root", "/dev/shm", "/dev/shm/"},
	{"cwd", ".", "./"},
};

/* HotSpot prints a warning on the target's stderr when it is given a file that is no ELF file. */
static bool is_library(const char *bytes)
{
	Elf64_Ehdr head;

	memcpy(&head, bytes, sizeof(head));
	return !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_type == ET_DYN;
}

static int read_agent(struct place *p, int fd, struct err *err)
{
	int rc = fd < 0 || fstat(fd, &p->source_stat) ? -errno : 0;

	if (!rc && S_ISREG(p->source_stat.st_mode))
		rc = buf_read_all(&p->source_bytes, fd, AGENT_LIMIT);
	if (rc && rc != -EFBIG)
		return err_set(err, ERR_INPUT, "The agent %s cannot be read: %s", p->source,
			strerror(-rc));
	if (rc || p->source_bytes.len < sizeof(Elf64_Ehdr) || !is_library(p->source_bytes.data))
		return err_set(err, ERR_INPUT, "%s is no shared library.", p->source);
	return 0;
}

int place_prepare(struct place *p, const char *agent, pid_t nspid, struct err *err)
{
	int fd, rc;

	p->copy_dir = -1;
	p->path[0] = '\0';
	p->source_bytes = (struct buf){0};
	if (!realpath(agent, p->source))
		return err_set_errno(err, ERR_INPUT, "The agent %s cannot be found", agent);
	fd = open(p->source, O_RDONLY | O_CLOEXEC);
	rc = read_agent(p, fd, err);
	if (fd >= 0)
		close(fd);
	/* A new content is a new name: a JVM goes on running the code that it first loaded under a path. */
	snprintf(p->name, sizeof(p->name), PLACE_PREFIX "%s-%016llx-%d.so", JHOT_VERSION,
		(unsigned long long)hash_bytes(buf_str(&p->source_bytes), p->source_bytes.len, 0),
		(int)nspid);
	return rc;
}

static bool allows_exec(int fd)
{
	struct statvfs fs;

	return fstatvfs(fd, &fs) || !(fs.f_flag & ST_NOEXEC);
}

/* Installed files carry version and content in their name; only they are loaded where they are. */
static bool usable_in_place(const struct place *p, pid_t pid)
{
	const char *base = strrchr(p->source, '/') + 1;
	struct stat st;
	bool same;
	int fd;

	if (strncmp(base, PLACE_PREFIX, strlen(PLACE_PREFIX)))
		return false;
	fd = proc_open_in(pid, "root", p->source, O_RDONLY);
	if (fd < 0)
		return false;
	same = !fstat(fd, &st) && st.st_dev == p->source_stat.st_dev &&
	       st.st_ino == p->source_stat.st_ino && allows_exec(fd);
	close(fd);
	return same;
}

/* Copies that a killed jhot left behind: ours by owner and name, and not of this minute. */
static void remove_stale(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir)) != NULL)
		if (!strncmp(e->d_name, PLACE_PREFIX, strlen(PLACE_PREFIX)) &&
			!fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
			S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
			(st.st_mode & 07777) == COPY_MODE &&
			time(NULL) - st.st_mtime > STALE_SECONDS)
			unlinkat(dir_fd, e->d_name, 0);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* Written under a name of its own, then renamed: nobody ever opens half of it. */
static int copy_into(struct place *p, int dir)
{
	char part[sizeof(p->name) + 32];
	struct stat st;
	int fd, rc;

	snprintf(part, sizeof(part), "%s.%d", p->name, (int)getpid());
	fd = openat(dir, part, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, COPY_MODE);
	if (fd < 0)
		return -1;
	rc = file_write(fd, p->source_bytes.data, p->source_bytes.len);
	if (!rc && (fchmod(fd, COPY_MODE) || fstat(fd, &st)))
		rc = -1;
	if (close(fd) || rc || renameat(dir, part, dir, p->name)) {
		int saved = errno;

		unlinkat(dir, part, 0);
		errno = saved;
		return -1;
	}
	p->copy_inode = st.st_ino;
	return 0;
}

static int try_folder(struct place *p, pid_t pid, const struct folder *f, struct err *err)
{
	int dir = proc_open_in(pid, f->dir, f->path, O_RDONLY | O_DIRECTORY);

	if (dir < 0) {
		err_detail(err, "%s: %s", f->prefix, strerror(-dir));
		return -1;
	}
	if (!allows_exec(dir)) {
		err_detail(err, "%s: mounted noexec", f->prefix);
	} else {
		remove_stale(dir);
		if (!copy_into(p, dir)) {
			p->copy_dir = dir;
			snprintf(p->path, sizeof(p->path), "%s%s", f->prefix, p->name);
			return 0;
		}
		err_detail(err, "%s: %s", f->prefix, strerror(errno));
	}
	close(dir);
	return -1;
}

int place_put(struct place *p, pid_t pid, struct err *err)
{
	struct err why = {0};

	if (usable_in_place(p, pid)) {
		snprintf(p->path, sizeof(p->path), "%s", p->source);
		return 0;
	}
	err_set(&why, ERR_ATTACH, "The JVM has no folder from which it could load the agent.");
	err_hint(&why, "make its /tmp writable and not noexec");
	err_hint(&why, "or make %s visible to it under this path", p->source);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!try_folder(p, pid, &folders[i], &why))
			return 0;
	*err = why;
	return -1;
}

void place_done(struct place *p)
{
	struct stat st;

	if (p->copy_dir >= 0) {
		if (!fstatat(p->copy_dir, p->name, &st, AT_SYMLINK_NOFOLLOW) &&
			st.st_ino == p->copy_inode)
			unlinkat(p->copy_dir, p->name, 0);
		close(p->copy_dir);
	}
	p->copy_dir = -1;
	buf_done(&p->source_bytes);
}
