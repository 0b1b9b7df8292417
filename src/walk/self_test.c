/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-test of a layout: a JDK newer than this walker may have changed structures that its exported tables do not describe.
 *
 *   threads  some of the oldest and newest are walked; one of them is the Reference Handler, which has been waiting since JVM
 *            start. Fails if a stack was broken and that of the Reference Handler did not reach its root. A walk counts only
 *            if a second one gives the same frames.
 *   methods  the debug info of compiled methods must lead to the nmethod's own Method. Fails if it never does.
 */
#include "walk/hotspot/code_cache.h"
#include "walk/hotspot/method.h"
#include "walk/hotspot/threads.h"
#include "walk/load/mem.h"
#include "walk/walk.h"

#define OLDEST      8 /* threads from each end of the JVM's list: the older end depends on the JDK */
#define FRAMES      64         /* maximum length of a chain */
#define METHODS     32         /* compiled methods examined */
#define SEGMENTS    (1u << 16) /* examined per heap of the code cache */
#define METHODS_MIN 4          /* WRONG verdicts, without any RIGHT, that refute the layout */

/* --- threads ----------------------------------------------------------------------------------------- */

struct oldest {
	uint64_t first[OLDEST], last[OLDEST];
	uint32_t count;
};

static void oldest_add(void *ctx, uint64_t java_thread, int32_t tid)
{
	struct oldest *o = ctx;

	(void)tid;
	if (o->count < OLDEST)
		o->first[o->count] = java_thread;
	o->last[o->count++ % OLDEST] = java_thread;
}

static bool same_frames(
	const struct walk_frame *a, const struct walk_frame *b, const struct walk_result *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (a[i].value != b[i].value || a[i].bci != b[i].bci || a[i].type != b[i].type)
			return false;
	return true;
}

/* True when the outermost Java frame is ReferenceHandler.run: every JVM has that thread. */
static bool is_known(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_frame *frames, uint32_t count)
{
	struct method m;
	struct method_symbols symbols;

	while (count && !walk_type_is_java(frames[count - 1].type))
		count--;
	return count && method_load(layout, mem, frames[count - 1].value, &m) &&
	       method_symbols(layout, mem, &m, &symbols) &&
	       symbol_is(layout, mem, symbols.class_name,
		       "java/lang/ref/Reference$ReferenceHandler") &&
	       symbol_is(layout, mem, symbols.name, "run");
}

enum verdict { UNSURE, RIGHT, WRONG };

/* Two walks with equal results mean that the thread was waiting. */
static enum verdict thread_verdict(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t java_thread)
{
	struct walk_frame once[FRAMES], again[FRAMES];
	const struct walk_thread thread = {.java_thread = java_thread};
	struct walk_result first = walk_java(layout, mem, &thread, once, FRAMES);
	struct walk_result second = walk_java(layout, mem, &thread, again, FRAMES);

	if (!first.count || first.truncated || first.count != second.count ||
		first.why != second.why || !same_frames(once, again, &first))
		return UNSURE;
	if (first.why != WALK_BREAK_NONE && first.why != WALK_BREAK_NATIVE)
		return WRONG; /* BREAK_NATIVE is no evidence: unwind rows have not arrived yet */
	return is_known(layout, mem, once, first.count) ? RIGHT : UNSURE;
}

static bool threads_walk(const struct walk_layout *layout, const struct walk_mem *mem)
{
	struct oldest o = {.count = 0};
	uint32_t wrong = 0;

	walk_threads_each(layout, mem, oldest_add, &o);
	uint32_t have = o.count < OLDEST ? o.count : OLDEST;
	for (uint32_t i = 0; i < 2 * have; i++) {
		enum verdict v =
			thread_verdict(layout, mem, i < have ? o.first[i] : o.last[i - have]);

		if (v == RIGHT)
			return true;
		wrong += v == WRONG;
	}
	return !wrong;
}

/* --- compiled methods -------------------------------------------------------------------------------- */

/* The scopes of the first PcDesc must lead to the nmethod's own Method. */
static enum verdict method_verdict(
	const struct walk_layout *layout, const struct walk_mem *mem, const struct code_blob *blob)
{
	struct code_desc desc;
	struct code_scope scope = {.sender = 0};

	if (!code_method(layout, blob) || !code_desc_find(layout, mem, blob, blob->code, &desc) ||
		desc.scope <= 0)
		return UNSURE; /* dead, or without a safepoint */
	scope.sender = desc.scope;
	for (int i = 0; i < FRAMES && scope.sender > 0; i++)
		if (!code_scope_read(layout, mem, blob, scope.sender, &scope))
			return WRONG;
	return !scope.sender && scope.method == code_method(layout, blob) ? RIGHT : WRONG;
}

static void heap_scan(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_heap *heap, uint32_t seen[WRONG + 1])
{
	uint64_t segments = (heap->high - heap->low) >> heap->shift, word = 0;
	struct code_blob blob;

	for (uint64_t i = 0; i < segments && i < SEGMENTS && seen[RIGHT] + seen[WRONG] < METHODS;
		i++) {
		uint64_t start = heap->low + (i << heap->shift) + layout->heap_block_bytes;

		if (i % 8 == 0 && !mem_load(mem, heap->segmap + i, &word, sizeof(word)))
			return;
		if ((word >> i % 8 * 8 & 0xff) != 0)
			continue; /* free, or not the first segment of a block */
		if (code_cache_at(layout, mem, start, &blob) && blob.kind == CODE_NMETHOD)
			seen[method_verdict(layout, mem, &blob)]++;
	}
}

const char *walk_layout_test(const struct walk_layout *layout, const struct walk_mem *mem)
{
	uint32_t seen[WRONG + 1] = {0};

	if (!threads_walk(layout, mem))
		return "walker not available: stacks of waiting threads were not walked to their "
		       "roots";
	for (uint32_t i = 0; i < layout->heap_count; i++)
		heap_scan(layout, mem, &layout->heaps[i], seen);
	if (!seen[RIGHT] && seen[WRONG] >= METHODS_MIN)
		return "walker not available: compiled methods do not describe themselves as "
		       "expected";
	return NULL;
}
