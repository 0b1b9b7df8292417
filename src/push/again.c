/* SPDX-License-Identifier: Apache-2.0 */
/* Exponential back-off with jitter. */
#include "base/clock.h"
#include "push/push.h"

#define FIRST_NS    (1 * NS_PER_S)
#define MOST_NS     (300 * NS_PER_S)
#define RETRY_MOST  3600u /* s: a receiver cannot silence jhot for longer */
#define DOUBLE_MOST 16u

uint64_t push_wait_ns(unsigned failures, uint64_t retry_after_s, uint64_t random)
{
	unsigned doubles = failures > DOUBLE_MOST ? DOUBLE_MOST : failures ? failures - 1 : 0;
	uint64_t wait = FIRST_NS << doubles;

	if (wait > MOST_NS)
		wait = MOST_NS;
	wait = wait / 2 + random % (wait / 2 + 1);
	uint64_t least = (retry_after_s < RETRY_MOST ? retry_after_s : RETRY_MOST) * NS_PER_S;
	return wait > least ? wait : least;
}
