/* SPDX-License-Identifier: Apache-2.0 */
/* Polling unmounted virtual threads, for both engines: which places, whose stack, under which id. */
#include "sampler/engine/waiting.h"

#include "base/clock.h"
#include "sampler/engine/arms.h"
#include "sampler/signal/signal.h"
#include "sampler/text.h"

#include <string.h>

#define TRIES        20u
#define TRY_AGAIN_NS (100 * NS_PER_MS)

void waiting_open(struct waiting *w, struct sampler *s)
{
	memset(w, 0, sizeof(*w));
	w->s = s;
	self_mem_open(&w->self, sig_copy_more, &s->kept, self_lines(&w->lines));
	waiting_ready(w, clock_mono_ns());
	waiting_new_places(w, clock_mono_ns());
}

bool waiting_ready(struct waiting *w, uint64_t now)
{
	const char *why;

	if (w->open || !w->s || w->s->layout->jdk < 21 ||
		(w->tries && now - w->placed_ns < TRY_AGAIN_NS))
		return w->open;
	w->placed_ns = now;
	w->open = unmounted_open(&w->java, w->s->layout, &w->self.mem, &why);
	if (!w->open && ++w->tries == TRIES)
		atomic_store(&w->s->virtuals->unseen, why);
	if (!w->open)
		atomic_store(&w->s->vm_calls.touch, 1);
	return w->open;
}

void waiting_keep_places(struct waiting *w, uint64_t now)
{
	w->placed_ns = now;
	if (!w->open)
		return;
	unmounted_refresh(&w->java);
	if (unmounted_untracked(&w->java))
		atomic_store(&w->s->virtuals->unseen, "jdk.trackAllThreads is false");
}

void waiting_new_places(struct waiting *w, uint64_t now)
{
	w->pick.random = arms_random(UINT64_MAX);
	w->pick.places = WAITING_PLACES;
	waiting_keep_places(w, now);
}

bool waiting_each(struct waiting *w, uint32_t event, unmounted_fn *fn, void *ctx)
{
	if (!w->open)
		return true;
	struct unmounted_count count = unmounted_each(&w->java, &w->pick, fn, ctx);
	w->unread = count.unread;
	if (!count.unread)
		return true;
	sig_lose(w->s, event, COUNTER_MOVED, count.unread);
	atomic_store(&w->s->vm_calls.touch, 1);
	return count.threads != 0;
}

uint32_t waiting_id(struct waiting *w, const struct unmounted_thread *thread)
{
	const char *pattern = w->s->select.pattern;
	uint32_t id = sig_virtual_known(w->s, &w->self.mem, thread->object, thread->number, 0);
	struct virtuals_info info;

	if (!pattern[0])
		return id;
	virtuals_lookup(w->s->virtuals, id, &info);
	return info.bytes && glob_any(pattern, info.name, info.bytes) ? id : 0;
}

bool waiting_stack(struct waiting *w, const struct unmounted_thread *thread, struct stack *stack,
	struct frozen *where, uint64_t *sp)
{
	struct sampler *s = w->s;

	if (!unmounted_frozen(&w->java, thread, where))
		return false;
	*sp = frozen_sp(&w->self.mem, where);
	sig_stack_frozen(stack, s, &w->slot, where);
	if (stack->scratch && stack->count && unmounted_still(&w->java, thread, where, *sp))
		return true;
	sig_stack_release(stack);
	return false;
}
