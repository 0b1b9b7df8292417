/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open descriptors of this process in words, by the kernel's own answers: what a thread waits for that is in a system
 * call on one. For agent threads; a dozen system calls at most, none of which asks another machine.
 *
 * A text is what it does and, behind a tab, with whom: "socket read\t10.0.0.5:5432", "accept\t:8080", "pipe write",
 * "file read\t/var/log/x". A client that this process serves is not told by its address, which is another one for
 * each: "socket read\tclients of :8080". Who waits in epoll waits for all sockets that are registered there, and has a
 * peer only if all have the same: "epoll of 3 sockets\t10.0.0.5:5432".
 */
#ifndef JHOT_SAMPLER_DESCRIPTOR_H
#define JHOT_SAMPLER_DESCRIPTOR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define DESCRIPTOR_TEXT       192 /* longer paths lack their beginning */

#define DESCRIPTOR_EPOLLS     16u
#define DESCRIPTOR_EPOLL_TEXT 96u

union descriptor_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un un;
	char bytes[128];
};

/* One end of a socket; bytes 0: not known. */
struct descriptor_end {
	union descriptor_address at;
	uint32_t bytes;
};

/*
 * What is known from before: which end of a connection is this process's service. For one thread; zero-initialised but for
 * `run`, and in memory that lasts: see there.
 */
#define DESCRIPTOR_PORTS 32u
struct descriptor_ports {
	/*
	 * Runs function(ctx) on a thread that shares the program's table of descriptors, since the calling one may not. ctx
	 * points into this struct. false: it may still be running, and will not be called again. NULL: on this thread.
	 */
	bool (*run)(void *runner, void (*function)(void *ctx), void *ctx);
	void *runner;
	struct descriptor_question { /* about the socket `fd`, and the answer */
		int32_t fd;
		bool listens, datagrams, connects;
		struct descriptor_end own, peer;
		uint16_t listening[DESCRIPTOR_PORTS]; /* of all descriptors: ports that accept */
		uint32_t found;
	} question;
	uint16_t listening[DESCRIPTOR_PORTS]; /* ports that were seen to accept, the last ones */
	uint32_t count;
	uint16_t first, last; /* what the kernel gives to clients; last 0: not asked yet */
	/* What an epoll has, asked once a second: by its descriptor, modulo. */
	struct descriptor_epoll {
		int32_t fd;
		uint64_t asked_ns; /* 0: never */
		char text[DESCRIPTOR_EPOLL_TEXT];
	} epolls[DESCRIPTOR_EPOLLS];
};

/* Which file it is: equal for two looks at the same one. false: it is not open, or this Linux does not tell. */
struct descriptor_file {
	uint64_t device, inode;
	uint32_t mode; /* as in stat(2) */
};
bool descriptor_file(int32_t fd, struct descriptor_file *out);

/* The text for a call on this descriptor: verb "read", "write", "sync" and the like. Returns its length. */
struct descriptor_call {
	int32_t fd;
	const char *verb;
};
size_t descriptor_text(struct descriptor_ports *ports, const struct descriptor_call *call,
	const struct descriptor_file *file, char out[DESCRIPTOR_TEXT]);

/* descriptor_epoll.c: of an epoll: "epoll of 3 sockets\t10.0.0.5:5432"; "epoll" where there are none, or too many. */
struct text;
void descriptor_epoll(struct descriptor_ports *ports, int32_t fd, struct text *out);

#endif
