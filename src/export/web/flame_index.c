/* SPDX-License-Identifier: Apache-2.0 */
/* From a sampled stack to its node in a flame graph, by the names on the way. */
#include "base/buf.h"
#include "export/numbers.h"
#include "export/web/flame.h"

#include <stdlib.h>

struct flame_index {
	const struct profile *p;
	struct flame *f;
	bool threads;
	struct numbers children; /* keys: parent and name */
	uint32_t *child;         /* per number */
	struct numbers stacks;   /* keys: thread and stack */
	uint32_t *end, end_cap;  /* per number: its node */
	uint32_t *method_name;   /* per method: its place in names + 1 */
};

/* The narrow frames of a node have a name that no other has. */
static uint64_t flame_index_key(uint32_t parent, uint32_t name)
{
	return (uint64_t)parent << 32 | name;
}

struct flame_index *flame_index_new(const struct profile *p, struct flame *f, bool threads)
{
	struct flame_index *ix = xcalloc(1, sizeof(*ix));
	uint32_t *above = xcalloc(f->levels + 1u, sizeof(*above));
	uint32_t number;
	bool fresh;

	*ix = (struct flame_index){.p = p, .f = f, .threads = threads};
	ix->child = xreallocarray(NULL, f->count + 1u, sizeof(*ix->child));
	ix->method_name = xcalloc(profile_method_count(p) + 1, sizeof(*ix->method_name));
	for (uint32_t i = 0; i < f->count; i++) {
		const struct flame_node *n = &f->nodes[i];

		above[n->level] = i;
		if (!i)
			continue;
		number = numbers_of(&ix->children,
			flame_index_key(above[n->level - 1],
				n->type == FLAME_NARROW ? UINT32_MAX : n->name),
			&fresh);
		if (fresh)
			ix->child[number - 1] = i;
	}
	free(above);
	return ix;
}

/* The node with this text below a node; that of the narrow frames there; the node itself. */
static uint32_t flame_index_child(const struct flame_index *ix, uint32_t parent, uint32_t name)
{
	uint32_t at;

	if (ix->f->nodes[parent].type == FLAME_NARROW)
		return parent;
	at = hash_index_find(
		&ix->children.index, hash_u64(flame_index_key(parent, name)), NULL, NULL);
	if (at == HASH_NONE)
		at = hash_index_find(&ix->children.index,
			hash_u64(flame_index_key(parent, UINT32_MAX)), NULL, NULL);
	return at == HASH_NONE ? parent : ix->child[at];
}

/* A text's place in names; one that is not there has a number that no name has. */
static uint32_t flame_index_name(const struct flame_index *ix, uint32_t text)
{
	return text < ix->f->name_count ? ix->f->rank[text] : UINT32_MAX - 1;
}

/* Stacks are 2,048 frames deep at most, and parents are remembered: so deep this calls itself. */
uint32_t flame_index_find(struct flame_index *ix, uint32_t stack, uint32_t thread)
{
	uint64_t key = (uint64_t)(ix->threads ? thread : 0) << 32 | stack;
	struct profile_stack s;
	uint32_t number, end, method;
	bool fresh;

	number = numbers_of(&ix->stacks, key, &fresh);
	if (!fresh)
		return ix->end[number - 1];
	if (stack == PROFILE_ROOT_STACK) {
		end = !ix->threads ? 0
				   : flame_index_child(ix, 0,
					     flame_index_name(ix,
						     flame_thread_text(ix->f,
							     profile_get_thread(ix->p, thread))));
	} else {
		s = profile_get_stack(ix->p, stack);
		end = flame_index_find(ix, s.parent, thread);
		method = profile_get_frame(ix->p, s.frame)->method;
		if (!ix->method_name[method])
			ix->method_name[method] =
				flame_index_name(
					ix, flame_text(ix->f,
						    profile_get_method(ix->p, method)->full)) +
				1;
		end = flame_index_child(ix, end, ix->method_name[method] - 1);
	}
	while (ix->end_cap < ix->stacks.count)
		ix->end = xgrow(ix->end, ix->end_cap, &ix->end_cap, sizeof(*ix->end));
	ix->end[number - 1] = end;
	return end;
}

void flame_index_free(struct flame_index *ix)
{
	if (!ix)
		return;
	numbers_done(&ix->children);
	numbers_done(&ix->stacks);
	free(ix->child);
	free(ix->end);
	free(ix->method_name);
	free(ix);
}
