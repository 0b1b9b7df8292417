/* SPDX-License-Identifier: Apache-2.0 */
/* The session that handlers serve, and how many of them are at it. */
#include "sampler/sig.h"

#include "sampler/raw.h"

_Atomic(struct sampler *) sig_current;
_Atomic uint32_t sig_inside;

void sig_drain(void)
{
	struct timespec pause = {0, 1000000};

	while (atomic_load(&sig_inside))
		raw(SYS_nanosleep, &pause);
}
