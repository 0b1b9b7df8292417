/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sweep: frees unreferenced entries, so that memory is proportional to the retained history,
 * not to the length of the session.
 *
 *   join     pairs (stack, thread) that are in no slice and account for little are merged into "[earlier]" under a surviving caller
 *   then     one table at a time, in the order stacks, paths, frames, methods, threads, pools: entries without a reference
 *
 * One step every MODEL_SWEEP_S; the model is consistent between steps. Every view repeats its
 * queries more often than that, so no current answer contains a freed id when the id is reused.
 */
#include "profile/model/model.h"

#include "base/buf.h"

#include <stdlib.h>

#define SWEEP_BUDGET_PART 4      /* below 1/4 of the budget nothing is swept */
#define SWEEP_LITTLE      16384u /* up to 1/16384 of an event's weight and count is little */

static void pins_begin(struct model_pins *k, uint32_t ids)
{
	free(k->bits);
	k->limit = ids;
	k->bits = xcalloc((size_t)ids / 64 + 1, sizeof(*k->bits));
}

/* Returns false if it was pinned already, or is invalid. */
static bool pin_id(struct model_pins *k, uint32_t id)
{
	uint64_t bit = 1ull << (id % 64);

	if (id >= k->limit || k->bits[id / 64] & bit)
		return false;
	k->bits[id / 64] |= bit;
	return true;
}

static bool pins_have(const struct model_pins *k, uint32_t id)
{
	return id < k->limit && k->bits[id / 64] >> (id % 64) & 1;
}

void profile_pin(const struct profile *p, uint32_t id)
{
	pin_id(&p->readers->pins, id);
}

bool profile_is_pinned(const struct profile *p, uint32_t id)
{
	return pins_have(&p->readers->pins, id);
}

void profile_pin_register(const struct profile *p, profile_pin_fn *fn, void *ctx)
{
	struct model_readers *r = p->readers;

	if (r->pin_callback_count == PROFILE_PIN_CALLBACKS)
		return;
	r->pin_callbacks[r->pin_callback_count].fn = fn;
	r->pin_callbacks[r->pin_callback_count++].ctx = ctx;
}

void profile_pin_unregister(const struct profile *p, const void *ctx)
{
	struct model_readers *r = p->readers;

	for (unsigned i = r->pin_callback_count; i-- > 0;)
		if (r->pin_callbacks[i].ctx == ctx)
			r->pin_callbacks[i] = r->pin_callbacks[--r->pin_callback_count];
}

static void pins_call(const struct profile *p, enum profile_kind kind, bool leaving)
{
	struct model_readers *r = p->readers;

	for (unsigned i = 0; i < r->pin_callback_count; i++)
		r->pin_callbacks[i].fn(r->pin_callbacks[i].ctx, kind, leaving);
}

static void pins_finish(const struct profile *p, enum profile_kind kind)
{
	pins_call(p, kind, false);
	pins_call(p, kind, true);
}

/* --- joining ----------------------------------------------------------------------------------------- */

static void pin_stack(const struct profile *p, struct model_pins *k, uint32_t stack)
{
	while (stack < p->stacks.trie.count && pin_id(k, stack))
		stack = model_parent(&p->stacks, stack);
}

/*
 * Pins the pairs of an event that are in a slice, in frozen history, or not little. The bitmap has
 * space for twice the pairs, as each of the others is merged into at most one new pair.
 */
