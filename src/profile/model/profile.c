/* SPDX-License-Identifier: Apache-2.0 */
/* Feeding the model, and the plain look-ups. */
#include "profile/profile.h"

#include "base/buf.h"
#include "profile/model/model.h"
#include "profile/query/form.h"

#include <stdlib.h>
#include <string.h>

#define MODEL_BUDGET      (144u << 20) /* bytes, of everything the model holds */
#define MODEL_SLICES_PART 6            /* slices may have 1/6 of it however many stacks there are */
#define MODEL_FINE_S      60           /* seconds that are never merged for want of memory */
#define MODEL_LATE_S      2            /* how far back the feeder may go */
#define MODEL_GAPS        4096         /* the youngest */

struct profile *profile_new(void)
{
	struct profile *p = xcalloc(1, sizeof(*p));

	trie_init(&p->stacks);
	trie_init(&p->paths);
	model_threads_init(&p->threads);
	p->stack_info_cap = p->stacks.cap;
	p->stack_info = xcalloc(p->stack_info_cap, sizeof(*p->stack_info));
	p->scratch = xcalloc(1, sizeof(*p->scratch));
	p->scratch->hold = PROFILE_NONE;
	p->scratch->self = p;
	p->budget = MODEL_BUDGET;
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	model_methods_done(&p->methods);
	hash_index_done(&p->frames.index);
	vacant_done(&p->frames.vacant);
	free(p->frames.list);
	trie_done(&p->stacks);
	trie_done(&p->paths);
	free(p->stack_info);
	model_chain_done(&p->chain);
	model_threads_done(&p->threads);
	model_waits_done(&p->waits);
	for (int i = 0; i < MODEL_SLICES; i++)
		slices_done(&p->events[i]);
	free(p->gaps);
	model_scratch_free(p->scratch);
	free(p);
}

/* --- interning --------------------------------------------------------------------------------------- */

uint32_t profile_method(struct profile *p, const char *class_name, const char *name,
	const char *signature, const char *module)
{
	const char *text[4] = {class_name, name, signature, module};

	for (int i = 0; i < 4; i++)
		text[i] = text[i] ? text[i] : "";
	return model_methods_put(&p->methods, text);
}

uint64_t model_frame_hash(const struct profile_frame *f)
{
	return hash_pair(
		(uint64_t)f->method << 32 | (uint32_t)f->bci << 8 | f->type, (uint32_t)f->line);
}

struct frame_key {
	const struct profile_frame *list;
	struct profile_frame frame;
};

static bool frame_same(const void *ctx, uint32_t value)
{
	const struct frame_key *key = ctx;
	const struct profile_frame *a = &key->frame, *b = &key->list[value];

	return a->method == b->method && a->bci == b->bci && a->type == b->type &&
	       a->line == b->line;
}

uint32_t profile_frame(
	struct profile *p, uint32_t method, enum frame_type type, unsigned bci, int line)
{
	struct model_frames *f = &p->frames;
	struct frame_key key = {f->list, {.method = method, .bci = (uint16_t)bci}};
	uint64_t hash;
	uint32_t id;

	if (method >= p->methods.count)
		return PROFILE_NONE;
	key.frame.type = (uint8_t)(type < FRAME_TYPES ? type : FRAME_BREAK);
	key.frame.line = line;
	hash = model_frame_hash(&key.frame);
	id = hash_index_find(&f->index, hash, frame_same, &key);
	if (id != HASH_NONE)
		return id;
	id = vacant_take(&f->vacant, 0);
	if (id == VACANT_NONE && f->count == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 256;
		f->list = xreallocarray(f->list, f->cap, sizeof(*f->list));
	}
	id = id == VACANT_NONE ? f->count++ : id;
	f->list[id] = key.frame;
	hash_index_add(&f->index, hash, id);
	return id;
}

void model_chain_done(struct model_chain *c)
{
	free(c->stacks);
	free(c->on);
	*c = (struct model_chain){0};
}

static void chain_fit(struct profile *p, uint32_t depth)
{
	struct model_chain *c = &p->chain;

	if (depth > c->stacks_cap) {
		c->stacks_cap = depth + depth / 2;
		c->stacks = xreallocarray(c->stacks, c->stacks_cap, sizeof(*c->stacks));
	}
	if (p->methods.count > c->on_cap) {
		c->on = xreallocarray(c->on, p->methods.cap, sizeof(*c->on));
		memset(c->on + c->on_cap, 0, (p->methods.cap - c->on_cap) * sizeof(*c->on));
		c->on_cap = p->methods.cap;
	}
}

/*
 * Does a method stand on this stack? A deep one is asked about frame after frame, each time one longer: only what differs
 * from the last one is gone through.
 */
