/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Borrowed perf_events: the front end opens them on the JVM's threads for an agent that may not, and passes the descriptors
 * to it.
 *
 *   front end: WIRE_OP_LEND          agent: creates a socket pair; the result is the descriptor number of one end
 *   front end: pidfd_getfd(number)   then sends datagrams of struct wire_lend, with `count` descriptors each
 *
 * The front end needs no name of a file or socket, so the JVM's namespaces do not matter. The agent owns the descriptors and
 * closes all of them when the session ends; a front end that dies leaves nothing open elsewhere.
 */
#ifndef JHOT_WIRE_LEND_H
#define JHOT_WIRE_LEND_H

#include <stdint.h>

#define WIRE_LEND_MAX 32u /* an eighth of the kernel's limit per message */

struct wire_lend {
	uint32_t count;              /* 1..WIRE_LEND_MAX */
	int32_t tids[WIRE_LEND_MAX]; /* thread of each descriptor, in the JVM's PID namespace */
};

_Static_assert(sizeof(struct wire_lend) == 4 + 4 * WIRE_LEND_MAX, "wire_lend");

#endif
