/* SPDX-License-Identifier: Apache-2.0 */
/* The child's side: parsing, and the loop that answers requests. Blocks on its socket and on files. One thread. */
#ifndef JHOT_SYMBOLS_CHILD_SERVE_H
#define JHOT_SYMBOLS_CHILD_SERVE_H

#include "base/buf.h"
#include "symbols/child/protocol.h"

/* A reply to be sent. */
struct child_answer {
	struct child_reply head;
	struct buf parts[CHILD_PARTS];
};

/* Parses a file in this process. fd -1: the vDSO; debug_fd -1: none. The caller frees the answer with child_answer_done. */
void child_answer(uint32_t op, int fd, int debug_fd, struct child_answer *out);
void child_answer_done(struct child_answer *a);

/* Drops all privileges, then answers requests until the socket is closed. Closes the descriptors of each request. */
void child_serve(int socket, void (*before)(int fd));

/*
 * Confines this process to reading its descriptors and those that it is sent, replying on the socket, and allocating memory. Closes
 * every descriptor but the socket. Steps that the kernel does not support (seccomp) are skipped.
 */
void child_confine(int socket);

#endif
