/* SPDX-License-Identifier: Apache-2.0 */
/* The socket: its network namespace, its name, and whom to trust. */
#include "share/share.h"

#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_NET "/proc/self/ns/net"

/* Creates a socket in the namespace of `there`, and returns to that of `here`. */
static int socket_in(int there, int here, int flags)
{
	if (there < 0 || here < 0 || setns(there, CLONE_NEWNET))
		return -1;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (setns(here, CLONE_NEWNET))
		abort(); /* it was ours a moment ago; in another namespace nothing else would work */
	return fd;
}

int share_socket(const struct hotspot *jvm, bool of_jvm, int flags)
{
	struct stat own, other;
	char path[64];

	if (!of_jvm)
		return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)jvm->pid);
	if (stat(path, &other) || stat(OWN_NET, &own) ||
		(own.st_dev == other.st_dev && own.st_ino == other.st_ino))
		return -1;
	int there = open(path, O_RDONLY | O_CLOEXEC), here = open(OWN_NET, O_RDONLY | O_CLOEXEC);
	int fd = socket_in(there, here, flags);

	if (there >= 0)
		close(there);
	if (here >= 0)
		close(here);
	return fd;
}

socklen_t share_address(const struct hotspot *jvm, struct sockaddr_un *at)
{
	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	int n = snprintf(at->sun_path + 1, sizeof(at->sun_path) - 1, "jhot-%llu-%d",
		(unsigned long long)jvm->start_ticks, (int)jvm->nspid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

bool share_trusts(int fd, const struct hotspot *jvm, pid_t *pid)
{
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		return false;
	*pid = peer.pid;
	return peer.uid == 0 || peer.uid == geteuid() || peer.uid == jvm->euid;
}
