/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates thread ids of a target in another PID namespace to ours, by NSpid of each of its threads. All threads are re-read
 * when an unknown one is requested, rate-limited by the cost.
 */
#include "attach/proc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "session/record/reader.h"

#include <stdlib.h>

#define TIDS_COST 50 /* at most 1/50 of the time is spent on reading */

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
