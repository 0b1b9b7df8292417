/* SPDX-License-Identifier: Apache-2.0 */
/* The rooms of sessions, as handlers see them. */
#include "sampler/signal/signal.h"

struct sig_room sig_rooms[SIG_ROOMS];
_Atomic uint32_t sig_room_now;

struct sampler *sig_session(void)
{
	return atomic_load(&sig_rooms[atomic_load(&sig_room_now)].session);
}

/*
 * Who comes counts on one side. The other side gets nobody new, but for some who had read which side it is before
 * the sides were changed, and these have read nothing else yet. So first the side that is out of use must be empty,
 * of all who were there before the last change; then the sides change, and the other one must become empty as well.
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
