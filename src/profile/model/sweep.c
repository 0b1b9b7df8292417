/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nothing refers to any more leaves, so that memory is that of what lives, not of what ever did.
 *
 *   fold     pairs that no slice has, and that are little, become part of "[earlier]" below a caller that stays
 *   stacks, paths, frames, methods, threads, pools     each those that nothing in front of it has
 *
 * A step at a time, each by itself: between them everything is as ever. MODEL_SWEEP_S pass between two, in which all
 * that is on a screen is asked for anew, so that a number that becomes free is in no answer any more.
 */
#include "profile/model/model.h"
#include "profile/query/form.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#define SWEEP_BUDGET_PART 4      /* of the budget: what is less is not worth it */
#define SWEEP_LITTLE      16384u /* of an event's weight and count, one that much is little */

static void keep_begin(struct model_sweep *s, uint32_t numbers)
{
	s->room = numbers;
	s->keep = xreallocarray(s->keep, (size_t)numbers / 64 + 1, sizeof(*s->keep));
	memset(s->keep, 0, ((size_t)numbers / 64 + 1) * sizeof(*s->keep));
}

/* false: it was kept already. */
static bool keep_one(struct model_sweep *s, uint32_t number)
{
	uint64_t bit = 1ull << (number % 64);

	if (number >= s->room || s->keep[number / 64] & bit)
		return false;
	s->keep[number / 64] |= bit;
	return true;
}

static bool keep_has(const struct model_sweep *s, uint32_t number)
{
	return number < s->room && s->keep[number / 64] >> (number % 64) & 1;
}

void profile_keep(const struct profile *p, uint32_t number)
{
	keep_one(&p->scratch->sweep, number);
}

bool profile_keeps(const struct profile *p, uint32_t number)
{
	return keep_has(&p->scratch->sweep, number);
}

void profile_keeper_add(const struct profile *p, profile_keeper_fn *fn, void *ctx)
{
	struct model_sweep *s = &p->scratch->sweep;

	if (s->keeper_count == PROFILE_KEEPERS)
		return;
	s->keepers[s->keeper_count].fn = fn;
	s->keepers[s->keeper_count++].ctx = ctx;
}

void profile_keeper_remove(const struct profile *p, const void *ctx)
{
	struct model_sweep *s = &p->scratch->sweep;

	for (unsigned i = s->keeper_count; i-- > 0;)
		if (s->keepers[i].ctx == ctx)
			s->keepers[i] = s->keepers[--s->keeper_count];
}

static void keep_ask(struct model_sweep *s, enum profile_kind kind, bool leaving)
{
	for (unsigned i = 0; i < s->keeper_count; i++)
		s->keepers[i].fn(s->keepers[i].ctx, kind, leaving);
}

/* --- folding ----------------------------------------------------------------------------------------- */

static void keep_stack(const struct profile *p, struct model_sweep *s, uint32_t stack)
{
	while (stack < p->stacks.count && keep_one(s, stack))
		stack = p->stacks.nodes[stack].parent;
}

/* The pairs of an event that stay: in a slice, or much. */
static void keep_pairs(struct model_sweep *s, const struct slices *slices)
{
	keep_begin(s, slices->pair_count);
	for (uint32_t i = 0; i < slices->count; i++)
		for (uint32_t k = 0; k < slices->list[i].count; k++)
			keep_one(s, slices->list[i].entries[k].pair);
	for (uint32_t i = 0; i < slices->pair_count; i++) {
		const struct amount *sum = &slices->pairs[i].sum;

		if (sum->weight > slices->sum.weight / SWEEP_LITTLE ||
			sum->count > slices->sum.count / SWEEP_LITTLE)
			keep_one(s, i);
	}
}

static uint32_t earlier_below(
	struct profile *p, const struct model_sweep *stacks, uint32_t stack, uint32_t frame)
{
	while (stack != PROFILE_ROOT_STACK &&
		(!keep_has(stacks, stack) || p->stacks.nodes[stack].frame == frame))
		stack = p->stacks.nodes[stack].parent;
	return profile_stack_child(p, stack, frame);
}

static uint32_t thread_ended(struct profile *p)
{
	if (!p->threads.ended) {
		p->threads.ended = profile_thread_new(p);
		profile_thread_set(p, p->threads.ended,
			&(struct profile_thread){.java_tid = -1, .name = "[threads that ended]"});
	}
	return p->threads.ended;
}

