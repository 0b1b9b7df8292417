/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk loop: the file responsible for the kind of code at pc steps to the caller, until the thread's root is reached. Also
 * cuts stacks that are deeper than the limit.
 *
 *   pc in libjvm, libc, ...  native.c        pc in the interpreter  interpreted.c
 *   pc in an nmethod         compiled.c      pc in any other blob   stub.c, entry.c (from C into Java)
 *
 * A thread that left Java has a JavaFrameAnchor: the exact sp/pc of its last Java frame. Native frames are walked first; where
 * they lead to the code cache, past the anchor, or nowhere, the walk continues at the anchor.
 */
#include "walk/walk.h"

#include "walk/frames/unwind.h"
#include "walk/frames/walker.h"
#include "walk/hotspot/method.h"

#define STACK_BOUND (8u << 20) /* used when the stack's end is unknown */
#define STEP_FRAMES 300u       /* upper bound of frames that one step adds */
#define OMITTED_MAX (1u << 16) /* frames dropped at most: bounds a handler's run time */

/* --- cuts -------------------------------------------------------------------------------------------- */

/*
 * Stacks deeper than the limit: a walk cannot know how far the root is, so it continues, and whenever the buffer is full the
 * frames between the leaf end and the outermost ones found are dropped:
 *
 *   top                | cut | root
 *   leaf ...           |  1  | the outermost found ...       space
 */
static void cut_squeeze(struct walker *w)
{
	uint32_t to = w->cut->top + 1, kept = to + w->cut->root, from = w->count - w->cut->root;
	struct frame_cache_walk *cache = w->thread->cache;

	for (uint32_t i = 0; i < w->cut->root; i++)
		w->frames[to + i] = w->frames[from + i];
	/* The cut's slot contained a frame until the first squeeze. */
	w->omitted += w->count - kept + (w->omitted ? 0 : 1);
	w->count = kept;
	if (cache)
		frame_cache_forget(cache, w->cut->top);
}

bool walker_has_space(struct walker *w)
{
	if (!w->cut)
		return w->count < w->max;
	if (w->max - w->count < STEP_FRAMES && w->omitted < OMITTED_MAX)
		cut_squeeze(w);
	return w->max - w->count >= STEP_FRAMES;
}

/* Two significant digits: otherwise a recursion of varying depth would make a distinct stack per frame. */
static uint32_t rounded(uint32_t n)
{
	uint32_t unit = 1;

	while (n / unit >= 100)
		unit *= 10;
	return n - n % unit;
}

void cut_end(struct walker *w, struct walk_result *result)
{
	const struct walk_cut *cut = w->thread->cut;

	if (!cut)
		return;
	if (result->truncated) {
		w->count = w->count < cut->top ? w->count : cut->top;
	} else if (w->cut && (w->omitted || w->count > cut->limit)) {
		cut_squeeze(w);
		w->frames[cut->top] =
			(struct walk_frame){.value = rounded(w->omitted), .type = WALK_CUT};
	}
}

/* --- anchors ----------------------------------------------------------------------------------------- */

bool anchor_load(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t anchor,
	struct walk_cursor *out)
{
	out->sp = layout_load(&layout->anchor_sp, mem, anchor);
	out->fp = layout_load(&layout->anchor_fp, mem, anchor);
	out->pc = layout_load(&layout->anchor_pc, mem, anchor) & ARCH_PC_MASK;
	/* Calls into the VM omit pc when the return address is just below sp. */
	if (out->sp && !out->pc)
		out->pc = mem_u64(mem, out->sp - 8) & ARCH_PC_MASK;
	if (!out->pc || (out->sp & 7))
		out->sp = 0;
	return out->sp != 0;
}

/* Continues the walk at the anchor. False if there is none, or it is not above the frames already walked. */
static bool anchor_hop(struct walker *w)
{
	struct walk_cursor anchor = w->anchor;

	w->anchor.sp = 0;
	if (!anchor.sp || anchor.sp < w->at.sp || anchor.sp >= w->hi)
		return false;
	w->at = anchor;
	w->top = w->low = false;
	return true;
}