static bool stack_has(struct profile *p, uint32_t stack, uint32_t method)
{
	struct model_chain *c = &p->chain;
	const struct profile_stack *nodes = p->stacks.nodes;
	uint32_t at = stack, same;

	chain_fit(p, nodes[stack].depth);
	while (at && (nodes[at].depth > c->depth || c->stacks[nodes[at].depth - 1] != at))
		at = nodes[at].parent;
	same = at ? nodes[at].depth : 0;
	while (c->depth > same)
		c->on[model_stack_method(p, c->stacks[--c->depth])]--;
	c->depth = nodes[stack].depth;
	for (at = stack; at && nodes[at].depth > same; at = nodes[at].parent) {
		c->stacks[nodes[at].depth - 1] = at;
		c->on[model_stack_method(p, at)]++;
	}
	return c->on[method] > 0;
}

uint32_t profile_stack_child(struct profile *p, uint32_t parent, uint32_t frame)
{
	uint32_t stack, method, type;
	struct model_stack *info;
	bool created;

	if (parent >= p->stacks.count || frame >= p->frames.count)
		return PROFILE_NONE;
	stack = trie_child(&p->stacks, parent, frame, &created);
	if (!created)
		return stack;
	if (stack >= p->stack_info_cap) {
		p->stack_info_cap = p->stacks.cap;
		p->stack_info = xreallocarray(p->stack_info, p->stacks.cap, sizeof(*p->stack_info));
	}
	method = p->frames.list[frame].method;
	type = p->frames.list[frame].type;
	info = &p->stack_info[stack];
	info->path = trie_child(
		&p->paths, p->stack_info[parent].path, p->methods.list[method].full, &created);
	/* Why a stack breaks off stands on it once. */
	info->bits =
		method << 5 | type << 1 | (type != FRAME_BREAK && stack_has(p, parent, method));
	return stack;
}

/* --- time -------------------------------------------------------------------------------------------- */

void profile_add_sample(
	struct profile *p, int event, uint32_t second, const struct profile_sample *sample)
{
	struct slices_sample in = {second, sample->stack, 0, sample->count, sample->weight};
	uint32_t thread = sample->thread;

	if (event < 0 || event >= PROFILE_EVENTS || sample->stack >= p->stacks.count)
		return;
	p->scratch->fed++;
	if (second > p->now)
		profile_advance(p, second);
	/* Absurd numbers share one thread. */
	in.who = SLICES_WHO(thread < MODEL_THREADS_MAX ? thread : MODEL_THREADS_MAX,
		sample->state < THREAD_STATES ? sample->state : THREAD_STATE_NONE);
	slices_add(&p->events[event], &in, p->merged_before, p->oldest);
}

void profile_add(struct profile *p, int event, uint32_t second, uint32_t stack, uint32_t thread,
	uint32_t count, uint64_t weight)
{
	profile_add_sample(p, event, second,
		&(struct profile_sample){stack, thread, THREAD_STATE_NONE, count, weight});
}

void profile_add_process(struct profile *p, uint32_t second, uint64_t cpu_ns)
{
	struct slices_sample in = {second, PROFILE_ROOT_STACK, 0, 1, cpu_ns};

	if (cpu_ns)
		slices_add(&p->events[MODEL_PROCESS], &in, p->merged_before, p->oldest);
}

static size_t profile_fixed_bytes(const struct profile *p)
{
	size_t bytes = sizeof(*p) + model_methods_bytes(&p->methods);

	bytes += p->frames.cap * sizeof(*p->frames.list) + ((size_t)p->frames.index.mask + 1) * 16;
	bytes += trie_bytes(&p->stacks) + trie_bytes(&p->paths);
	bytes += p->stack_info_cap * sizeof(*p->stack_info);
	bytes += model_threads_bytes(&p->threads) + model_waits_bytes(&p->waits);
	bytes += model_scratch_bytes(p->scratch);
	for (int i = 0; i < MODEL_SLICES; i++)
		bytes += slices_fixed_bytes(&p->events[i]);
	return bytes;
}

static size_t profile_slice_bytes(const struct profile *p)
{
	size_t bytes = 0;

	for (int i = 0; i < MODEL_SLICES; i++)
		bytes += p->events[i].bytes;
	return bytes;
}

static void profile_drop(struct profile *p, uint32_t before)
{
	for (int i = 0; i < MODEL_SLICES; i++)
		slices_drop(&p->events[i], before);
	p->oldest = before;
	if (p->merged_before < before)
		p->merged_before = before;
}

static void profile_merge(struct profile *p, uint32_t before)
{
	for (int i = 0; i < MODEL_SLICES; i++)
		slices_merge(&p->events[i], before);
	p->merged_before = before;
}

/* The first second of any slice that begins at or after this one; now if there is none. */
static uint32_t profile_next_slice(const struct profile *p, uint32_t second)
{
	uint32_t next = p->now, at;

	for (int i = 0; i < MODEL_SLICES; i++) {
		at = slices_find(&p->events[i], second);
		if (at < p->events[i].count && p->events[i].list[at].from < next)
			next = p->events[i].list[at].from;
	}
	return next - next % SLICES_STEP;
}

