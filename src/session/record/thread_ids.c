/* SPDX-License-Identifier: Apache-2.0 */
/* An array indexed by the model's id, and a hash index from the agent's. */
#include "session/record/reader.h"

#include "base/buf.h"
#include "base/hash.h"
#include "wire/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_ID      UINT32_MAX
#define SHARED     256u
#define PATTERN_ID 0x40000000u /* or'ed with a hash of the pattern: the agent's ids are smaller */

struct thread_ids {
	struct profile *profile;
	struct hash_index index;
	uint32_t *ids; /* the agent's ids, by the model's */
	uint32_t cap;
	uint32_t virtuals, patterns; /* how many of the ids are of virtual threads, of patterns */
	/* A cache for virtual threads that share an id; each is announced right before each of its traces. */
	struct {
		uint32_t id, number;
	} shared[SHARED];
};

struct thread_ids *thread_ids_new(struct profile *profile)
{
	struct thread_ids *t = xcalloc(1, sizeof(*t));

	t->profile = profile;
	return t;
}

void thread_ids_free(struct thread_ids *t)
{
	hash_index_done(&t->index);
	free(t->ids);
	free(t);
}

static void thread_ids_fit(struct thread_ids *t, uint32_t number)
{
	uint32_t cap = number + number / 2 + 256;

	if (number < t->cap)
		return;
	t->ids = xreallocarray(t->ids, cap, sizeof(*t->ids));
	memset(t->ids + t->cap, 0xff, (cap - t->cap) * sizeof(*t->ids));
	t->cap = cap;
}

static void thread_ids_count(struct thread_ids *t, uint32_t id)
{
	t->virtuals += WIRE_IS_VIRTUAL(id);
	t->patterns += !WIRE_IS_VIRTUAL(id) && id & PATTERN_ID;
}

uint32_t thread_ids_get(struct thread_ids *t, uint32_t id, bool *known)
{
	uint32_t i = hash_index_find(&t->index, hash_u64(id), NULL, NULL);

	*known = i != HASH_NONE;
	if (*known)
		return i;
	if (WIRE_IS_VIRTUAL(id) && t->shared[id % SHARED].id == id) {
		*known = true;
		return t->shared[id % SHARED].number;
	}
	i = profile_thread_new(t->profile);
	thread_ids_fit(t, i);
	if (t->ids[i] != NO_ID)
		return i; /* the model is full: all further threads share this one */
	t->ids[i] = id;
	thread_ids_count(t, id);
	hash_index_add(&t->index, hash_u64(id), i);
	return i;
}

/* The thread shared by all of this pattern; beyond THREAD_IDS_PATTERNS, one for all. */
static uint32_t thread_ids_pattern(struct thread_ids *t, const char *name)
{
	char pattern[PROFILE_PATTERN];
	uint32_t number;
	bool known;

	profile_name_pattern(name, pattern);
	if (t->patterns >= THREAD_IDS_PATTERNS)
		snprintf(pattern, sizeof(pattern), "virtual-*");
	number = thread_ids_get(t,
		PATTERN_ID | ((uint32_t)hash_bytes(pattern, strlen(pattern), 0) & (PATTERN_ID - 1)),
		&known);
	if (!known)
		profile_thread_set(t->profile, number,
			&(struct profile_thread){.kind = THREAD_VIRTUAL, .name = pattern});
	return number;
}

uint32_t thread_ids_virtual(struct thread_ids *t, uint32_t id, const struct profile_thread *thread,
	bool *known, bool *shared)
{
	uint32_t number = hash_index_find(&t->index, hash_u64(id), NULL, NULL);

	*shared = number == HASH_NONE && t->virtuals >= THREAD_IDS_VIRTUAL;
	if (!*shared)
		return thread_ids_get(t, id, known);
	*known = true;
	number = thread_ids_pattern(t, thread->name);
	t->shared[id % SHARED].id = id;
	t->shared[id % SHARED].number = number;
	return number;
}

void thread_ids_forget(struct thread_ids *t)
{
	hash_index_clear(&t->index);
	memset(t->shared, 0, sizeof(t->shared));
	t->virtuals = t->patterns = 0;
	for (uint32_t i = 0; i < t->cap; i++) {
		if (!profile_is_pinned(t->profile, i))
			t->ids[i] = NO_ID;
		if (t->ids[i] == NO_ID)
			continue;
		thread_ids_count(t, t->ids[i]);
		hash_index_add(&t->index, hash_u64(t->ids[i]), i);
	}
}
