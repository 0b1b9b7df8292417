/* SPDX-License-Identifier: Apache-2.0 */
/* Interning of stacks, frame by frame, each with its path and whether its method occurs on it already. */
#include "profile/model/model.h"

#include "profile/model/fit.h"

void model_stacks_init(struct model_stacks *s, const struct model_stacks *like)
{
	*s = (struct model_stacks){0};
	trie_init(&s->trie, like ? &like->trie : NULL);
	trie_init(&s->paths, like ? &like->paths : NULL);
	s->info = fit_zeroed(NULL, &s->info_cap, s->trie.cap, sizeof(*s->info));
	s->extent = fit_zeroed(NULL, &s->extent_cap, s->trie.cap, sizeof(*s->extent));
}

static void chain_done(struct model_chain *c)
{
	free(c->stacks);
	free(c->on);
	*c = (struct model_chain){0};
}

void model_stacks_done(struct model_stacks *s)
{
	trie_done(&s->trie);
	trie_done(&s->paths);
	free(s->info);
	free(s->extent);
	chain_done(&s->chain);
}

size_t model_stacks_bytes(const struct model_stacks *s)
{
	return trie_bytes(&s->trie) + trie_bytes(&s->paths) + s->info_cap * sizeof(*s->info) +
	       s->extent_cap * sizeof(*s->extent);
}

void model_stacks_sweep(struct model_stacks *s, const uint64_t *keep)
{
	trie_sweep(&s->trie, keep);
	chain_done(&s->chain);
}

/*
 * True when a method occurs on the stack. Amortized: only frames that differ from the stack of the
 * previous call are visited.
 */
static bool stack_has(struct model_stacks *s, const struct model_methods *methods, uint32_t stack,
	uint32_t method)
{
	struct model_chain *c = &s->chain;
	uint32_t at = stack;

	c->stacks = fit(c->stacks, &c->stacks_cap, s->extent[stack].depth, sizeof(*c->stacks));
	c->on = fit_zeroed(c->on, &c->on_cap, methods->count, sizeof(*c->on));
	while (at && (s->extent[at].depth > c->depth || c->stacks[s->extent[at].depth - 1] != at))
		at = model_parent(s, at);
	uint32_t same = s->extent[at].depth;
	while (c->depth > same)
		c->on[model_method(s, c->stacks[--c->depth])]--;
	c->depth = s->extent[stack].depth;
	for (at = stack; s->extent[at].depth > same; at = model_parent(s, at)) {
		c->stacks[s->extent[at].depth - 1] = at;
		c->on[model_method(s, at)]++;
	}
	return c->on[method] > 0;
}

uint32_t model_stacks_child(
	struct model_stacks *s, const struct profile *p, uint32_t parent, uint32_t frame)
{
	struct model_extent extent = s->extent[parent];
	bool created;

	if (extent.closed)
		return parent;
	uint32_t names = extent.names + p->methods->list[p->frames->list[frame].method].full_bytes;
	if (extent.depth == PROFILE_DEPTH_MAX || names > PROFILE_NAMES_MAX) {
		frame = profile_frame(
			p, profile_method(p, "", PROFILE_DEEPER, "", ""), FRAME_BREAK, 0xffff, 0);
		extent.closed = true;
		names = extent.names;
	}
	extent.depth++;
	extent.names = names;
	uint32_t stack = trie_child(&s->trie, parent, frame, &created);
	if (!created)
		return stack;
	s->info = fit(s->info, &s->info_cap, stack + 1, sizeof(*s->info));
	s->extent = fit(s->extent, &s->extent_cap, stack + 1, sizeof(*s->extent));
	uint32_t method = p->frames->list[frame].method;
	uint32_t type = p->frames->list[frame].type;
	s->extent[stack] = extent;
	s->info[stack].path = trie_child(
		&s->paths, s->info[parent].path, p->methods->list[method].full, &created);
	/* A break frame occurs at most once. */
	s->info[stack].bits = method << 5 | type << 1 |
			      (type != FRAME_BREAK && stack_has(s, p->methods, parent, method));
	return stack;
}
