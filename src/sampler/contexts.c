/* SPDX-License-Identifier: Apache-2.0 */
/* The publisher's part of reading which request a thread works for. */
#include "sampler/contexts.h"

#include "sampler/jvm/jvm.h"
#include "sampler/session/memory.h"
#include "sampler/signal/raw.h"

#include <errno.h>
#include <string.h>

int contexts_set(struct sampler *s, const char *text)
{
	struct contexts *c = atomic_load(&s->contexts);
	struct wire_contexts where;
	bool any = false;

	memcpy(&where, text, sizeof(where));
	for (uint32_t i = 0; i < WIRE_CONTEXT_PLACES; i++)
		any |= where.places[i].used != 0;
	if (!any && !c)
		return 0;
	if (!c)
		c = sampler_part_new(s, sizeof(*c));
	if (!c)
		return -ENOMEM;
	/* The publisher is a thread that libc has created. */
	if (!c->tid_place)
		c->tid_place = jvm_descriptor_place((uint64_t)raw_gettid(), sizeof(int32_t));
	uint32_t version = atomic_load(&c->version) + 1;
	c->where[version % 2] = where;
	atomic_store(&c->version, version);
	atomic_store(&s->contexts, c);
	return 0;
}

void contexts_tick(struct sampler *s, uint64_t now)
{
	struct contexts *c = atomic_load(&s->contexts);

	if (!c || now - c->reset_ns < CONTEXTS_NS)
		return;
	c->reset_ns = now;
	for (uint32_t i = 0; i < CONTEXTS_SLOTS; i++)
		atomic_store_explicit(&c->sets[i], 0, memory_order_relaxed);
	atomic_store(&c->sets_used, 0);
}
