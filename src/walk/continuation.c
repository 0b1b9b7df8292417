/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a virtual thread to its carrier. A mounted continuation's frames stand on a ContinuationEntry, which
 * is part of the frame of Continuation.enterSpecial:
 *
 *   ... frames of the continuation | ContinuationEntry | fp | return address | frames of the carrier
 *                                    ^ JavaThread::_cont_entry, sp of enterSpecial
 *
 *   ContinuationEntry: a word that holds anything | _parent | _cont, the Continuation | ...
 *
 * A continuation that was mounted again has only its youngest frames on the stack. The last of them
 * returns to a stub that brings back more (the return barrier); while it does, the stack between it and
 * the entry is scratch. So from any of these stubs the next certain thing is the entry.
 *
 * The older frames wait in StackChunks of the heap, Continuation.tail and its parents, laid out as on the
 * stack, but for interpreted frames, whose pointers are word offsets:
 *
 *   StackChunk: fields (parent, sp...) | stack: ... [pc]<- sp  youngest frame ... oldest frame
 *
 * A continuation yields in Continuation.yield0, which calls doYield. When that has put the frames into a chunk,
 * they stand on the stack, too, until it leaves: whatever is in the chunk from yield0 on is shown from there.
 */
#include "walk/method.h"
#include "walk/oop.h"
#include "walk/walker.h"

#define CONTINUATION  "jdk/internal/vm/Continuation"
#define STACK_CHUNK   "jdk/internal/vm/StackChunk"
#define STACK_WORDS   (1u << 20) /* bound of a chunk's stack */
#define FROZEN_FRAMES 8192
#define FROZEN_CHUNKS 64

/* --- chunks ------------------------------------------------------------------------------------------ */

struct chunk {
	uint64_t object;
	/* of its class: offsets of fields (bottom or argsize: 0 = the other), where the stack begins */
	uint32_t parent, sp, size, bottom, argsize, bytes;
};

/* Where the oldest frame of a chunk ends, in words of its stack. */
static uint32_t chunk_bottom(const struct walker *w, const struct chunk *c)
{
	if (c->bottom)
		return mem_u32(w->mem, c->object + c->bottom);
	return mem_u32(w->mem, c->object + c->size) - mem_u32(w->mem, c->object + c->argsize);
}

/* Where the youngest one begins. */
static uint64_t chunk_sp(const struct walker *w, const struct chunk *c)
{
	return c->object + c->bytes + 8ull * mem_u32(w->mem, c->object + c->sp);
}

/* Continuations are subclassed: the class of a virtual thread's is VirtualThread.VThreadContinuation. */
static uint64_t continuation_klass(const struct walker *w, uint64_t object)
{
	static const char *const names[] = {
		"java/lang/VirtualThread$VThreadContinuation", CONTINUATION};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t klass = oop_klass(w->layout, w->mem, object, names[i]);

		if (klass)
			return i == 0 ? layout_load(&w->layout->klass_super, w->mem, klass) : klass;
	}
	return 0;
}

/* The chunk that the Continuation of an entry ends in. */
static bool chunk_of_entry(const struct walker *w, uint64_t entry, struct chunk *out)
{
	static const char *const tail_name[] = {"tail"};
	static const char *const chunk_names[] = {"parent", "sp", "size"};
	static const char *const bottom[] = {"bottom"}, *const argsize[] = {"argsize"}; /* JDK 21 */
	const struct walk_layout *l = w->layout;
	uint64_t object = mem_u64(w->mem, entry + (uint64_t)l->cont_parent.offset + 8);
	uint64_t klass = continuation_klass(w, object);
	uint32_t tail, offsets[3];

	*out = (struct chunk){.object = 0};
	if (!klass || !oop_fields(l, w->mem, klass, tail_name, &tail, 1))
		return false;
	out->object = oop_follow(l, w->mem, object + tail, STACK_CHUNK);
	klass = oop_klass(l, w->mem, out->object, STACK_CHUNK);
	if (!klass || !oop_fields(l, w->mem, klass, chunk_names, offsets, 3))
		return false;
	out->parent = offsets[0];
	out->sp = offsets[1];
	out->size = offsets[2];
	if (!oop_fields(l, w->mem, klass, bottom, &out->bottom, 1) &&
		!oop_fields(l, w->mem, klass, argsize, &out->argsize, 1))
		return false;
	out->bytes = oop_bytes(l, w->mem, klass);
	return true;
}

