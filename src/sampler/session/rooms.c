/* SPDX-License-Identifier: Apache-2.0 */
/* Assigning, draining and clearing the sig_rooms of session epochs. */
#include "sampler/session/rooms.h"

#include "base/clock.h"
#include "sampler/session/memory.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#define LOOK_NS 500000

/* Sessions whose sig_room was not empty at their end, by its index. */
static _Atomic(struct sampler *) rooms_buried[SIG_ROOMS];
static _Atomic uint64_t rooms_kept_bytes;

static bool room_empty(const struct sig_room *room)
{
	return !atomic_load(&room->inside[0]) && !atomic_load(&room->inside[1]);
}

static void room_bury(uint32_t number, struct sampler *s)
{
	atomic_fetch_add(&rooms_kept_bytes, s->memory_bytes);
	s = atomic_exchange(&rooms_buried[number], s);
	(void)s; /* an earlier one there stays mapped for good, and is counted */
}

static void room_clear(uint32_t number)
{
	struct sampler *s = atomic_exchange(&rooms_buried[number], NULL);

	if (!s)
		return;
	atomic_fetch_sub(&rooms_kept_bytes, s->memory_bytes);
	sampler_free(s);
}

bool rooms_take(struct sampler *s)
{
	bool found = false;

	for (uint32_t i = 0; i < SIG_ROOMS; i++) {
		struct sig_room *room = &sig_rooms[i];

		if (atomic_load(&room->session) || !room_empty(room))
			continue;
		room_clear(i);
		s->room = found ? s->room : i;
		found = true;
	}
	return found;
}

void rooms_open(struct sampler *s)
{
	atomic_store(&sig_rooms[s->room].session, s);
	atomic_store(&sig_room_now, s->room);
}

void rooms_close(struct sampler *s)
{
	atomic_store(&sig_rooms[s->room].session, NULL);
}

bool rooms_drain(struct sampler *s, uint64_t ns)
{
	uint64_t end = clock_mono_ns() + ns;

	while (!(s->drained = room_empty(&sig_rooms[s->room])) && clock_mono_ns() < end)
		raw_sleep(LOOK_NS);
	return s->drained;
}

void rooms_let_go(struct sampler *s)
{
	if (atomic_fetch_sub(&s->references, 1) > 1)
		return;
	if (s->drained)
		sampler_free(s);
	else
		room_bury(s->room, s);
}

uint64_t rooms_kept(void)
{
	return atomic_load(&rooms_kept_bytes);
}