/* Its pairs that do not stay, into what does. threads: those that stay. */
static void fold_event(struct profile *p, struct slices *slices, const struct model_sweep *threads)
{
	struct model_sweep pairs = {0}, stacks = {0};
	uint32_t method = profile_method(p, "", "[earlier]", "", "");
	uint32_t frame = profile_frame(p, method, FRAME_BREAK, 0xffff, 0);
	uint32_t count = slices->pair_count, into;

	keep_pairs(&pairs, slices);
	keep_begin(&stacks, p->stacks.count);
	for (uint32_t i = 0; i < count; i++)
		if (keep_has(&pairs, i))
			keep_stack(p, &stacks, slices->pairs[i].stack);
	for (uint32_t i = 0; i < count; i++) {
		struct slices_pair pair = slices->pairs[i];
		uint32_t thread = slices_thread(&pair);

		if (keep_has(&pairs, i) || vacant_has(&slices->vacant, i))
			continue;
		thread = keep_has(threads, thread) ? thread : thread_ended(p);
		into = slices_pair(slices, earlier_below(p, &stacks, pair.stack, frame),
			SLICES_WHO(thread, slices_state(&pair)));
		keep_one(&pairs, into);
		if (into == i)
			continue;
		slices_give(slices, i, into);
	}
	/* Those that came while folding are the last ones, or in numbers that were vacant. */
	pairs.keep =
		xreallocarray(pairs.keep, (size_t)slices->pair_count / 64 + 1, sizeof(*pairs.keep));
	for (uint32_t i = pairs.room; i < slices->pair_count; i++) {
		if (i == pairs.room || !(i % 64))
			pairs.keep[i / 64] &= (1ull << (i % 64)) - 1;
		pairs.keep[i / 64] |= 1ull << (i % 64);
	}
	if (count)
		slices_sweep(slices, pairs.keep);
	free(pairs.keep);
	free(stacks.keep);
}

static void sweep_fold(struct profile *p, struct model_sweep *s)
{
	keep_begin(s, p->threads.count);
	keep_ask(s, PROFILE_THREADS, false);
	for (int e = 0; e < PROFILE_EVENTS; e++) {
		const struct slices *slices = &p->events[e];

		for (uint32_t i = 0; i < slices->count; i++)
			for (uint32_t k = 0; k < slices->list[i].count; k++)
				keep_one(s,
					slices_thread(
						&slices->pairs[slices->list[i].entries[k].pair]));
	}
	for (int e = 0; e < PROFILE_EVENTS; e++)
		fold_event(p, &p->events[e], s);
}

/* --- one table after another ------------------------------------------------------------------------- */

static void sweep_stacks(struct profile *p, struct model_sweep *s)
{
	keep_begin(s, p->stacks.count);
	keep_one(s, PROFILE_ROOT_STACK);
	for (int e = 0; e < PROFILE_EVENTS; e++)
		for (uint32_t i = 0; i < p->events[e].pair_count; i++)
			keep_stack(p, s, p->events[e].pairs[i].stack);
	for (const struct profile_snapshot *at = p->scratch->snapshots; at; at = at->next)
		for (uint32_t i = 0; i < at->count; i++)
			keep_stack(p, s, at->rows[i].stack);
	keep_ask(s, PROFILE_STACKS, false);
	for (uint32_t i = p->stacks.count; i-- > 0;) /* and the callers of what keepers have */
		if (keep_has(s, i))
			keep_stack(p, s, p->stacks.nodes[i].parent);
	keep_ask(s, PROFILE_STACKS, true);
	trie_sweep(&p->stacks, s->keep);
}

static void sweep_paths(struct profile *p, struct model_sweep *s)
{
	keep_begin(s, p->paths.count);
	keep_one(s, PROFILE_ROOT_STACK);
	for (uint32_t i = 0; i < p->stacks.count; i++)
		if (!vacant_has(&p->stacks.vacant, i))
			keep_one(s, p->stack_info[i].path);
	trie_sweep(&p->paths, s->keep);
}

static void keep_frames(struct model_sweep *s, const struct trie *t)
{
	for (uint32_t i = 1; i < t->count; i++)
		keep_one(s, t->nodes[i].frame);
}

static void sweep_frames(struct profile *p, struct model_sweep *s)
{
	struct model_frames *f = &p->frames;

	keep_begin(s, f->count);
	keep_frames(s, &p->stacks);
	if (p->scratch->form)
		keep_frames(s, &form_view(p->scratch->form)->stacks);
	keep_ask(s, PROFILE_FRAMES, false);
	keep_ask(s, PROFILE_FRAMES, true);
	vacant_set(&f->vacant, s->keep, f->count);
	hash_index_clear(&f->index);
	for (uint32_t i = 0; i < f->count; i++)
		if (!vacant_has(&f->vacant, i))
			hash_index_add(&f->index, model_frame_hash(&f->list[i]), i);
}

