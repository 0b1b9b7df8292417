/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes open descriptors of this process in words: the object that a thread waits for in a system call on one.
 * Agent threads only; at most a dozen system calls, none of which contacts another machine.
 *
 * A text is the operation and, after a tab, the peer: "socket read\t10.0.0.5:5432", "accept\t:8080", "pipe write",
 * "file read\t/var/log/x". Clients that this process serves are not listed by address, since every client has another
 * one: "socket read\tclients of :8080". A thread in epoll waits for all sockets registered there; a peer is shown only
 * if all of them share it: "epoll of 3 sockets\t10.0.0.5:5432"; just "epoll" if there are none, or if the process may
 * have too many descriptors to query.
 */
#ifndef JHOT_SAMPLER_DESCRIPTOR_H
#define JHOT_SAMPLER_DESCRIPTOR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define DESCRIPTOR_TEXT       192 /* longer paths lose their beginning */

#define DESCRIPTOR_EPOLLS     16u
#define DESCRIPTOR_EPOLL_TEXT 96u

union descriptor_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un un;
	char bytes[128];
};

/* One end of a socket; bytes 0: unknown. */
struct descriptor_end {
	union descriptor_address at;
	uint32_t bytes;
};

/*
 * Cache for deciding which end of a connection is this process's service. Used by one thread; zero-initialized except
 * for `run`, in memory that outlives late calls (see run).
 */
#define DESCRIPTOR_PORTS 32u
struct descriptor_ports {
	/*
	 * Runs function(ctx) on a thread that shares the program's descriptor table, which the caller may not share.
	 * ctx points into this struct. False: function may still be running; no further call is made. NULL: function
	 * runs on the calling thread.
	 */
	bool (*run)(void *runner, void (*function)(void *ctx), void *ctx);
	void *runner;
	struct descriptor_query { /* a query about the socket `fd`, and its result */
		int32_t fd;
		bool listens, datagrams, connects;
		struct descriptor_end own, peer;
		/* Listening ports of all descriptors. */
		uint16_t listening[DESCRIPTOR_PORTS];
		uint32_t found;
	} query;
	uint16_t listening[DESCRIPTOR_PORTS]; /* ring of the listening ports seen last */
	uint32_t count;
	uint16_t first, last; /* range of ephemeral client ports; last 0: not read yet */
	/* Cached text of an epoll, refreshed once a second; indexed by descriptor modulo DESCRIPTOR_EPOLLS. */
	struct descriptor_epoll {
		int32_t fd;
		uint64_t asked_ns; /* 0: never */
		char text[DESCRIPTOR_EPOLL_TEXT];
	} epolls[DESCRIPTOR_EPOLLS];
};

/*
 * Identity of an open file: two calls for the same file give equal results. False: not open, or statx is not available.
 */
struct descriptor_file {
	uint64_t device, inode;
	uint32_t mode; /* as in stat(2) */
};
bool descriptor_file(int32_t fd, struct descriptor_file *out);

/*
 * Writes the text for a call on this descriptor; verb is "read", "write", "sync" and the like. Returns its length in
 * bytes.
 */
struct descriptor_call {
	int32_t fd;
	const char *verb;
};
size_t descriptor_text(struct descriptor_ports *ports, const struct descriptor_call *call,
	const struct descriptor_file *file, char out[DESCRIPTOR_TEXT]);

#endif
