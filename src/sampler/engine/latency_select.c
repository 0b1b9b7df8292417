/* SPDX-License-Identifier: Apache-2.0 */
/* The publisher's part of measuring the latency of calls: which methods, where their code is, and the queue of polls. */
#include "sampler/engine/latency.h"

#include "base/clock.h"
#include "sampler/publish/publish.h"
#include "sampler/session/memory.h"
#include "sampler/signal/raw.h"
#include "sampler/text.h"
#include "walk/hotspot/code_cache.h"
#include "walk/hotspot/layout.h"
#include "walk/load/mem.h"

#include <errno.h>
#include <string.h>

#define WHY_BYTES 128u

/* ZGC maps the heap between these addresses, and does not report it as reserved. */
#define ZGC_HEAP_LOW  (1ull << 42)
#define ZGC_HEAP_HIGH (1ull << 46)

static void heap_range(struct sampler *s, struct latency *l)
{
	const struct walk_layout *layout = s->layout;
	uint64_t words;

	if (!layout || !layout->java_heap || layout->heap_reserved.offset < 0)
		return;
	uint64_t heap = mem_u64(&s->mem, layout->java_heap);
	if (layout->heap_collections.offset >= 0 &&
		mem_load_u64(&s->mem, heap + (uint64_t)layout->heap_collections.offset, &words))
		l->heap = heap;
	heap += (uint64_t)layout->heap_reserved.offset;
	uint64_t low = layout_load(&layout->region_start, &s->mem, heap);
	words = layout_load(&layout->region_words, &s->mem, heap);
	l->heap_low = words ? low : ZGC_HEAP_LOW;
	l->heap_high = words ? low + words * 8 : ZGC_HEAP_HIGH;
}

#define FIND_NS    (1 * NS_PER_S)
#define FIND_SHARE 200u /* upper bound of the cost: 1 / FIND_SHARE of a core */

/*
 * Finds the compiled methods of the requested name. Names them, so that the front end knows them before a poll finds one, and stores
 * where those are that are selected. Reads the whole code cache: some us per method.
 */
static void find_compiled(struct sampler *s, struct latency *l)
{
	uint64_t began = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), cost, packed;
	struct code_cursor cursor = {0};
	struct code_blob blob;

	while (code_cache_next(s->layout, &s->mem, &cursor, &blob)) {
		struct walk_frame frame = {.value = code_method(s->layout, &blob), .type = WALK_C2};

		if (!method_is_named(s->layout, &s->mem, frame.value, l->name))
			continue;
		names_resolve(s->names, s->layout, &s->mem, NULL, &frame, 1, &packed, NULL);
		for (uint32_t i = 0; i < atomic_load(&l->count); i++)
			if (atomic_load(&l->methods[i].id) == (uint32_t)packed)
				atomic_store(&l->methods[i].method, frame.value);
	}
	cost = (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began) * FIND_SHARE;
	l->find_ns = clock_mono_ns() + (cost > FIND_NS ? cost : FIND_NS);
}

/* True when no method is selected yet, or it is not known where one is. */
static bool misses_methods(const struct latency *l)
{
	uint32_t count = atomic_load(&l->count);
	bool misses = !count;

	for (uint32_t i = 0; i < count; i++)
		misses |= !atomic_load(&l->methods[i].method);
	return misses;
}

int latency_select(struct sampler *s, const struct wire_command *c, char *text, size_t bytes)
{
	struct latency *l = atomic_load(&s->latency);
	struct wire_timed_method methods[WIRE_TIMED_METHODS];
	uint32_t count = c->arg < WIRE_TIMED_METHODS ? (uint32_t)c->arg : WIRE_TIMED_METHODS;

	if (count && !atomic_load(&s->events[WIRE_WALL].on)) {
		struct engine_target self = {.tid = raw_gettid()};
		struct text reason = text_into(text, bytes);
		char why[WHY_BYTES];

		text_add(&reason, "the event wall is off");
		if (engine_wall.probe(&self, why, sizeof(why)) < 0) {
			text_add(&reason, ": ");
			text_add(&reason, why);
		}
		return -EINVAL;
	}
	if (!l && !count && !c->text[0])
		return 0;
	if (!l) {
		l = sampler_part_new(s, sizeof(*l));
		if (!l)
			return -ENOMEM;
		heap_range(s, l);
		atomic_store(&s->latency, l);
	}
	if (!count) {
		atomic_store(&l->count, 0);
		if (c->interval)
			return 0;
		text_set(l->name, sizeof(l->name), c->text);
		l->find_ns = 0;
		return 0;
	}
	memcpy(methods, c->text, sizeof(methods));
	atomic_store(&l->interval, c->interval > NS_PER_MS ? c->interval : NS_PER_MS);
	for (uint32_t i = 0; i < count; i++) {
		if (atomic_exchange(&l->methods[i].id, methods[i].id) != methods[i].id)
			atomic_store(&l->methods[i].method, 0);
		atomic_store(&l->methods[i].parameters, methods[i].parameters);
	}
	atomic_store(&l->count, count);
	l->find_ns = 0;
	return 0;
}

uint64_t latency_memory(const struct sampler *s)
{
	return atomic_load(&s->latency) ? sizeof(struct latency) : 0;
}

void latency_publish(struct sampler *s)
{
	struct latency *l = atomic_load(&s->latency);

	if (!l)
		return;
	if (l->name[0] && s->layout && clock_mono_ns() >= l->find_ns && misses_methods(l))
		find_compiled(s, l);
	uint32_t tail = atomic_load(&l->tail);
	while (tail != atomic_load_explicit(&l->head, memory_order_acquire)) {
		const struct latency_poll *poll = &l->queue[tail % LATENCY_QUEUE];

		if (!publish_poll(s->publish, &poll->record, poll->hash))
			break;
		atomic_store_explicit(&l->tail, ++tail, memory_order_release);
	}
	ring_commit(&s->ring);
}