/* --- the loop ---------------------------------------------------------------------------------------- */

/*
 * True when a return address leads into an upcall stub that has called the VM: then the thread's anchor belongs to Java frames
 * further out than the C code that called the stub.
 */
static bool at_upcall(struct walker *w)
{
	const struct code_blob *blob =
		walker_in_interpreter(w, w->at.pc) ? NULL : walker_blob(w, w->at.pc);

	return blob && blob->kind == CODE_UPCALL;
}

static enum walk_step code_step(struct walker *w)
{
	if (walker_in_interpreter(w, w->at.pc))
		return interpreted_step(w);
	if (w->at.pc == w->layout->call_stub_return && !w->top)
		return entry_step(w);
	if (compiled_known(w) == STEP_NEXT)
		return STEP_NEXT;
	const struct code_blob *blob = walker_blob(w, w->at.pc);
	if (!blob)
		return walker_fail(w, WALK_BREAK_CODE_CACHE);
	w->current = blob == &w->blobs[1];
	if (blob->kind == CODE_NMETHOD || blob->kind == CODE_NATIVE)
		return compiled_step(w, blob);
	if (blob->kind == CODE_UPCALL)
		return upcall_step(w, blob);
	return stub_step(w, blob);
}

static enum walk_step step(struct walker *w)
{
	struct walk_cursor before = w->at;
	enum walk_step done;
	bool leaf = w->leaf;

	if (!walker_in_code(w, w->at.pc)) {
		done = native_step(w);
	} else {
		if (!w->top && w->anchor.sp && !at_upcall(w) && anchor_hop(w))
			before = w->at;
		done = code_step(w);
		w->low = w->low && w->top; /* only set by interrupted stubs */
	}
	if (done != STEP_NEXT)
		return done;
	/* sp may stay unchanged only across a frame without stack words, and not across two in a row. */
	if ((w->at.sp & 7) || w->at.sp >= w->hi || w->at.sp < before.sp ||
		(w->at.sp == before.sp && !w->top && !w->no_size)) {
		w->at = before;
		return walker_fail(
			w, walker_in_code(w, before.pc) ? WALK_BREAK_COMPILED : WALK_BREAK_NATIVE);
	}
	w->top = w->signal;
	w->signal = false;
	w->leaf = w->leaf && !leaf; /* valid for the next frame only */
	w->no_size = false;
	return STEP_NEXT;
}

/* Repairs a failed step with the anchor, which is exact. Returns false if the walk ends here. */
static bool recover(struct walker *w, uint32_t count_before)
{
	struct walk_cursor failed = w->at;

	if (!anchor_hop(w))
		return false;
	/* The anchor may belong to the frame that failed: do not add it twice. */
	const struct code_blob *blob = walker_blob(w, failed.pc);
	uint64_t start = blob ? blob->start : 0;
	blob = start ? walker_blob(w, w->at.pc) : NULL;
	if (blob && blob->start == start)
		w->count = count_before;
	w->why = WALK_BREAK_NONE;
	return true;
}

static void bounds_set(struct walker *w)
{
	const struct walk_layout *l = w->layout;
	uint64_t thread = w->thread->java_thread, lo = w->thread->stack_lo;

	w->hi = w->thread->stack_hi;
	if (!w->hi && l && thread) {
		w->hi = layout_load(&l->thread_stack_base, w->mem, thread);
		lo = w->hi - layout_load(&l->thread_stack_size, w->mem, thread);
	}
	w->bounded = w->at.sp >= lo && w->at.sp < w->hi;
	if (!w->bounded)
		w->hi = w->at.sp + STACK_BOUND;
}

void walker_begin(struct walker *w, const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_thread *thread, struct walk_frame *frames, uint32_t max)
{
	const struct walk_cut *cut = thread->cut;

	*w = (struct walker){.layout = layout,
		.mem = mem,
		.regs = &w->signal_regs,
		.thread = thread,
		.frames = frames,
		.max = max,
		.cut = cut && cut->root ? cut : NULL};
	if (cut)
		w->max = cut->root ? cut->limit + WALK_CUT_SPARE : cut->limit;
	if (thread->cache)
		frame_cache_begin(thread->cache, layout, mem);
}

