/* SPDX-License-Identifier: Apache-2.0 */
/* Installs the agent's file where a JVM can open it. */
#include "attach/place.h"

#include "attach/proc.h"
#include "base/file.h"
#include "base/hash.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AGENT_LIMIT   (64u << 20)
#define STALE_SECONDS 60
#define COPY_MODE     0500 /* owned and read by the JVM's user */
#define ROOT_MODE     0444 /* owned by root: readable by the JVM's user, not writable */

#define FOLDER_DEPTH  64

/* Candidates in order of preference: the JVM's temporary folder (NULL), /dev/shm, its working folder. */
static const struct folder {
	const char *dir; /* link in /proc/PID that `path` is relative to */
	const char *path;
} folders[PLACE_FOLDERS] = {{"root", NULL}, {"root", "/dev/shm"}, {"cwd", "."}};

static const char *folder_path(const struct place *p, size_t i)
{
	return folders[i].path ? folders[i].path : p->jvm->temp;
}

/* --- the bytes --------------------------------------------------------------------------------------- */

/* Checked because HotSpot prints a warning on the target's stderr if the file is not an ELF library. */
static bool is_library(const struct agent_file *agent)
{
	Elf64_Ehdr head;

	if (agent->len < sizeof(head))
		return false;
	memcpy(&head, agent->bytes, sizeof(head));
	return !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_type == ET_DYN;
}

static int read_agent(struct place *p, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int rc = fd < 0 || fstat(fd, &st) ? -errno : 0;

	if (!rc && S_ISREG(st.st_mode))
		rc = buf_read_all(&p->read, fd, AGENT_LIMIT);
	if (fd >= 0)
		close(fd);
	if (rc && rc != -EFBIG)
		return err_set(
			err, ERR_INPUT, "The agent %s cannot be read: %s", path, strerror(-rc));
	p->agent = (struct agent_file){
		.path = path, .bytes = buf_str(&p->read), .len = rc ? 0 : p->read.len};
	return 0;
}

/* Named after its content: under a path that it has loaded before, a JVM would run the old code. */
void place_name(const void *bytes, size_t len, pid_t nspid, char out[PLACE_NAME])
{
	snprintf(out, PLACE_NAME, PLACE_PREFIX "%s-%016llx-%d.so", JHOT_VERSION,
		(unsigned long long)hash_bytes(bytes, len, 0), (int)nspid);
}

/*
 * The agent's descriptor is an O_PATH one, whose link in /proc/PID/fd has no permission bits. Others are those of a loader that
 * is reading the file: they are closed soon.
 */
void place_find_retained(struct place *p)
{
	char path[PROC_PATH_BYTES], link[PATH_MAX];
	DIR *dir = opendir(proc_path_living(path, p->jvm->pid, "fd"));
	struct dirent *e;
	struct stat st;

	while (dir && !p->path[0] && (e = readdir(dir)) != NULL) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = '\0';
		if (strstr(link, p->name) &&
			!fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
			!(st.st_mode & 0777))
			snprintf(p->path, sizeof(p->path), "/proc/self/fd/%s", e->d_name);
	}
	if (dir)
		closedir(dir);
}

/* --- who may change a folder ------------------------------------------------------------------------- */

/*
 * True when only users who can modify the JVM anyway can replace files in the folder: root, root of its user namespace, its own
 * user. One of them must own even a sticky folder, since the owner may rename files of others in it.
 */
static bool is_safe(const struct place *p, const struct stat *dir)
{
	bool trusted = dir->st_uid == 0 || dir->st_uid == p->jvm->euid ||
		       dir->st_uid == proc_ns_root(p->jvm->pid);

	return trusted && (dir->st_mode & S_ISVTX || !(dir->st_mode & (S_IWGRP | S_IWOTH)));
}

