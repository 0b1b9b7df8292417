/* SPDX-License-Identifier: Apache-2.0 */
/* The child's side. */
#ifndef JHOT_SYMBOLS_CHILD_SERVE_H
#define JHOT_SYMBOLS_CHILD_SERVE_H

#include "base/buf.h"
#include "symbols/child/protocol.h"

/* A reply before it is sent. */
struct child_answer {
	struct child_reply head;
	struct buf parts[CHILD_PARTS];
};

/* child_answer: parses the file, in this process; for fuzzers, too. fd -1: the vDSO; debug_fd -1: none. */
void child_answer(uint32_t op, int fd, int debug_fd, struct child_answer *out);
void child_answer_done(struct child_answer *a);

/* child_serve: gives up all privileges, then answers requests until the socket is closed. Leaks no descriptor of a request. */
void child_serve(int socket, void (*before)(int fd));

/*
 * child_confine: from here on this process can read the descriptors it has or is sent, answer on the socket and use memory,
 * and nothing else. Closes every descriptor but the socket. What the kernel does not offer (seccomp) is left out.
 */
void child_confine(int socket);

#endif
