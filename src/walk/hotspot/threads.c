/* SPDX-License-Identifier: Apache-2.0 */
/* Visits the JavaThreads that HotSpot lists; reads their OS thread ids and locks. */
#include "walk/hotspot/threads.h"
#include "walk/load/mem.h"

#define LOCK_STACK    64         /* entries read at most; HotSpot's lock stack has 8 */
#define LIST_BLOCK    64u        /* entries read at once */
#define THREADS_MAX   (1u << 20) /* bound: the list may change while it is read */
#define LIST_REOPENED 16         /* replaced arrays tolerated in one visit */

int32_t walk_thread_tid(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t java_thread)
{
	uint64_t os_thread = mem_plausible(java_thread)
				     ? layout_load(&layout->thread_osthread, mem, java_thread)
				     : 0;

	if (!mem_plausible(os_thread))
		return 0;
	return (int32_t)layout_load(&layout->osthread_tid, mem, os_thread);
}

/* The JVM's list. JDK 8 links the threads, newest first; later JDKs have an array, newest last. */
struct list {
	uint64_t head, array, count;
};

static bool list_open(const struct walk_layout *l, const struct walk_mem *mem, struct list *list)
{
	*list = (struct list){.head = mem_u64(mem, l->thread_list), .count = THREADS_MAX};
	if (!list->head || l->threads_array.offset < 0)
		return list->head != 0;
	list->count = layout_load(&l->threads_length, mem, list->head);
	list->array = layout_load(&l->threads_array, mem, list->head);
	return list->array && list->count <= THREADS_MAX;
}

/* Reads the OS thread ids of `count` JavaThreads; 0 where unreadable. */
static void list_tids(const struct walk_layout *l, const struct walk_mem *mem,
	const uint64_t threads[LIST_BLOCK], uint32_t count, int32_t tids[LIST_BLOCK])
{
	const struct walk_field *osthread = &l->thread_osthread, *tid = &l->osthread_tid;
	uint64_t at[LIST_BLOCK], words[LIST_BLOCK];

	for (uint32_t i = 0; i < count; i++)
		at[i] = mem_plausible(threads[i]) ? threads[i] + (uint64_t)osthread->offset : 0;
	mem_gather(mem, at, count, osthread->bytes, words);
	for (uint32_t i = 0; i < count; i++)
		at[i] = mem_plausible(words[i]) ? words[i] + (uint64_t)tid->offset : 0;
	mem_gather(mem, at, count, tid->bytes, words);
	for (uint32_t i = 0; i < count; i++)
		tids[i] = (int32_t)words[i];
}

static int links_each(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct list *list, walk_thread_fn *fn, void *ctx)
{
	uint64_t thread = list->head;

	for (uint64_t i = 0; i < list->count && mem_plausible(thread); i++) {
		int32_t tid = walk_thread_tid(layout, mem, thread);

		if (tid > 0)
			fn(ctx, thread, tid);
		thread = layout_load(&layout->thread_next, mem, thread);
	}
	return 0;
}

/*
 * HotSpot replaces the array when a thread starts or exits, and frees the old one: a block counts only if the array was still
 * current after it was read. A new array is continued at the same index, which may skip as many threads as have exited.
 */
static int array_each(const struct walk_layout *layout, const struct walk_mem *mem,
	struct list *list, walk_thread_fn *fn, void *ctx)
{
	uint64_t block[LIST_BLOCK];
	int32_t tids[LIST_BLOCK];
	int reopened = 0;

	for (uint64_t i = 0; i < list->count;) {
		uint64_t left = list->count - i, entries = left < LIST_BLOCK ? left : LIST_BLOCK;
		bool read = mem_load(mem, list->array + 8 * i, block, 8 * entries);

		mem_refresh(mem);
		if (mem_u64(mem, layout->thread_list) != list->head) {
			if (reopened++ == LIST_REOPENED || !list_open(layout, mem, list))
				return -1;
			continue;
		}
		if (!read)
			return -1;
		list_tids(layout, mem, block, (uint32_t)entries, tids);
		for (uint64_t k = 0; k < entries; k++)
			if (tids[k] > 0)
				fn(ctx, block[k], tids[k]);
		i += entries;
	}
	return 0;
}

int walk_threads_each(
	const struct walk_layout *layout, const struct walk_mem *mem, walk_thread_fn *fn, void *ctx)
{
	struct list list;

	if (!list_open(layout, mem, &list))
		return -1;
	return list.array ? array_each(layout, mem, &list, fn, ctx)
			  : links_each(layout, mem, &list, fn, ctx);
}

int walk_threads_newest(const struct walk_layout *layout, const struct walk_mem *mem,
	struct walk_listed *out, uint32_t max, walk_thread_known *known, void *ctx)
{
	struct walk_listed thread = {.java_thread = 0};
	uint32_t count = 0;
	struct list list;

	if (!list_open(layout, mem, &list))
		return -1;
	while (count < max && list.count) {
		list.count--;
		if (list.array)
			thread.java_thread = mem_u64(mem, list.array + 8 * list.count);
		else if (thread.java_thread)
			thread.java_thread =
				layout_load(&layout->thread_next, mem, thread.java_thread);
		else
			thread.java_thread = list.head;
		if (!thread.java_thread)
			break;
		thread.tid = walk_thread_tid(layout, mem, thread.java_thread);
		if (thread.tid <= 0)
			continue;
		if (known(ctx, &thread))
			break;
		out[count++] = thread;
	}
	mem_refresh(mem);
	return mem_u64(mem, layout->thread_list) == list.head ? (int)count : -1;
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
	uint64_t base = layout_load(&layout->thread_stack_base, mem, java_thread);
	uint64_t bytes = layout_load(&layout->thread_stack_size, mem, java_thread);

	return base && address < base && address >= base - bytes;
}

bool walk_thread_has_locked(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t java_thread, uint64_t object)
{
	uint64_t stack = (uint64_t)layout->thread_lock_stack.offset;
	uint64_t at = stack + (uint64_t)layout->lock_stack_base.offset;

	if (layout->thread_lock_stack.offset < 0 || layout->lock_stack_base.offset < 0)
		return false;
	/* The top is an offset from the JavaThread. */
	uint64_t top = layout_load(&layout->lock_stack_top, mem, java_thread + stack);
	for (int i = 0; i < LOCK_STACK && at < top; i++, at += 8)
		if (mem_u64(mem, java_thread + at) == object)
			return true;
	return false;
}

uint64_t walk_threads_started(const struct walk_layout *layout, const struct walk_mem *mem)
{
	return layout->threads_started ? mem_u64(mem, layout->threads_started) : 0;
}