/* True when the folder and all of its parents up to the JVM's root are safe. */
static bool is_safe_up(const struct place *p, int folder, const struct stat *root)
{
	int at = openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	bool safe = false;

	for (int depth = 0; at >= 0 && depth < FOLDER_DEPTH; depth++) {
		safe = !fstat(at, &st) && is_safe(p, &st);
		if (!safe || (st.st_dev == root->st_dev && st.st_ino == root->st_ino))
			break;
		safe = false;
		int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = up;
	}
	if (at >= 0)
		close(at);
	return safe;
}

/*
 * Checks each folder on an absolute path, including those reached through links. The working folder is checked without its
 * parents: it is opened by descriptor, so renaming a parent does not affect it.
 */
static bool is_safe_folder(const struct place *p, size_t i)
{
	char path[sizeof(p->jvm->temp)], *slash = path;
	int root = proc_open_in(p->jvm->pid, "root", "/", O_PATH | O_DIRECTORY);
	struct stat st;
	bool safe = root >= 0 && !fstat(root, &st);

	if (root >= 0)
		close(root);
	if (!strcmp(folders[i].dir, "cwd"))
		return !fstat(p->folders[i], &st) && is_safe(p, &st);
	safe = safe && is_safe_up(p, p->folders[i], &st);
	snprintf(path, sizeof(path), "%s", folder_path(p, i));
	while (safe && (slash = strchr(slash + 1, '/')) != NULL) {
		*slash = '\0';
		int part = proc_open_in(p->jvm->pid, "root", path, O_PATH | O_DIRECTORY);
		safe = part >= 0 && is_safe_up(p, part, &st);
		if (part >= 0)
			close(part);
		*slash = '/';
	}
	return safe;
}

int place_prepare(
	struct place *p, const struct agent_file *agent, const struct hotspot *jvm, struct err *err)
{
	*p = (struct place){.jvm = jvm,
		.agent = *agent,
		.mode = COPY_MODE,
		.dir = -1,
		.memfd = -1,
		.remover_fd = -1};
	for (size_t i = 0; i < PLACE_FOLDERS; i++) {
		p->folders[i] = proc_open_in(
			jvm->pid, folders[i].dir, folder_path(p, i), O_PATH | O_DIRECTORY);
		p->safe[i] = p->folders[i] >= 0 && is_safe_folder(p, i);
	}
	if (agent->path && read_agent(p, agent->path, err))
		return -1;
	if (!is_library(&p->agent))
		return err_set(err, ERR_INPUT, "%s is not a shared library.",
			agent->path ? agent->path : "The agent embedded in this program");
	place_name(p->agent.bytes, p->agent.len, jvm->nspid, p->name);
	return 0;
}

/* --- stale files of a killed jhot -------------------------------------------------------------------- */