static void pin_pairs(struct model_pins *k, const struct slices *slices)
{
	const struct slices_anchor *evicted = &slices->anchors[SLICES_EVICTED];

	pins_begin(k, 2 * slices->pairs.count);
	pin_id(k, 0);
	for (uint32_t i = 0; i < evicted->cap; i++)
		if (!sum_none(&evicted->before[i]))
			pin_id(k, i);
	for (uint32_t i = 0; i < slices->count; i++)
		for (uint32_t e = 0; e < slices->list[i].count; e++)
			pin_id(k, slices->list[i].entries[e].pair);
	for (uint32_t i = 0; i < slices->pairs.count; i++)
		if (slices->sums[i].weight > slices->sum.weight / SWEEP_LITTLE ||
			slices->sums[i].count > slices->sum.count / SWEEP_LITTLE)
			pin_id(k, i);
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

/* Merges the pairs that are not pinned. threads: those that are pinned. */
static void join_event(struct profile *p, struct slices *slices, const struct model_pins *threads)
{
	struct model_pins pairs = {0}, stacks = {0};
	uint32_t method = profile_method(p, "", "[earlier]", "", "");
	uint32_t frame = profile_frame(p, method, FRAME_BREAK, 0xffff, 0);
	uint32_t count = slices->pairs.count;

	pin_pairs(&pairs, slices);
	pins_begin(&stacks, p->stacks.trie.count);
	for (uint32_t i = 0; i < count; i++)
		if (pins_have(&pairs, i))
			pin_stack(p, &stacks, slices_stack(slices, i));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t thread = slices_thread(slices, i), state = slices_state(slices, i);
		uint32_t stack = slices_stack(slices, i);

		if (pins_have(&pairs, i) || vacant_has(&slices->pairs.vacant, i))
			continue;
		thread = pins_have(threads, thread) ? thread : thread_ended(p);
		/* the innermost caller that survives, other than "[earlier]" */
		while (stack != PROFILE_ROOT_STACK &&
			(!pins_have(&stacks, stack) || model_frame(&p->stacks, stack) == frame))
			stack = model_parent(&p->stacks, stack);
		uint32_t into = slices_pair(
			slices, profile_stack_child(p, stack, frame), SLICES_WHO(thread, state));
		pin_id(&pairs, into);
		if (into != i)
			slices_move(slices, i, into);
	}
	slices_sweep(slices, pairs.bits);
	free(pairs.bits);
	free(stacks.bits);
}

static void sweep_join(struct profile *p, struct model_pins *k)
{
	if (p->readers->frozen != PROFILE_NONE)
		model_evict(p, 0);
	pins_begin(k, p->threads.count);
	pins_call(p, PROFILE_THREADS, false);
	for (const struct slices *s = p->events; s < p->events + MODEL_SAMPLED; s++)
		for (uint32_t i = 0; i < s->count; i++)
			for (uint32_t e = 0; e < s->list[i].count; e++)
				pin_id(k, slices_thread(s, s->list[i].entries[e].pair));
	for (int e = 0; e < MODEL_SAMPLED; e++)
		join_event(p, &p->events[e], k);
}

/* --- one step per table ------------------------------------------------------------------------------ */

static void sweep_stacks(struct profile *p, struct model_pins *k)
{
	pins_begin(k, p->stacks.trie.count);
	pin_id(k, PROFILE_ROOT_STACK);
	for (int e = 0; e < MODEL_SAMPLED; e++)
		for (uint32_t i = 1; i < p->events[e].pairs.count; i++)
			pin_stack(p, k, slices_stack(&p->events[e], i));
	pins_call(p, PROFILE_STACKS, false);
	model_calls_refer(p, PROFILE_STACKS, profile_pin);
	model_links_refer(p, PROFILE_STACKS, profile_pin);
	/* and the callers of stacks that callbacks have pinned */
	for (uint32_t i = p->stacks.trie.count; i-- > 1;)
		if (pins_have(k, i))
			pin_stack(p, k, model_parent(&p->stacks, i));
	pins_call(p, PROFILE_STACKS, true);
	model_stacks_sweep(&p->stacks, k->bits);
}

static void sweep_paths(struct profile *p, struct model_pins *k)
{
	pins_begin(k, p->stacks.paths.count);
	pin_id(k, 0);
	for (uint32_t i = 1; i < p->stacks.trie.count; i++)
		if (!vacant_has(&p->stacks.trie.vacant, i))
			pin_id(k, p->stacks.info[i].path);
	trie_sweep(&p->stacks.paths, k->bits);
}

static void sweep_frames(struct profile *p, struct model_pins *k)
{
	pins_begin(k, p->frames->count);
	for (uint32_t i = 1; i < p->stacks.trie.count; i++)
		pin_id(k, model_frame(&p->stacks, i));
	pins_finish(p, PROFILE_FRAMES);
	model_frames_sweep(p->frames, k->bits);
}

