/* SPDX-License-Identifier: Apache-2.0 */
/* Thread ids: of the agent to the model's, and of a target in another PID namespace to ours. */
#include "session/record/reader.h"

#include "attach/proc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "wire/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_ID      UINT32_MAX
#define SHARED     256u
#define TIDS_COST  50          /* at most 1/50 of the time is spent on reading */
#define PATTERN_ID 0x40000000u /* or'ed with a hash of the pattern: the agent's ids are smaller */

/* An array indexed by the model's id, and a hash index from the agent's. */
struct thread_ids {
	struct profile *profile;
	struct hash_index index;
	uint32_t *ids; /* the agent's ids, by the model's */
	uint32_t cap;
	uint32_t virtuals, patterns; /* how many of the ids are of virtual threads, of patterns */
	/* A cache for virtual threads that share an id; each is announced right before each of its traces. */
	struct {
		uint32_t id, thread;
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
		return t->shared[id % SHARED].thread;
	}
	i = profile_thread_new(t->profile);
	if (i >= t->cap) {
		uint32_t cap = i + i / 2 + 256;

		t->ids = xreallocarray(t->ids, cap, sizeof(*t->ids));
		memset(t->ids + t->cap, 0xff, (cap - t->cap) * sizeof(*t->ids));
		t->cap = cap;
	}
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
	bool known;

	profile_name_pattern(name, pattern);
	if (t->patterns >= THREAD_IDS_PATTERNS)
		snprintf(pattern, sizeof(pattern), "virtual-*");
	uint32_t thread = thread_ids_get(t,
		PATTERN_ID | ((uint32_t)hash_bytes(pattern, strlen(pattern), 0) & (PATTERN_ID - 1)),
		&known);
	if (!known)
		profile_thread_set(t->profile, thread,
			&(struct profile_thread){.kind = THREAD_VIRTUAL, .name = pattern});
	return thread;
}

uint32_t thread_ids_virtual(struct thread_ids *t, uint32_t id, const struct profile_thread *info,
	bool *known, bool *shared)
{
	uint32_t thread = hash_index_find(&t->index, hash_u64(id), NULL, NULL);

	*shared = thread == HASH_NONE && t->virtuals >= THREAD_IDS_VIRTUAL;
	if (!*shared)
		return thread_ids_get(t, id, known);
	*known = true;
	thread = thread_ids_pattern(t, info->name);
	t->shared[id % SHARED].id = id;
	t->shared[id % SHARED].thread = thread;
	return thread;
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

/* --- PID namespaces ---------------------------------------------------------------------------------- */

struct tids {
	pid_t pid;
	struct hash_index index; /* from their ids to ours */
	uint64_t due_ns;
};

struct tids *tids_new(pid_t pid)
{
	struct tids *t = xcalloc(1, sizeof(*t));

	t->pid = pid;
	return t;
}

void tids_free(struct tids *t)
{
	if (!t)
		return;
	hash_index_done(&t->index);
	free(t);
}

static void tids_add(void *ctx, pid_t tid)
{
	struct proc_status status;

	if (!proc_status(tid, &status))
		hash_index_add(&((struct tids *)ctx)->index, hash_u64((uint64_t)status.nspid),
			(uint32_t)tid);
}

static int tids_find(const struct tids *t, int there)
{
	uint32_t here = hash_index_find(&t->index, hash_u64((uint64_t)there), NULL, NULL);

	return here == HASH_NONE ? 0 : (int)here;
}

int tids_here(struct tids *t, int there)
{
	int here = t ? tids_find(t, there) : there;
	uint64_t now_ns = clock_mono_ns();

	if (!t || here || now_ns < t->due_ns)
		return here;
	hash_index_clear(&t->index);
	proc_threads(t->pid, tids_add, t);
	t->due_ns = now_ns + (clock_mono_ns() - now_ns) * TIDS_COST;
	return tids_find(t, there);
}

/* --- names cut by HotSpot ------------------------------------------------------------------------------ */

/*
 * Names of HotSpot's own threads as truncated to 15 characters, up to JDK 25 at the end and since JDK 26 in the middle, and
 * their full names. A number after the truncated name is kept.
 */
static const struct {
	const char *cut, *whole;
} cut_names[] = {
	{"C1 CompilerThre", "C1 CompilerThread"},
	{"C1 Comp..hread", "C1 CompilerThread"},
	{"C1 Comp..read", "C1 CompilerThread"}, /* with a number of two digits */
	{"C2 CompilerThre", "C2 CompilerThread"},
	{"C2 Comp..hread", "C2 CompilerThread"},
	{"C2 Comp..read", "C2 CompilerThread"},
	{"VM Periodic Tas", "VM Periodic Task Thread"},
	{"VM Peri..Thread", "VM Periodic Task Thread"},
};

void thread_name_complete(struct buf *name)
{
	char number[32];

	for (size_t i = 0; i < sizeof(cut_names) / sizeof(cut_names[0]); i++) {
		size_t length = strlen(cut_names[i].cut);

		if (strncmp(buf_str(name), cut_names[i].cut, length) != 0)
			continue;
		snprintf(number, sizeof(number), "%s", buf_str(name) + length);
		if (strspn(number, "0123456789") != strlen(number))
			return;
		buf_clear(name);
		buf_printf(name, "%s%s", cut_names[i].whole, number);
		return;
	}
}