static bool chunk_parent(const struct walker *w, struct chunk *c)
{
	c->object = oop_follow(w->layout, w->mem, c->object + c->parent, STACK_CHUNK);
	return c->object != 0;
}

/* --- frozen frames ----------------------------------------------------------------------------------- */

static uint64_t relative(const struct walker *w, uint64_t slot, uint64_t base)
{
	return base + 8 * mem_u64(w->mem, slot);
}

/* link: where the caller's fp was pushed, below the frame. */
static bool frozen_interpreted(struct walker *w, uint64_t link)
{
	uint64_t fp = relative(w, link, link);

	if (!interpreted_show(w, fp))
		return false;
	w->at.pc = mem_u64(w->mem, fp + 8) & ARCH_PC_MASK;
	w->at.fp = fp; /* the caller's link is there, if it is interpreted too */
	w->at.sp = relative(w, fp - 8, fp);
	return true;
}

static bool frozen_compiled(struct walker *w)
{
	if (!code_cache_find(w->layout, w->mem, w->at.pc, &w->blob) ||
		w->blob.kind != CODE_NMETHOD || w->blob.frame_words < 2)
		return false;

	uint64_t end = w->at.sp + 8ull * (uint32_t)w->blob.frame_words;

	compiled_show(w, &w->blob);
	w->at.pc = mem_u64(w->mem, end - 8) & ARCH_PC_MASK;
	w->at.fp = end - 16;
	w->at.sp = end;
	return true;
}

/*
 * Show the frames of one chunk, youngest first; w->at.fp is where the last frame's link is. True when all
 * of them were: a parent may have more. What the last one returns to is set only when it is brought back.
 */
static bool chunk_show(struct walker *w, const struct chunk *c)
{
	uint32_t bottom = chunk_bottom(w, c);
	uint64_t stack = c->object + c->bytes, sp = chunk_sp(w, c);

	if (bottom >= STACK_WORDS)
		return false;
	w->at = (struct walk_cursor){
		.pc = mem_u64(w->mem, sp - 8) & ARCH_PC_MASK, .sp = sp, .fp = sp - 16};
	for (int i = 0; i < FROZEN_FRAMES && w->at.sp < stack + 8ull * bottom; i++)
		if (!walker_room(w) ||
			!(walker_in_interpreter(w, w->at.pc) ? frozen_interpreted(w, w->at.fp)
							     : frozen_compiled(w)))
			return false;
	return true;
}

/* The Method of the youngest frame of a chunk, which has been shown as frame number `shown`. */
static uint64_t youngest_method(const struct walker *w, const struct chunk *c, uint32_t shown)
{
	uint64_t sp = chunk_sp(w, c), link = sp - 16;

	if (walker_in_interpreter(w, mem_u64(w->mem, sp - 8) & ARCH_PC_MASK))
		return walker_slot(w, relative(w, link, link), w->layout->interp_method);
	return w->frames[shown].value;
}

/*
 * Whether all frames are in chunks: those on the stack, numbers up to `shown`, are the same once more, but for native
 * ones of the JVM and the doYield that called them. (While they are brought back there are none on the stack.)
 */
static bool is_yielded(const struct walker *w, const struct chunk *c, uint32_t shown)
{
	return shown < w->count && !w->left_out &&
	       method_is_named(w->layout, w->mem, youngest_method(w, c, shown), "yield0");
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
	if (w->thread->memo)
		memo_forget(w->thread->memo, keep);
}

static void frozen_show(struct walker *w, uint64_t entry)
{
	struct walk_cursor at = w->at;
	struct chunk c;

	if (chunk_of_entry(w, entry, &c)) {
		uint32_t shown = --w->count; /* the stub stands for the frames that follow */
		struct chunk first = c;

		for (int i = 0; i < FROZEN_CHUNKS; i++) {
			if (!chunk_show(w, &c) || !chunk_parent(w, &c))
				break;
		}
		if (is_yielded(w, &first, shown))
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
		frozen_show(w, entry);
	w->no_size = true; /* the return barrier is no frame of its own */
	return carrier_step(w, entry);
}