static void sweep_methods(struct profile *p, struct model_pins *k)
{
	const struct model_waits *w = &p->waits;

	pins_begin(k, p->methods->count);
	for (uint32_t i = 0; i < p->frames->count; i++)
		if (!vacant_has(&p->frames->vacant, i))
			pin_id(k, p->frames->list[i].method);
	for (; w; w = w == &p->waits ? &p->frozen_waits : NULL)
		for (uint32_t i = 0; i < w->cap && i < w->count; i++)
			pin_id(k, w->ring[i].pub.method);
	pins_finish(p, PROFILE_METHODS);
	model_methods_sweep(p->methods, k->bits);
}

static void sweep_threads(struct profile *p, struct model_pins *k)
{
	const struct model_waits *w = &p->waits;

	pins_begin(k, p->threads.count);
	pin_id(k, p->threads.ended ? p->threads.ended : PROFILE_NONE);
	model_calls_refer(p, PROFILE_THREADS, profile_pin);
	model_links_refer(p, PROFILE_THREADS, profile_pin);
	for (int e = 0; e < MODEL_SAMPLED; e++)
		for (uint32_t i = 1; i < p->events[e].pairs.count; i++)
			pin_id(k, slices_thread(&p->events[e], i)); /* vacant: an invalid id */
	for (; w; w = w == &p->waits ? &p->frozen_waits : NULL)
		for (uint32_t i = 0; i < w->cap && i < w->count; i++) {
			pin_id(k, w->ring[i].pub.thread);
			pin_id(k, w->ring[i].pub.owner);
		}
	pins_finish(p, PROFILE_THREADS);
	model_threads_sweep(p, k->bits);
}

static void sweep_pools(struct profile *p, struct model_pins *k)
{
	pins_begin(k, p->threads.pools.count);
	pin_id(k, 0);
	for (uint32_t i = 0; i < p->threads.count; i++)
		pin_id(k, p->threads.list[i].pool);
	pins_finish(p, PROFILE_POOLS);
	intern_sweep(&p->threads.pools, k->bits);
}

/* --- when -------------------------------------------------------------------------------------------- */

static uint32_t in_use(const struct trie *t)
{
	return t->count - t->vacant.count;
}

/* Approximate bytes of entries in use. */
static size_t sweep_used(const struct profile *p)
{
	const struct model_methods *m = p->methods;
	const struct model_frames *f = p->frames;
	size_t node = sizeof(struct trie_node) + 6, pairs = 0;

	for (int e = 0; e < MODEL_SAMPLED; e++)
		pairs += in_use(&p->events[e].pairs);
	return in_use(&p->stacks.trie) * (node + sizeof(*p->stacks.info) + sizeof(uint32_t)) +
	       in_use(&p->stacks.paths) * node + pairs * (node + sizeof(*p->events->sums)) +
	       m->strings.bytes + (m->count - m->vacant.count) * 2 * sizeof(*m->list) +
	       (f->count - f->vacant.count) * 3 * sizeof(*f->list) +
	       (p->threads.count - p->threads.vacant.count) * 2 * sizeof(*p->threads.list);
}

void model_sweep(struct profile *p)
{
	static void (*const steps[])(struct profile * p, struct model_pins * k) = {sweep_join,
		sweep_stacks, sweep_paths, sweep_frames, sweep_methods, sweep_threads, sweep_pools};
	struct model_readers *r = p->readers;
	size_t least = p->budget / SWEEP_BUDGET_PART;

	if (p->now < r->due)
		return;
	if (!r->step && sweep_used(p) < (r->limit > least ? r->limit : least))
		return;
	steps[r->step](p, &r->pins);
	pins_begin(&r->pins, 0);
	r->swept++;
	r->fed++;
	r->due = p->now + MODEL_SWEEP_S;
	r->step = (r->step + 1) % (sizeof(steps) / sizeof(steps[0]));
	if (!r->step)
		r->limit = 2 * sweep_used(p);
}
