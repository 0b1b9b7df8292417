/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids of published traces, in an open-addressing hash table that a new epoch empties in O(1), and the states of
 * waiting threads, by the Java methods in which they wait.
 */
#include "sampler/publish/state.h"

#include "sampler/engine/wall.h"

#include <stddef.h>
#include <string.h>

/* --- ids --------------------------------------------------------------------------------------- */

#define KNOWN_PROBES 16u

/* The slot of the hash, or the one it can be inserted into; NULL when all probes are occupied. */
static const struct known *known_find(const struct known_traces *known, uint64_t hash)
{
	for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
		const struct known *k =
			&known->slots[((uint32_t)(hash >> 20) + i) & (KNOWN_SLOTS - 1)];

		if (k->epoch != known->epoch || k->hash == hash)
			return k;
	}
	return NULL;
}

uint32_t known_id(const struct known_traces *known, uint64_t hash)
{
	const struct known *k = known_find(known, hash);

	return k && k->epoch == known->epoch ? k->id : 0;
}

bool known_add(struct known_traces *known, uint64_t hash, uint32_t id)
{
	const struct known *k = known_find(known, hash);
	bool fits = k && known->used < KNOWN_SLOTS / 4 * 3;

	if (!fits)
		known_forget(known);
	k = known_find(known, hash);
	known->slots[k - known->slots] =
		(struct known){.hash = hash, .id = id, .epoch = known->epoch};
	known->used++;
	return fits;
}

void known_forget(struct known_traces *known)
{
	known->epoch++;
	known->used = 0;
}

/* --- states ------------------------------------------------------------------------------------ */

static const struct {
	const char *class_name, *name;
	enum wire_thread_state state;
} state_rows[] = {
	{"java/lang/Thread", "sleep", WIRE_STATE_SLEEPING},
	{"java/lang/Thread", "sleep0", WIRE_STATE_SLEEPING},
	{"java/lang/Thread", "sleepNanos0", WIRE_STATE_SLEEPING},
	{"java/lang/Object", "wait", WIRE_STATE_WAITING},
	{"java/lang/Object", "wait0", WIRE_STATE_WAITING},
	{"jdk/internal/misc/Unsafe", "park", WIRE_STATE_PARKED},
	{"sun/misc/Unsafe", "park", WIRE_STATE_PARKED},
	/* virtual threads, whose innermost frames are always the same */
	{"java/lang/VirtualThread", "sleepNanos", WIRE_STATE_SLEEPING},
	{"java/util/concurrent/locks/LockSupport", "park", WIRE_STATE_PARKED},
	{"java/util/concurrent/locks/LockSupport", "parkNanos", WIRE_STATE_PARKED},
	{"java/util/concurrent/locks/LockSupport", "parkUntil", WIRE_STATE_PARKED},
	{"sun/nio/ch/Poller", "poll", WIRE_STATE_IO},
};

#define VIRTUAL_FRAMES 16u /* innermost Java frames to check of a virtual thread */

static bool text_is(const char *text, uint16_t bytes, const char *what)
{
	return strlen(what) == bytes && !memcmp(text, what, bytes);
}

void states_method(struct states *states, const struct names_entry *m)
{
	for (size_t i = 0; i < sizeof(state_rows) / sizeof(state_rows[0]); i++) {
		uint32_t at = states->used % STATES_IDS;

		if (!text_is(m->name, m->name_bytes, state_rows[i].name) ||
			!text_is(m->class_name, m->class_bytes, state_rows[i].class_name))
			continue;
		states->ids[at].method = m->id;
		states->ids[at].state = state_rows[i].state;
		states->used++;
		return;
	}
}

/*
 * Classifies by the innermost Java frame; without one, or if it is not in the table, the state is sleeping. A virtual
 * thread always parks; the operation it waits for is a few frames further out.
 */
static enum wire_thread_state state_of(const struct states *states, const struct trace_key *key)
{
	uint32_t at = 0;
	enum wire_thread_state found = WIRE_STATE_NONE;

	while (at < key->count && !WIRE_FRAME_IS_JAVA(WIRE_FRAME_KIND(key->frames[at])))
		at++;
	uint32_t until = at + (WIRE_IS_VIRTUAL(key->thread) ? VIRTUAL_FRAMES : 1);
	for (; at < key->count && at < until && found != WIRE_STATE_IO; at++) {
		enum wire_thread_state state = WIRE_STATE_NONE;

		for (uint32_t i = 0; i < STATES_IDS && state == WIRE_STATE_NONE; i++)
			if (states->ids[i].method == WIRE_FRAME_METHOD(key->frames[at]))
				state = states->ids[i].state;
		if (found == WIRE_STATE_NONE || state == WIRE_STATE_IO)
			found = state;
	}
	return found == WIRE_STATE_NONE ? WIRE_STATE_SLEEPING : found;
}

uint16_t states_flags(const struct states *states, const struct trace_key *key)
{
	uint16_t others = (uint16_t)(key->flags & ~WIRE_TRACE_IN_STATE(15));

	if (WIRE_TRACE_STATE(key->flags) != WALL_IN_FUTEX)
		return key->flags;
	return (uint16_t)(others | WIRE_TRACE_IN_STATE(state_of(states, key)));
}
