/* SPDX-License-Identifier: Apache-2.0 */
/* Opens in three steps: an O_PATH descriptor, which has no side effects; fstat; the file itself through /proc/self/fd. */
#include "base/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WALK_DEPTH 64 /* folders below the root */
#define WALK_LINKS 40 /* the kernel's limit */

/* --- resolving by component -------------------------------------------------------------------------- */

struct walk {
	int at[WALK_DEPTH + 1]; /* at[0] is the root, borrowed */
	int depth, links;
	char left[2 * PATH_MAX]; /* the remaining path */
};

static void walk_up(struct walk *w, int depth)
{
	while (w->depth > depth)
		close(w->at[w->depth--]);
}

/* Replaces the link in at[depth] by its target, resolved relative to the link's folder or to the root. */
static int walk_link(struct walk *w)
{
	char text[PATH_MAX], rest[sizeof(w->left)];
	ssize_t n = readlinkat(w->at[w->depth], "", text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	snprintf(rest, sizeof(rest), "%s", w->left);
	if (++w->links > WALK_LINKS ||
		(size_t)snprintf(w->left, sizeof(w->left), "%s/%s", text, rest) >= sizeof(w->left))
		return -ELOOP;
	walk_up(w, text[0] == '/' ? 0 : w->depth - 1);
	return 0;
}

static int walk_part(struct walk *w)
{
	size_t skip = strspn(w->left, "/"), len = strcspn(w->left + skip, "/");
	char part[NAME_MAX + 1];

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(part, w->left + skip, len);
	part[len] = '\0';
	memmove(w->left, w->left + skip + len, strlen(w->left + skip + len) + 1);
	if (!strcmp(part, ".."))
		walk_up(w, w->depth > 0 ? w->depth - 1 : 0);
	else if (len && strcmp(part, ".") != 0) {
		struct stat st;

		if (w->depth == WALK_DEPTH)
			return -ELOOP;
		int fd = openat(w->at[w->depth], part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		w->at[++w->depth] = fd;
		if (fstat(fd, &st))
			return -errno;
		return S_ISLNK(st.st_mode) ? walk_link(w) : 0;
	}
	return 0;
}

int rooted_walk(int root, const char *path)
{
	struct walk w = {.at = {root}};
	int rc = 0;

	if ((size_t)snprintf(w.left, sizeof(w.left), "%s", path) >= sizeof(w.left))
		return -ENAMETOOLONG;
	while (!rc && w.left[0])
		rc = walk_part(&w);
	int fd = rc ? rc : fcntl(w.at[w.depth], F_DUPFD_CLOEXEC, 0);
	if (fd < 0 && !rc)
		fd = -errno;
	walk_up(&w, 0);
	return fd;
}

static int resolve(int root, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd >= 0)
		return fd;
	/* Before Linux 5.6, or blocked by a seccomp filter. */
	return errno == ENOSYS || errno == EPERM ? rooted_walk(root, path) : -errno;
}

/* --- opening by type --------------------------------------------------------------------------------- */

static int open_regular(int path_fd, int flags)
{
	char link[40];
	struct stat st;

	if (fstat(path_fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISLNK(st.st_mode) ? -ELOOP : -EINVAL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	int fd = open(link, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int rooted_open(const char *root, const char *path, int flags)
{
	int base = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (base < 0)
		return -errno;
	int at = resolve(base, path);
	close(base);
	if (at < 0 || ((flags & O_PATH) && !(flags & O_DIRECTORY)))
		return at;
	if (!(flags & O_DIRECTORY)) {
		fd = open_regular(at, flags);
	} else {
		fd = openat(at, ".", flags | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	close(at);
	return fd;
}

/* Consumes the O_PATH descriptor; at < 0: returns -errno. */
static int open_and_close(int at, int flags)
{
	if (at < 0)
		return -errno;
	int fd = open_regular(at, flags);
	close(at);
	return fd;
}

int rooted_in(int dir, const char *name, int flags)
{
	return open_and_close(openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), flags);
}

int rooted_link(const char *link, int flags)
{
	return open_and_close(open(link, O_PATH | O_CLOEXEC), flags);
}
