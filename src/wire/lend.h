/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_events that the front end has opened on the JVM's threads and lends to an agent that may not open them.
 *
 *   front end: WIRE_OP_LEND          agent: a pair of sockets of its own; the answer is the number of one of them
 *   front end: pidfd_getfd(number)   from then on it sends datagrams of struct wire_lend, `count` descriptors with each
 *
 * So nothing is named: no file, no address, in whatever namespaces the JVM is. The agent closes all of it when the
 * session ends; a front end that dies leaves nothing that is open elsewhere.
 */
#ifndef JHOT_WIRE_LEND_H
#define JHOT_WIRE_LEND_H

#include <stdint.h>

#define WIRE_LEND_MAX 32u /* an eighth of what the kernel hands over at once */

struct wire_lend {
	uint32_t count;              /* 1..WIRE_LEND_MAX */
	int32_t tids[WIRE_LEND_MAX]; /* whose each is, as the JVM numbers its threads */
};

_Static_assert(sizeof(struct wire_lend) == 4 + 4 * WIRE_LEND_MAX, "wire_lend");

#endif