/* Removes links and copies of ours (by owner and mode) that are older than STALE_SECONDS. */
static void remove_stale(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir)) != NULL) {
		if (strncmp(e->d_name, PLACE_PREFIX, strlen(PLACE_PREFIX)) != 0 ||
			fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
			st.st_uid != geteuid() || time(NULL) - st.st_mtime <= STALE_SECONDS)
			continue;
		if (S_ISLNK(st.st_mode) ||
			(S_ISREG(st.st_mode) && (st.st_mode & 07777) == COPY_MODE))
			unlinkat(dir_fd, e->d_name, 0);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* --- installing -------------------------------------------------------------------------------------- */

static int make_copy(const struct place *p, int dir, const char *part)
{
	int fd = openat(dir, part, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, p->mode);

	if (fd < 0)
		return -1;
	int rc = file_write(fd, p->agent.bytes, p->agent.len);
	if (!rc)
		rc = fchmod(fd, p->mode);
	int saved = errno;
	if (close(fd) && !rc)
		return -1;
	errno = saved;
	return rc;
}

static int make_link(const struct place *p, int dir, const char *part)
{
	char target[64];

	snprintf(target, sizeof(target), "/proc/%d/fd/%d", (int)getpid(), p->memfd);
	return symlinkat(target, dir, part);
}

/* Creates the file under a temporary name and renames it, so that no process opens a partial one. */
static int install_into(struct place *p, int dir)
{
	char part[sizeof(p->name) + 32];
	struct stat st;

	snprintf(part, sizeof(part), "%s.%d", p->name, (int)getpid());
	if (!(p->memfd >= 0 ? make_link : make_copy)(p, dir, part) &&
		!fstatat(dir, part, &st, AT_SYMLINK_NOFOLLOW) &&
		!renameat(dir, part, dir, p->name)) {
		p->inode = st.st_ino;
		return 0;
	}
	int saved = errno;
	if (saved != EEXIST)
		unlinkat(dir, part, 0);
	errno = saved;
	return -1;
}

static int try_folder(struct place *p, size_t i, struct err *err)
{
	const char *path = folder_path(p, i);
	int dir = p->folders[i];
	struct statvfs fs;

	if (dir >= 0) {
		dir = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		dir = dir < 0 ? -errno : dir;
	}
	if (dir < 0) {
		err_detail(err, "%s: %s", path, strerror(-dir));
		return -1;
	}
	if (!p->safe[i]) {
		err_detail(err, "%s: other users can replace files in it", path);
	} else if (p->memfd < 0 && !fstatvfs(dir, &fs) && fs.f_flag & ST_NOEXEC) {
		err_detail(err, "%s: mounted noexec", path);
	} else {
		remove_stale(dir);
		if (!install_into(p, dir)) {
			p->dir = dir;
			snprintf(p->path, sizeof(p->path), "%s/%s", path, p->name);
			return 0;
		}
		err_detail(err, "%s: %s", path, strerror(errno));
	}
	close(dir);
	return -1;
}

/* Creates a memfd with the agent, for use if no folder is suitable. False if the JVM cannot open our descriptors. */
static bool make_memfd(struct place *p)
{
	char path[64];
	struct stat own, seen;
	/* 0x10: MFD_EXEC, unknown before Linux 6.3; without it, later kernels may create a non-executable memfd. */
	int fd = (int)syscall(SYS_memfd_create, p->name, 0x10 | MFD_CLOEXEC);

	if (fd < 0)
		fd = (int)syscall(SYS_memfd_create, p->name, MFD_CLOEXEC);
	if (fd < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root/proc/%d/fd/%d", (int)p->jvm->pid, (int)getpid(),
		fd);
	if (prctl(PR_GET_DUMPABLE) == 1 && !file_write(fd, p->agent.bytes, p->agent.len) &&
		!fstat(fd, &own) && !stat(path, &seen) && own.st_dev == seen.st_dev &&
		own.st_ino == seen.st_ino) {
		p->memfd = fd;
		return true;
	}
	close(fd);
	return false;
}

/* --- with root's ids ----------------------------------------------------------------------------------------- */

/* True when this user can create an executable file there, judged by mode and mount flags only. */
static bool may_install(int dir, uid_t uid, gid_t gid)
{
	struct statvfs fs;
	struct stat st;

	if (dir < 0 || fstatvfs(dir, &fs) || fs.f_flag & (ST_NOEXEC | ST_RDONLY) || fstat(dir, &st))
		return false;
	return uid == 0 || st.st_mode & (st.st_uid == uid          ? S_IWUSR
						: st.st_gid == gid ? S_IWGRP
								   : S_IWOTH);
}

static void remove_own(const struct place *p, int dir)
{
	struct stat st;

	if (!fstatat(dir, p->name, &st, AT_SYMLINK_NOFOLLOW) && st.st_ino == p->inode)
		unlinkat(dir, p->name, 0);
}

/* Forks a process that stays root and removes the file when the helper closes its end of the pipe or dies. */
static bool start_remover(struct place *p, int dir)
{
	int ends[2];
	char none;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	p->remover = fork();
	if (p->remover == 0) {
		close(ends[1]);
		while (read(ends[0], &none, 1) < 0 && errno == EINTR)
			;
		remove_own(p, dir);
		_exit(0);
	}
	close(ends[0]);
	if (p->remover < 0) {
		close(ends[1]);
		return false;
	}
	p->remover_fd = ends[1];
	return true;
}

/*
 * The JVM's /dev, if it is a tmpfs that only root can have mounted and only root can write to; else -1. The owner of a folder does not prove that: in a user namespace of
 * their own, any user can mount a folder of the host as /dev. Namespaces are checked after opening the folder, since a process
 * cannot return from a namespace it has entered; the descriptor of /proc/PID proves that it is still the same process.
 */
static int open_dev(const struct place *p)
{
	char path[PROC_PATH_BYTES];
	int process = open(proc_path(path, p->jvm->pid, ""), O_PATH | O_DIRECTORY | O_CLOEXEC);
	int dir = proc_open_in(p->jvm->pid, "root", "/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;
	struct stat st, alive;
	bool ours = may_install(dir, 0, 0) && !fstatfs(dir, &fs) && fs.f_type == TMPFS_MAGIC &&
		    !fstat(dir, &st) && st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
		    process >= 0 && proc_mounts_are_ours(p->jvm->pid) &&
		    !fstatat(process, "stat", &alive, 0);

	if (process >= 0)
		close(process);
	if (ours)
		return dir;
	if (dir >= 0)
		close(dir);
	return -1;
}

void place_write_by_root(struct place *p)
{
	if (geteuid() != 0 || p->path[0])
		return;
	for (size_t i = 0; i < PLACE_FOLDERS; i++)
		if (p->safe[i] && may_install(p->folders[i], p->jvm->euid, p->jvm->egid))
			return;
	/* A JVM of root that sees our /proc entry can open our memfd: place_write links to it. */
	if (p->jvm->euid == 0 && make_memfd(p))
		return;
	int dir = open_dev(p);
	if (dir < 0)
		return;
	p->mode = ROOT_MODE;
	if (!install_into(p, dir)) {
		if (start_remover(p, dir))
			snprintf(p->path, sizeof(p->path), "/dev/%s", p->name);
		else
			remove_own(p, dir);
	}
	p->mode = COPY_MODE;
	close(dir);
}

/* --- with the target's ids ---------------------------------------------------------------------------- */

int place_write(struct place *p, struct err *err)
{
	struct err why = {0};
	struct rlimit limit;

	if (p->path[0])
		return 0;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < p->agent.len) {
		err_set(err, ERR_ATTACH,
			"Cannot write the agent's file of %zu kB: the file size limit of this "
			"process is lower (ulimit -f).",
			p->agent.len / 1024);
		err_hint(err, "ulimit -f unlimited     in the shell that starts jhot");
		return -1;
	}
	err_set(&why, ERR_ATTACH, "The JVM has no folder from which it could load the agent.");
	err_hint(&why,
		"make its %s writable, without noexec, and sticky if other users can write to it",
		p->jvm->temp);
	err_hint(&why, "run jhot as its user, in its PID namespace: it needs no folder there");
	do
		for (size_t i = 0; i < PLACE_FOLDERS; i++)
			if (!try_folder(p, i, &why))
				return 0;
	while (p->memfd < 0 && make_memfd(p));
	/* The path of our descriptor differs in each attach, so the loader would map another copy of the agent. */
	place_find_retained(p);
	if (p->path[0])
		return 0;
	if (p->memfd >= 0) {
		snprintf(p->path, sizeof(p->path), "/proc/%d/fd/%d", (int)getpid(), p->memfd);
		return 0;
	}
	*err = why;
	return -1;
}

void place_done(struct place *p)
{
	if (p->remover_fd >= 0) {
		close(p->remover_fd);
		waitpid(p->remover, NULL, 0);
	}
	p->remover_fd = -1;
	if (p->dir >= 0) {
		remove_own(p, p->dir);
		close(p->dir);
	}
	for (size_t i = 0; i < PLACE_FOLDERS; i++) {
		if (p->folders[i] >= 0)
			close(p->folders[i]);
		p->folders[i] = -1;
	}
	if (p->memfd >= 0)
		close(p->memfd);
	p->dir = p->memfd = -1;
	buf_done(&p->read);
}