static void walk_run(struct walker *w, struct walk_result *result)
{
	for (;;) {
		if (!walker_has_space(w)) {
			result->truncated = true;
			return;
		}
		if (w->tail && tail_follow(w))
			return;
		uint32_t count = w->count;
		switch (step(w)) {
		case STEP_NEXT: continue;
		case STEP_ROOT: return;
		case STEP_FAIL: break;
		}
		if (recover(w, count))
			continue;
		result->why = w->why;
		if (w->count == w->max)
			w->count--;
		walker_add(w, WALK_BREAK, w->why, WALK_BCI_UNKNOWN);
		return;
	}
}

bool walker_to_root(struct walker *w)
{
	struct walk_result result = {.why = WALK_BREAK_NONE};

	walk_run(w, &result);
	return !result.why && !result.truncated;
}

/* Adds the method that a compiler thread compiles. It stays pinned while the task belongs to the thread. */
static void compiling_add(struct walker *w)
{
	const struct walk_layout *l = w->layout;
	uint64_t env = layout_load(&l->compiler_env, w->mem, w->thread->java_thread);
	uint64_t task = layout_load(&l->env_task, w->mem, env);
	uint64_t method = layout_load(&l->task_method, w->mem, task);
	const struct frame_cache_walk *cache = w->thread->cache;
	struct frame_cache_method known;
	struct method m;

	if (w->max - w->count < 2 ||
		(!(cache && frame_cache_method(cache, l, w->mem, method, &known)) &&
			!method_load(l, w->mem, method, &m)))
		return;
	walker_add(w, WALK_COMPILES, method, WALK_BCI_UNKNOWN);
	walker_add(w, WALK_BREAK, WALK_COMPILING, WALK_BCI_UNKNOWN);
}

struct walk_result walk_stack(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_regs *regs, const struct walk_thread *thread, struct walk_frame *frames,
	uint32_t max)
{
	struct walk_result result = {.why = WALK_BREAK_NONE, .truncated = !max};
	struct walker w;

	if (!max)
		return result;
	walker_begin(&w, layout, mem, thread, frames, max);
	w.regs = regs;
	w.top = true;
	walker_next(&w, regs->pc, regs->sp, regs->fp);
	if (layout && thread->cache && thread->cache->methods && thread->rows &&
		thread->rows->generation)
		w.tail = thread->tail;
	bounds_set(&w);
	if (layout && thread->java_thread)
		anchor_load(layout, mem,
			thread->java_thread + (uint64_t)layout->thread_anchor.offset, &w.anchor);
	if (regs->sp & 7) {
		w.why = result.why = WALK_BREAK_NO_FRAME;
		walker_add(&w, WALK_BREAK, w.why, WALK_BCI_UNKNOWN);
	} else {
		walk_run(&w, &result);
		if (w.tail && !result.why && !result.truncated && !w.omitted)
			tail_end(&w);
		if (thread->compiler && layout && !result.why)
			compiling_add(&w);
		cut_end(&w, &result);
	}
	result.count = w.count;
	result.followed = w.followed;
	result.stack_hi = w.bounded ? w.hi : 0;
	return result;
}

struct walk_result walk_java(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_thread *thread, struct walk_frame *frames, uint32_t max)
{
	struct walk_result result = {.why = WALK_BREAK_NONE};
	struct walker w;

	walker_begin(&w, layout, mem, thread, frames, max);
	if (!anchor_load(layout, mem, thread->java_thread + (uint64_t)layout->thread_anchor.offset,
		    &w.at))
		return result;
	bounds_set(&w);
	walk_run(&w, &result);
	cut_end(&w, &result);
	result.count = w.count;
	return result;
}

const char *walk_break_name(enum walk_break why)
{
#define WALK_BREAK_NAME(name, text) text,
	static const char names[][24] = {WALK_BREAKS(WALK_BREAK_NAME)};

	if (why == WALK_COMPILING)
		return "[compiling]";
	return (unsigned)why < WALK_BREAK_COUNT ? names[why] : names[WALK_BREAK_NO_FRAME];
}
