/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the names of a stack from the root. */
#include "base/buf.h"
#include "export/ids.h"
#include "export/web/flame.h"

#include <stdlib.h>

struct flame_index {
	const struct profile *p;
	struct flame *f;
	bool threads;
	struct ids children;    /* keys: parent and name */
	uint32_t *child;        /* by id: its node */
	struct ids stacks;      /* keys: thread and stack */
	uint32_t *end, end_cap; /* by id: its node */
	uint32_t *method_name;  /* by method: index in names + 1, 0: none yet */
};

/* Narrow frames have the key UINT32_MAX, which is not the index of a name. */
static uint64_t flame_index_key(uint32_t parent, uint32_t name)
{
	return (uint64_t)parent << 32 | name;
}

struct flame_index *flame_index_new(const struct profile *p, struct flame *f, bool threads)
{
	struct flame_index *ix = xcalloc(1, sizeof(*ix));
	uint32_t *above = xcalloc(f->levels + 1u, sizeof(*above));
	uint32_t id;
	bool is_new;

	*ix = (struct flame_index){.p = p, .f = f, .threads = threads};
	ix->child = xreallocarray(NULL, f->count + 1u, sizeof(*ix->child));
	ix->method_name = xcalloc(profile_method_count(p) + 1, sizeof(*ix->method_name));
	for (uint32_t i = 0; i < f->count; i++) {
		const struct flame_node *n = &f->nodes[i];

		above[n->level] = i;
		if (!i)
			continue;
		id = ids_of_u64(&ix->children,
			flame_index_key(above[n->level - 1],
				n->type == FLAME_NARROW ? UINT32_MAX : n->name),
			&is_new);
		if (is_new)
			ix->child[id] = i;
	}
	free(above);
	return ix;
}

/* The child of this name, else the narrow frames, else the node itself. */
static uint32_t flame_index_child(const struct flame_index *ix, uint32_t parent, uint32_t name)
{
	uint32_t at;

	if (ix->f->nodes[parent].type == FLAME_NARROW)
		return parent;
	at = ids_find_u64(&ix->children, flame_index_key(parent, name));
	if (at == IDS_NONE)
		at = ids_find_u64(&ix->children, flame_index_key(parent, UINT32_MAX));
	return at == IDS_NONE ? parent : ix->child[at];
}

/* The index of a text in names, or an index that no name has. */
static uint32_t flame_index_name(const struct flame_index *ix, uint32_t text)
{
	return text < ix->f->name_count ? ix->f->rank[text] : UINT32_MAX - 1;
}

/* Recurses at most 2,048 times, the maximum depth of a stack. */
uint32_t flame_index_find(struct flame_index *ix, uint32_t stack, uint32_t thread)
{
	uint64_t key = (uint64_t)(ix->threads ? thread : 0) << 32 | stack;
	struct profile_stack s;
	uint32_t id, end, method;
	bool is_new;

	id = ids_of_u64(&ix->stacks, key, &is_new);
	if (!is_new)
		return ix->end[id];
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
	ix->end[id] = end;
	return end;
}

void flame_index_free(struct flame_index *ix)
{
	if (!ix)
		return;
	ids_done(&ix->children);
	ids_done(&ix->stacks);
	free(ix->child);
	free(ix->end);
	free(ix->method_name);
	free(ix);
}