static void sweep_methods(struct profile *p, struct model_sweep *s)
{
	const struct model_waits *w = &p->waits;

	keep_begin(s, p->methods.count);
	for (uint32_t i = 0; i < p->frames.count; i++)
		if (!vacant_has(&p->frames.vacant, i))
			keep_one(s, p->frames.list[i].method);
	for (uint32_t i = 0; i < w->cap && i < w->count; i++)
		keep_one(s, w->ring[i].pub.method);
	keep_ask(s, PROFILE_METHODS, false);
	keep_ask(s, PROFILE_METHODS, true);
	model_methods_sweep(&p->methods, s->keep);
}

static void sweep_threads(struct profile *p, struct model_sweep *s)
{
	const struct model_waits *w = &p->waits;

	keep_begin(s, p->threads.count);
	keep_one(s, p->threads.ended ? p->threads.ended : PROFILE_NONE);
	for (int e = 0; e < PROFILE_EVENTS; e++)
		for (uint32_t i = 0; i < p->events[e].pair_count; i++)
			if (!vacant_has(&p->events[e].vacant, i))
				keep_one(s, slices_thread(&p->events[e].pairs[i]));
	for (uint32_t i = 0; i < w->cap && i < w->count; i++) {
		keep_one(s, w->ring[i].pub.thread);
		keep_one(s, w->ring[i].pub.owner);
	}
	for (const struct profile_snapshot *at = p->scratch->snapshots; at; at = at->next)
		for (uint32_t i = 0; i < at->count; i++)
			keep_one(s, at->rows[i].thread);
	keep_ask(s, PROFILE_THREADS, false);
	keep_ask(s, PROFILE_THREADS, true);
	model_threads_sweep(p, s->keep);
}

static void sweep_pools(struct profile *p, struct model_sweep *s)
{
	keep_begin(s, p->threads.pools.count);
	keep_one(s, 0);
	for (uint32_t i = 0; i < p->threads.count; i++)
		keep_one(s, p->threads.list[i].pool);
	keep_ask(s, PROFILE_POOLS, false);
	keep_ask(s, PROFILE_POOLS, true);
	intern_sweep(&p->threads.pools, s->keep);
}

/* --- when -------------------------------------------------------------------------------------------- */

/* About the bytes of what is in use; what is vacant costs nothing more. */
static size_t sweep_used(const struct profile *p)
{
	size_t stacks = p->stacks.count - p->stacks.vacant.count;
	size_t paths = p->paths.count - p->paths.vacant.count, pairs = 0;

	for (int e = 0; e < PROFILE_EVENTS; e++)
		pairs += p->events[e].pair_count - p->events[e].vacant.count;
	return stacks * (sizeof(*p->stacks.nodes) + sizeof(*p->stack_info) + 6) +
	       paths * (sizeof(*p->paths.nodes) + 6) + pairs * (sizeof(*p->events[0].pairs) + 6) +
	       p->methods.strings.bytes +
	       (p->methods.count - p->methods.vacant.count) * 2 * sizeof(*p->methods.list) +
	       (p->frames.count - p->frames.vacant.count) * 3 * sizeof(*p->frames.list) +
	       (p->threads.count - p->threads.vacant.count) * 2 * sizeof(*p->threads.list);
}

void model_sweep(struct profile *p)
{
	static void (*const steps[])(struct profile * p, struct model_sweep * s) = {sweep_fold,
		sweep_stacks, sweep_paths, sweep_frames, sweep_methods, sweep_threads, sweep_pools};
	struct model_sweep *s = &p->scratch->sweep;
	size_t least = p->budget / SWEEP_BUDGET_PART;

	if (p->now < s->due || p->scratch->hold != PROFILE_NONE)
		return;
	if (!s->step && sweep_used(p) < (s->limit > least ? s->limit : least))
		return;
	steps[s->step](p, s);
	model_chain_done(&p->chain);
	/* What was made of numbers that may be given again is made again. */
	form_free(p->scratch->form);
	p->scratch->form = NULL;
	free(s->keep);
	s->keep = NULL;
	s->room = 0;
	s->swept++;
	p->scratch->fed++;
	s->due = p->now + MODEL_SWEEP_S;
	s->step = (s->step + 1) % (sizeof(steps) / sizeof(steps[0]));
	if (!s->step)
		s->limit = 2 * sweep_used(p);
}
