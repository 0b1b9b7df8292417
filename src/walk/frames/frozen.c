/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frozen frames, and the way from a virtual thread to its carrier. The frames of a mounted continuation are above a
 * ContinuationEntry, which is part of the frame of Continuation.enterSpecial:
 *
 *   ... frames of the continuation | ContinuationEntry | fp | return address | frames of the carrier
 *                                    ^ JavaThread::_cont_entry, sp of enterSpecial
 *
 *   ContinuationEntry: an unused word | _parent | _cont, the Continuation | ...
 *
 * A remounted continuation has only its youngest frames on the stack. The last of them returns to a stub that thaws more (the
 * return barrier); while it does, the stack between it and the entry is scratch. So a walk that meets one of these stubs
 * continues at the entry, and reads the older frames from the heap.
 *
 * A continuation yields in Continuation.yield0, which calls doYield. Once that has frozen the frames into a chunk, they are
 * also on the stack until it returns: from yield0 on, the frames in the chunk are used instead.
 */
#include "walk/frames/frozen.h"
#include "walk/hotspot/method.h"

#define CONTINUATION  "jdk/internal/vm/Continuation"
#define STACK_CHUNK   "jdk/internal/vm/StackChunk"
#define STACK_WORDS   (1u << 20) /* upper bound of a chunk's stack */
#define FROZEN_FRAMES 8192
#define FROZEN_CHUNKS 64

/* --- chunks ------------------------------------------------------------------------------------------ */

/* The class Continuation itself: a virtual thread's continuation is of the subclass VThreadContinuation. */
static uint64_t continuation_klass(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t object)
{
	static const char *const names[] = {
		"java/lang/VirtualThread$VThreadContinuation", CONTINUATION};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t klass = oop_klass(l, mem, object, names[i]);

		if (klass)
			return i == 0 ? layout_load(&l->klass_super, mem, klass) : klass;
	}
	return 0;
}

bool frozen_fields(const struct walk_layout *l, const struct walk_mem *mem, uint64_t continuation,
	struct frozen_fields *out)
{
	static const char *const tail_name[] = {"tail"};
	static const char *const chunk_names[] = {"parent", "sp", "size"};
	static const char *const bottom[] = {"bottom"}, *const argsize[] = {"argsize"}; /* JDK 21 */
	uint64_t klass = continuation_klass(l, mem, continuation);
	uint32_t offsets[3];

	*out = (struct frozen_fields){.tail = 0};
	if (!klass || !oop_fields(l, mem, klass, tail_name, &out->tail, 1))
		return false;
	uint64_t chunk = oop_follow(l, mem, continuation + out->tail, STACK_CHUNK);
	klass = oop_klass(l, mem, chunk, STACK_CHUNK);
	if (!klass || !oop_fields(l, mem, klass, chunk_names, offsets, 3))
		return false;
	out->parent = offsets[0];
	out->sp = offsets[1];
	out->size = offsets[2];
	if (!oop_fields(l, mem, klass, bottom, &out->bottom, 1) &&
		!oop_fields(l, mem, klass, argsize, &out->argsize, 1))
		return false;
	out->bytes = oop_bytes(l, mem, klass);
	out->klass = klass;
	return true;
}

bool frozen_tail(const struct walk_layout *l, const struct walk_mem *mem,
	const struct oop_mode *mode, uint64_t continuation, struct frozen *f)
{
	f->chunk = mode ? oop_field_of(mode, l, mem, continuation + f->at.tail, f->at.klass)
			: oop_follow(l, mem, continuation + f->at.tail, STACK_CHUNK);
	return f->chunk != 0;
}

/* End of the oldest frame, in words of the chunk's stack. */
static uint32_t frozen_bottom(const struct walk_mem *mem, const struct frozen *f)
{
	if (f->at.bottom)
		return mem_u32(mem, f->chunk + f->at.bottom);
	return mem_u32(mem, f->chunk + f->at.size) - mem_u32(mem, f->chunk + f->at.argsize);
}