/* Over budget: older seconds become 10 s steps one by one, then the oldest steps leave for the total. */
static void profile_shrink(struct profile *p)
{
	size_t fixed = profile_fixed_bytes(p), limit = p->budget / MODEL_SLICES_PART;
	uint32_t fine = p->now > MODEL_FINE_S ? p->now - MODEL_FINE_S : 0, next;

	if (p->budget > fixed + limit)
		limit = p->budget - fixed;
	fine -= fine % SLICES_STEP;
	while (profile_slice_bytes(p) > limit) {
		next = profile_next_slice(p, p->merged_before);
		if (next < fine) {
			profile_merge(p, next + SLICES_STEP);
			continue;
		}
		next = profile_next_slice(p, p->oldest);
		if (next >= fine)
			break;
		profile_drop(p, next + SLICES_STEP);
	}
}

void profile_hold(const struct profile *p, uint32_t second)
{
	struct model_sweep *s = &p->scratch->sweep;

	/* What is shown stays good for a while after that. */
	if (second == PROFILE_NONE && p->scratch->hold != PROFILE_NONE &&
		s->due < p->now + MODEL_SWEEP_S)
		s->due = p->now + MODEL_SWEEP_S;
	p->scratch->hold = second;
}

void profile_advance(struct profile *p, uint32_t second)
{
	uint32_t oldest, now;

	if (second <= p->now)
		return;
	p->scratch->fed++;
	p->now = second;
	if (second > MODEL_LATE_S) {
		for (int i = 0; i < MODEL_SLICES; i++)
			slices_pack(&p->events[i], second - MODEL_LATE_S);
	}
	now = second < p->scratch->hold ? second : p->scratch->hold;
	oldest = now > PROFILE_HISTORY_S ? now - PROFILE_HISTORY_S : 0;
	oldest -= oldest % SLICES_STEP;
	if (oldest > p->oldest)
		profile_drop(p, oldest);
	profile_shrink(p);
	model_sweep(p);
}

void profile_mark(const struct profile *p, int event, uint32_t second, uint32_t other)
{
	if (event < 0 || event >= PROFILE_EVENTS)
		return;
	slices_mark(&p->scratch->self->events[event], (const uint32_t[]){second, other});
	if (event == EVENT_CPU)
		slices_mark(&p->scratch->self->events[MODEL_PROCESS],
			(const uint32_t[]){second, other});
	p->scratch->fed++;
}

void profile_event_runs(struct profile *p, int event, uint32_t second, bool on)
{
	if (event >= 0 && event < PROFILE_EVENTS)
		slices_run(&p->events[event], second, on);
}

void profile_gap(struct profile *p, uint32_t from, uint32_t to)
{
	struct model_gap *last = p->gap_count ? &p->gaps[p->gap_count - 1] : NULL;

	if (from >= to)
		return;
	if (last && from <= last->to && from >= last->from) {
		last->to = to > last->to ? to : last->to;
		return;
	}
	/* Also what is older than the history is asked for: how many seconds a total is of. */
	if (p->gap_count == MODEL_GAPS)
		memmove(p->gaps, p->gaps + 1, --p->gap_count * sizeof(*p->gaps));
	if (p->gap_count == p->gap_cap) {
		p->gap_cap = p->gap_cap ? p->gap_cap * 2 : 16;
		p->gaps = xreallocarray(p->gaps, p->gap_cap, sizeof(*p->gaps));
	}
	p->gaps[p->gap_count++] = (struct model_gap){from, to};
}

void profile_set_start(struct profile *p, uint64_t wall_ns)
{
	p->start_wall_ns = wall_ns < INT64_MAX / 2 ? wall_ns : 0; /* a recording may say anything */
}

void profile_set_budget(struct profile *p, size_t bytes)
{
	p->budget = bytes;
}

/* --- look-ups ---------------------------------------------------------------------------------------- */

const struct profile_method *profile_get_method(const struct profile *p, uint32_t method)
{
	static const struct profile_method unknown = {"", "", "", "", "[unknown]"};

	return method < p->methods.count ? &p->methods.list[method].pub : &unknown;
}

const struct profile_frame *profile_get_frame(const struct profile *p, uint32_t frame)
{
	static const struct profile_frame unknown = {PROFILE_NONE, 0xffff, FRAME_BREAK, 0, 0};

	return frame < p->frames.count ? &p->frames.list[frame] : &unknown;
}

struct profile_stack profile_get_stack(const struct profile *p, uint32_t stack)
{
	const struct form *form = p->scratch->form;

	if (stack < p->stacks.count)
		return p->stacks.nodes[stack];
	/* Whoever walks to the root from a number that is none any more is there. */
	if (!form_unmark(form, stack, &stack))
		return (struct profile_stack){PROFILE_ROOT_STACK, PROFILE_NONE, 0};
	return form_get(form, stack);
}

uint32_t profile_method_count(const struct profile *p)
{
	return p->methods.count;
}

struct profile_info profile_info(const struct profile *p)
{
	struct profile_info info = {
		.now = p->now,
		.oldest = p->oldest,
		.start_wall_ns = p->start_wall_ns,
		.bytes = profile_fixed_bytes(p) + profile_slice_bytes(p),
		.stacks = p->stacks.count,
		.merged_before = p->merged_before,
		.swept = p->scratch->sweep.swept,
	};

	for (int i = 0; i < PROFILE_EVENTS; i++)
		info.slice_entries += p->events[i].entries;
	return info;
}
