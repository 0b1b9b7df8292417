/* SPDX-License-Identifier: Apache-2.0 */
/* Walks each thread to frames that point into the JVM; only the first thread of a group has its frames named. */
#include "dump/parked.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "walk/frames/unmounted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH   2048
#define TIME_NS (5 * NS_PER_S) /* threads after that are only counted */
#define CLASS   256

struct parked {
	const struct walk_layout *layout;
	struct remote *remote;
	struct stack_namer *namer;
	struct java_reader *reader;
	struct dump *out;
	struct unmounted java;
	struct hash_index index; /* groups by hash_of */
	uint64_t *hashes;        /* hashes of the groups */
	struct walk_frame *frames;
	uint64_t began_ns;
};

struct group_key {
	const struct parked *p;
	uint64_t hash;
};

static bool group_same(const void *ctx, uint32_t group)
{
	const struct group_key *k = ctx;

	return k->p->hashes[group] == k->hash;
}

static const char *state_name(const struct unmounted_thread *thread)
{
	switch (thread->state) {
	case UNMOUNTED_READY: return "ready, waiting for a carrier";
	case UNMOUNTED_ENTERS: return "waiting to enter a monitor";
	case UNMOUNTED_WAITS:
		return thread->timed ? "in Object.wait, for a time" : "in Object.wait";
	default: return thread->timed ? "parked, for a time" : "parked";
	}
}

static char *class_name(const struct parked *p, uint64_t klass)
{
	char name[CLASS];

	name[oop_klass_name(p->layout, remote_mem(p->remote), klass, name, sizeof(name) - 1)] =
		'\0';
	return java_class_text(name);
}

/* The group with this hash; creates it if necessary. */
static struct dump_group *group_of(struct parked *p, const struct unmounted_thread *thread,
	uint64_t klass, uint32_t frames, uint64_t hash)
{
	struct group_key key = {p, hash};
	uint32_t at = hash_index_find(&p->index, hash, group_same, &key);
	struct dump *d = p->out;

	if (at != HASH_NONE)
		return &d->groups[at];
	at = d->group_count++;
	d->groups = xreallocarray(d->groups, d->group_count, sizeof(*d->groups));
	p->hashes = xreallocarray(p->hashes, d->group_count, sizeof(*p->hashes));
	p->hashes[at] = hash;
	hash_index_add(&p->index, hash, at);
	struct dump_group *g = &d->groups[at];
	memset(g, 0, sizeof(*g));
	g->state = state_name(thread);
	g->class_name = class_name(p, klass);
	stack_add(p->namer, remote_mem(p->remote), p->frames, frames, &g->stack);
	return g;
}

/* Stores name and id of the group's first DUMP_NAMES threads. */
static void group_add_name(
	struct parked *p, struct dump_group *g, const struct unmounted_thread *thread)
{
	if (g->named == DUMP_NAMES)
		return;
	struct dump_name *to = &g->names[g->named++];
	to->id = (int64_t)thread->number;
	if (p->reader)
		java_read_text(p->reader,
			oop_field(&p->java.mode, p->layout, remote_mem(p->remote),
				thread->object + unmounted_name_at(&p->java)),
			to->name, sizeof(to->name));
}

/* Ignores the types of frames: threads belong together whether or not a method was compiled when they blocked. */
static uint64_t hash_of(const struct unmounted_thread *thread, uint64_t klass,
	const struct walk_frame *frames, uint32_t count)
{
	uint64_t hash = hash_pair(hash_pair(thread->state, thread->timed), klass);

	for (uint32_t i = 0; i < count; i++)
		hash = hash_pair(hash, hash_pair(frames[i].value, frames[i].bci));
	return hash;
}

/* Forgets cached pages before each thread and before verifying that it is still unmounted, so that reads are fresh. */
static void parked_thread(void *ctx, const struct unmounted_thread *thread)
{
	struct parked *p = ctx;
	const struct walk_mem *mem = remote_mem(p->remote);
	struct walk_thread unmounted = {.rows = NULL};
	struct frozen where;

	p->out->parked += thread->multiplicity;
	if (clock_mono_ns() - p->began_ns > TIME_NS)
		return;
	remote_forget(p->remote);
	if (!unmounted_frozen(&p->java, thread, &where))
		return;
	uint64_t sp = frozen_sp(mem, &where);
	struct walk_result walked =
		walk_frozen(p->layout, mem, &unmounted, &where, p->frames, DEPTH);
	uint64_t klass =
		thread->state == UNMOUNTED_PARKED ? unmounted_blocker(&p->java, thread).klass : 0;
	remote_forget(p->remote);
	if (!walked.count || !unmounted_still(&p->java, thread, &where, sp))
		return;
	struct dump_group *g = group_of(
		p, thread, klass, walked.count, hash_of(thread, klass, p->frames, walked.count));
	g->count += thread->multiplicity;
	g->stack.truncated |= walked.truncated;
	p->out->parked_scans++;
	group_add_name(p, g, thread);
}

static int by_count(const void *a, const void *b)
{
	const struct dump_group *x = a, *y = b;

	return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->state, y->state);
}

void parked_capture(const struct walk_layout *layout, struct remote *remote,
	struct stack_namer *namer, struct java_reader *reader, struct dump *out)
{
	struct parked p = {.layout = layout,
		.remote = remote,
		.namer = namer,
		.reader = reader,
		.out = out,
		.began_ns = clock_mono_ns()};
	struct unmounted_pick pick = {.random = p.began_ns, .places = PARKED_SCANS};
	const char *why;

	if (!layout || layout->jdk < 21)
		return;
	remote_forget(remote);
	if (!unmounted_open(&p.java, layout, remote_mem(remote), &why)) {
		if (!out->note[0])
			snprintf(out->note, sizeof(out->note),
				"virtual threads without a carrier are not shown: %s", why);
		return;
	}
	if (unmounted_untracked(&p.java) && !out->note[0])
		snprintf(out->note, sizeof(out->note),
			"virtual threads without a carrier that are in no executor are not shown: "
			"jdk.trackAllThreads is false");
	p.frames = xcalloc(DEPTH, sizeof(*p.frames));
	unmounted_each(&p.java, &pick, parked_thread, &p);
	if (out->group_count)
		qsort(out->groups, out->group_count, sizeof(*out->groups), by_count);
	hash_index_done(&p.index);
	free(p.hashes);
	free(p.frames);
}