uint64_t frozen_sp(const struct walk_mem *mem, const struct frozen *f)
{
	return f->chunk + f->at.bytes + 8ull * mem_u32(mem, f->chunk + f->at.sp);
}

bool frozen_any(const struct walk_mem *mem, const struct frozen *f)
{
	uint32_t bottom = frozen_bottom(mem, f);

	return bottom < STACK_WORDS && mem_u32(mem, f->chunk + f->at.sp) < bottom;
}

/* --- frames ------------------------------------------------------------------------------------------ */

/* Frozen pointers of interpreted frames are offsets in words from `base`. */
static uint64_t relative_load(const struct walker *w, uint64_t slot, uint64_t base)
{
	return base + 8 * mem_u64(w->mem, slot);
}

/* link: address of the caller's pushed fp, below the frame. */
static bool frozen_interpreted(struct walker *w, uint64_t link)
{
	uint64_t fp = relative_load(w, link, link);

	if (!interpreted_show(w, fp))
		return false;
	w->at.pc = mem_u64(w->mem, fp + 8) & ARCH_PC_MASK;
	w->at.fp = fp; /* the caller's link, if it is interpreted too */
	w->at.sp = relative_load(w, fp - 8, fp);
	return true;
}

/*
 * Besides compiled Java, the youngest frame's code may be the wrapper of a native method, or the stub through which it
 * requested a monitor.
 */
static bool frozen_compiled(struct walker *w)
{
	const struct code_blob *blob = walker_blob(w, w->at.pc);

	if (!blob || blob->frame_words < 2 ||
		(blob->kind != CODE_NMETHOD && blob->kind != CODE_NATIVE &&
			blob->kind != CODE_RUNTIME))
		return false;
	uint64_t end = w->at.sp + 8ull * (uint32_t)blob->frame_words;
	if (blob->kind != CODE_RUNTIME)
		compiled_show(w, blob);
	w->at.pc = mem_u64(w->mem, end - 8) & ARCH_PC_MASK;
	w->at.fp = end - 16;
	w->at.sp = end;
	return true;
}

/*
 * Adds the frames of one chunk, youngest first; w->at.fp is the link of the last frame. True when all of them were added; a
 * parent may have more. The return address of the oldest frame is not valid until it is thawed.
 */
static bool chunk_show(struct walker *w, const struct frozen *f)
{
	uint32_t bottom = frozen_bottom(w->mem, f);
	uint64_t stack = f->chunk + f->at.bytes, sp = frozen_sp(w->mem, f);

	if (bottom >= STACK_WORDS)
		return false;
	w->at = (struct walk_cursor){
		.pc = mem_u64(w->mem, sp - 8) & ARCH_PC_MASK, .sp = sp, .fp = sp - 16};
	for (int i = 0; i < FROZEN_FRAMES && w->at.sp < stack + 8ull * bottom; i++)
		if (!walker_has_space(w) ||
			!(walker_in_interpreter(w, w->at.pc) ? frozen_interpreted(w, w->at.fp)
							     : frozen_compiled(w)))
			return false;
	return true;
}

bool frozen_show(struct walker *w, const struct frozen *f)
{
	struct frozen c = *f;

	for (int i = 0; i < FROZEN_CHUNKS; i++) {
		if (!chunk_show(w, &c))
			return false;
		c.chunk = oop_follow(w->layout, w->mem, c.chunk + c.at.parent, STACK_CHUNK);
		if (!c.chunk)
			return true;
	}
	return false;
}

