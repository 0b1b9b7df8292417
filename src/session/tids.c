/* SPDX-License-Identifier: Apache-2.0 */
/* The last field of "NSpid:" in /proc/PID/task/TID/status is what the target calls that thread. */
#include "session/tids.h"

#include "attach/proc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIDS_COST 50 /* of the time, 1/50 may go into looking */

struct tids_pair {
	int here, there;
};

struct tids {
	pid_t pid;
	struct tids_pair *pairs;
	struct hash_index index; /* by there */
	uint32_t count, cap;
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
	free(t->pairs);
	hash_index_done(&t->index);
	free(t);
}

static int tids_there(pid_t pid, pid_t tid)
{
	char file[64];
	struct buf text = {0};
	int there = 0;
	char *line, *end;

	snprintf(file, sizeof(file), "task/%d/status", (int)tid);
	line = proc_read(pid, file, &text) ? NULL : strstr(buf_str(&text), "\nNSpid:");
	if (line) {
		line++;
		end = line + strcspn(line, "\n");
		*end = '\0';
		there = atoi(line + (strrchr(line, '\t') ? strrchr(line, '\t') - line : 0));
	}
	buf_done(&text);
	return there;
}

static void tids_add(void *ctx, pid_t tid)
{
	struct tids *t = ctx;

	if (t->count == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 128;
		t->pairs = xreallocarray(t->pairs, t->cap, sizeof(*t->pairs));
	}
	t->pairs[t->count] = (struct tids_pair){tid, tids_there(t->pid, tid)};
	hash_index_add(&t->index, hash_u64((uint64_t)t->pairs[t->count].there), t->count);
	t->count++;
}

struct tids_key {
	const struct tids *t;
	int there;
};

static bool tids_same(const void *ctx, uint32_t value)
{
	const struct tids_key *key = ctx;

	return key->t->pairs[value].there == key->there;
}

static int tids_find(const struct tids *t, int there)
{
	struct tids_key key = {t, there};
	uint32_t i = hash_index_find(&t->index, hash_u64((uint64_t)there), tids_same, &key);

	return i == HASH_NONE ? 0 : t->pairs[i].here;
}

int tids_here(void *tids, int there)
{
	struct tids *t = tids;
	int here = tids_find(t, there);
	uint64_t now_ns = clock_mono_ns();

	if (here || now_ns < t->due_ns)
		return here;
	t->count = 0;
	hash_index_clear(&t->index);
	proc_threads(t->pid, tids_add, t);
	t->due_ns = now_ns + (clock_mono_ns() - now_ns) * TIDS_COST;
	return tids_find(t, there);
}
