/* SPDX-License-Identifier: Apache-2.0 */
/* The name of the socket, and whom to trust. */
#include "share/share.h"

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

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
