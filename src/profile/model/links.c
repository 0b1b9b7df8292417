/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of samples: a ring that begins small and overwrites its oldest entries once it is full. */
#include "profile/model/model.h"

#include <stdlib.h>

#define LINKS_FIRST 256u

void profile_add_link(struct profile *p, const struct profile_link *link)
{
	struct model_links *l = &p->links;

	if (link->stack >= p->stacks.trie.count || link->event >= PROFILE_EVENTS)
		return;
	if (l->count == l->cap && l->cap < PROFILE_LINKS) {
		l->cap = l->cap ? l->cap * 2 : LINKS_FIRST;
		l->ring = xreallocarray(l->ring, l->cap, sizeof(*l->ring));
	}
	l->ring[l->count++ % l->cap] = *link;
	p->readers->fed++;
}

uint64_t profile_links(const struct profile *p, uint64_t *first)
{
	*first = p->links.count - (p->links.count < p->links.cap ? p->links.count : p->links.cap);
	return p->links.count;
}

const struct profile_link *profile_get_link(const struct profile *p, uint64_t number)
{
	return &p->links.ring[number % p->links.cap];
}

size_t model_links_bytes(const struct profile *p)
{
	return p->links.cap * sizeof(*p->links.ring);
}

void model_links_refer(const struct profile *p, enum profile_kind kind,
	void (*fn)(const struct profile *p, uint32_t id))
{
	uint64_t first, end = profile_links(p, &first);

	for (; first < end; first++) {
		const struct profile_link *link = profile_get_link(p, first);

		if (kind == PROFILE_STACKS)
			fn(p, link->stack);
		if (kind == PROFILE_THREADS)
			fn(p, link->thread);
	}
}