struct walk_result walk_frozen(const struct walk_layout *l, const struct walk_mem *mem,
	const struct walk_thread *thread, const struct frozen *f, struct walk_frame *frames,
	uint32_t max)
{
	struct walk_result result = {.why = WALK_BREAK_NONE};
	struct walker w;

	walker_begin(&w, l, mem, thread, frames, max);
	if (!frozen_show(&w, f)) {
		result.truncated = !walker_has_space(&w);
		result.why = result.truncated ? WALK_BREAK_NONE : WALK_BREAK_COMPILED;
	}
	if (result.why)
		walker_add(&w, WALK_BREAK, result.why, WALK_BCI_UNKNOWN);
	cut_end(&w, &result);
	result.count = w.count;
	return result;
}

/* --- mounted continuations --------------------------------------------------------------------------- */

/* The Method of the youngest frame, which was added as frame `shown` of the walk. */
static uint64_t frozen_method(const struct walker *w, const struct frozen *f, uint32_t shown)
{
	uint64_t sp = frozen_sp(w->mem, f), link = sp - 16;

	if (walker_in_interpreter(w, mem_u64(w->mem, sp - 8) & ARCH_PC_MASK))
		return walker_slot(w, relative_load(w, link, link), w->layout->interp_method);
	return w->frames[shown].value;
}

/*
 * True when all frames are in chunks: then the frames before index `shown`, found on the stack, are duplicates, except native
 * frames of the JVM and the doYield that called them. (While frames are thawed, none are on the stack.)
 */
static bool is_yielded(const struct walker *w, const struct frozen *f, uint32_t shown)
{
	return shown < w->count && !w->omitted &&
	       method_is_named(w->layout, w->mem, frozen_method(w, f, shown), "yield0");
}

static void yielded_drop(struct walker *w, uint32_t shown)
{
	uint32_t keep = 0;

	while (keep < shown && w->frames[keep].type == WALK_NATIVE)
		keep++;
	if (++keep >= shown)
		return;
	for (uint32_t i = shown; i < w->count; i++)
		w->frames[keep + i - shown] = w->frames[i];
	w->count -= shown - keep;
	w->joined = false;
	if (w->thread->cache)
		frame_cache_forget(w->thread->cache, keep);
}

static void entry_show(struct walker *w, uint64_t entry)
{
	uint64_t object = mem_u64(w->mem, entry + (uint64_t)w->layout->cont_parent.offset + 8);
	struct walk_cursor at = w->at;
	struct frozen f;

	if (frozen_fields(w->layout, w->mem, object, &f.at) &&
		frozen_tail(w->layout, w->mem, NULL, object, &f)) {
		uint32_t shown = --w->count; /* replace the stub by the frames that follow */

		frozen_show(w, &f);
		if (is_yielded(w, &f, shown))
			yielded_drop(w, shown);
	}
	w->at = at;
}

/* --- the carrier ------------------------------------------------------------------------------------- */

/* sizeof(ContinuationEntry) by release, where it is not exported */
static const uint32_t entry_bytes[] = {48, 64};

static enum walk_step carrier_step(struct walker *w, uint64_t entry)
{
	const struct walk_layout *l = w->layout;

	if (l->cont_return_pc) {
		uint64_t pc = mem_u64(w->mem, l->cont_return_pc);

		if (walker_in_code(w, pc) && walker_caller_sound(w, pc, entry, w->at.fp))
			return walker_next(w, pc, entry, w->at.fp);
		return STEP_FAIL;
	}
	for (size_t i = 0; i < sizeof(entry_bytes) / sizeof(entry_bytes[0]); i++) {
		uint64_t slot = entry + entry_bytes[i];

		if (walker_try(w, walker_word(w, slot + 8), slot + 16, walker_word(w, slot)) ==
			STEP_NEXT)
			return STEP_NEXT;
	}
	return STEP_FAIL;
}

enum walk_step continuation_step(struct walker *w)
{
	uint64_t entry = layout_load(&w->layout->cont_entry, w->mem, w->thread->java_thread);

	if (!entry || !walker_on_stack(w, entry))
		return STEP_FAIL;
	if (!w->top)
		entry_show(w, entry);
	w->no_size = true; /* the return barrier has no frame of its own */
	return carrier_step(w, entry);
}
