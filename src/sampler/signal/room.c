/* SPDX-License-Identifier: Apache-2.0 */
/* Session epochs, as seen by handlers. */
#include "sampler/signal/signal.h"

struct sig_room sig_rooms[SIG_ROOMS];
_Atomic uint32_t sig_room_now;

struct sampler *sig_session(void)
{
	return atomic_load(&sig_rooms[atomic_load(&sig_room_now)].session);
}

/*
 * Threads that enter are counted on the current side. The other side gains no one, except threads that read the index
 * before the sides were switched, and these have read nothing else yet. So first the inactive side must drain of
 * everyone counted before the last switch; then the sides are switched, and the other one must drain as well.
 */
bool sig_passed(struct sampler *s, uint32_t *step)
{
	struct sig_room *room = &sig_rooms[s->room];
	uint32_t side = atomic_load(&room->side);

	for (; *step < 2; ++*step, side ^= 1) {
		if (atomic_load(&room->inside[side ^ 1]))
			return false;
		if (*step == 0)
			atomic_store(&room->side, side ^ 1);
	}
	*step = 0;
	return true;
}
