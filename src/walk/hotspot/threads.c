/* SPDX-License-Identifier: Apache-2.0 */
/* Visits the JavaThreads that HotSpot lists; tells their OS thread ids and what they have locked. */
#include "walk/hotspot/layout.h"
#include "walk/load/mem.h"

#define LOCK_STACK  64         /* entries looked at; it has room for 8 */
#define THREADS_MAX (1u << 20) /* against loops in a list that changes under us */

int32_t walk_thread_tid(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t java_thread)
{
	uint64_t os_thread = layout_load(&layout->thread_osthread, mem, java_thread);

	return (int32_t)layout_try(&layout->osthread_tid, mem, os_thread);
}

uint64_t walk_thread_stack_hi(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t java_thread)
{
	return layout_load(&layout->thread_stack_base, mem, java_thread);
}

uint64_t walk_thread_stack_bytes(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t java_thread)
{
	return layout_load(&layout->thread_stack_size, mem, java_thread);
}

uint64_t walk_thread_entering(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t java_thread)
{
	return layout_load(&layout->thread_pending, mem, java_thread);
}

uint64_t walk_thread_waiting(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t java_thread)
{
	return layout_load(&layout->thread_waiting, mem, java_thread);
}

static void visit(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t java_thread, walk_thread_fn *fn, void *ctx)
{
	int32_t tid = walk_thread_tid(layout, mem, java_thread);

	if (tid > 0)
		fn(ctx, java_thread, tid);
}

int walk_threads_each(
	const struct walk_layout *layout, const struct walk_mem *mem, walk_thread_fn *fn, void *ctx)
{
	uint64_t head = mem_u64(mem, layout->thread_list);

	if (!head)
		return -1;
	if (layout->threads_array.offset < 0) {
		for (uint32_t i = 0; head && i < THREADS_MAX; i++) {
			visit(layout, mem, head, fn, ctx);
			head = layout_load(&layout->thread_next, mem, head);
		}
		return 0;
	}

	uint64_t length = layout_load(&layout->threads_length, mem, head);
	uint64_t array = layout_load(&layout->threads_array, mem, head);

	if (!array || length > THREADS_MAX)
		return -1;
	for (uint64_t i = 0; i < length; i++)
		visit(layout, mem, mem_u64(mem, array + 8 * i), fn, ctx);
	return 0;
}

/* Where in the list the next older thread is: JDK 8 links them, later ones have an array, the newest at its end. */
struct listed_at {
	uint64_t link, array, left;
};

static bool listed_begin(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t head, struct listed_at *at)
{
	*at = (struct listed_at){.link = head, .left = THREADS_MAX};
	if (layout->threads_array.offset < 0)
		return true;
	at->left = layout_load(&layout->threads_length, mem, head);
	at->array = layout_load(&layout->threads_array, mem, head);
	return at->array && at->left <= THREADS_MAX;
}

static uint64_t listed_next(
	const struct walk_layout *layout, const struct walk_mem *mem, struct listed_at *at)
{
	uint64_t thread = at->link;

	if (!at->left)
		return 0;
	at->left--;
	if (at->array)
		return mem_u64(mem, at->array + 8 * at->left);
	at->link = layout_load(&layout->thread_next, mem, thread);
	return thread;
}

int walk_threads_newest(const struct walk_layout *layout, const struct walk_mem *mem,
	struct walk_listed *out, uint32_t room, walk_thread_known *known, void *ctx)
{
	uint64_t head = mem_u64(mem, layout->thread_list);
	struct walk_listed thread;
	struct listed_at at;
	uint32_t count = 0;

	if (!head || !listed_begin(layout, mem, head, &at))
		return -1;
	while (count < room && (thread.java_thread = listed_next(layout, mem, &at))) {
		thread.tid = walk_thread_tid(layout, mem, thread.java_thread);
		if (thread.tid <= 0)
			continue;
		if (known(ctx, &thread))
			break;
		out[count++] = thread;
	}
	return mem_u64(mem, layout->thread_list) == head ? (int)count : -1;
}

bool walk_threads_readable(const struct walk_layout *layout)
{
	return layout->thread_list && layout->thread_osthread.offset >= 0 &&
	       layout->osthread_tid.offset >= 0 &&
	       (layout->threads_array.offset >= 0 ? layout->threads_length.offset >= 0
						  : layout->thread_next.offset >= 0);
}

bool walk_thread_on_stack(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t java_thread, uint64_t address)
{
	uint64_t base = walk_thread_stack_hi(layout, mem, java_thread);
	uint64_t bytes = walk_thread_stack_bytes(layout, mem, java_thread);

	return base && address < base && address >= base - bytes;
}

bool walk_thread_has_locked(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t java_thread, uint64_t object)
{
	uint64_t stack = (uint64_t)layout->thread_lock_stack.offset;
	uint64_t at = stack + (uint64_t)layout->lock_stack_base.offset, top;

	if (layout->thread_lock_stack.offset < 0 || layout->lock_stack_base.offset < 0)
		return false;
	/* The top is an offset in the JavaThread. */
	top = layout_load(&layout->lock_stack_top, mem, java_thread + stack);
	for (int i = 0; i < LOCK_STACK && at < top; i++, at += 8)
		if (mem_u64(mem, java_thread + at) == object)
			return true;
	return false;
}

uint64_t walk_threads_started(const struct walk_layout *layout, const struct walk_mem *mem)
{
	return layout->threads_started ? mem_u64(mem, layout->threads_started) : 0;
}
