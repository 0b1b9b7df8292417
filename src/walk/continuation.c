/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a virtual thread to its carrier. A mounted continuation's frames stand on a ContinuationEntry, which
 * is part of the frame of Continuation.enterSpecial:
 *
 *   ... frames of the continuation | ContinuationEntry | fp | return address | frames of the carrier
 *                                    ^ JavaThread::_cont_entry, sp of enterSpecial
 *
 * A continuation that was mounted again has only its youngest frames on the stack. The last of them
 * returns to a stub that brings back more (the return barrier); while it does, the stack between it and
 * the entry is scratch. So from any of these stubs the next certain thing is the entry.
 *
 * The older frames wait in StackChunks of the heap, Continuation.tail and its parents, laid out as on the
 * stack, but for interpreted frames, whose pointers are word offsets:
 *
 *   StackChunk: fields (sp, pc, parent...) | stack: ... [pc]<- sp  youngest frame ...
 *
 * No field of these classes is exported. A chunk proves itself: the word below its sp is its pc, and that
 * is a return address in the code cache. So its fields are looked for, and nothing need be known.
 */
#include "walk/walker.h"

#define ENTRY_WORDS   6         /* of a ContinuationEntry: one of them is the Continuation */
#define OBJECT_BYTES  96        /* bound of a Continuation, and of a StackChunk's fields */
#define STACK_WORDS   (1 << 20) /* bound of a chunk's stack */
#define EMPTY_WORDS   12        /* of a chunk: size and sp are among them */
#define EMPTY_CHUNKS  2         /* in a row */
#define FROZEN_FRAMES 8192
#define FROZEN_CHUNKS 64

/* --- chunks ------------------------------------------------------------------------------------------ */

struct chunk {
	uint64_t object;
	size_t fields;   /* bytes of it before the stack */
	uint64_t pc, sp; /* of its youngest frame */
};

static bool object_plausible(uint64_t object)
{
	return object >= 4096 && !(object & 7) && !(object >> 47);
}

/* Whether one of an object's fields is pc. */
static bool has_word(const uint8_t *object, size_t fields, uint64_t pc)
{
	uint64_t word;

	for (size_t i = 8; i < fields; i += 8) {
		__builtin_memcpy(&word, object + i, sizeof(word));
		if (word == pc)
			return true;
	}
	return false;
}

/* Is it a StackChunk? Try every int as its sp and every end of its fields. */
static bool chunk_read(const struct walker *w, uint64_t object, struct chunk *out)
{
	uint8_t copy[OBJECT_BYTES];
	int32_t sp;

	if (!object_plausible(object) || !mem_load(w->mem, object, copy, sizeof(copy)))
		return false;
	for (size_t i = 8; i < OBJECT_BYTES; i += 4) {
		__builtin_memcpy(&sp, copy + i, sizeof(sp));
		if (sp <= 0 || sp >= STACK_WORDS)
			continue;
		for (size_t fields = i + 4 > 32 ? (i + 11) & ~7ul : 32; fields <= OBJECT_BYTES;
			fields += 8) {
			uint64_t at = object + fields + 8ull * (uint32_t)sp;
			uint64_t pc = mem_u64(w->mem, at - 8);

			if (walker_in_code(w, pc) && has_word(copy, fields, pc)) {
				*out = (struct chunk){object, fields, pc, at};
				return true;
			}
		}
	}
	return false;
}

/* A chunk whose frames are all back on the stack has its sp at its size; its parent may have more. */
static bool looks_empty(const struct walker *w, uint64_t object)
{
	int32_t copy[OBJECT_BYTES / 4];

	if (!object_plausible(object) || !mem_load(w->mem, object, copy, sizeof(copy)))
		return false;
	for (size_t i = 2; i < EMPTY_WORDS; i++)
		for (size_t k = i + 1; k < EMPTY_WORDS; k++)
			if (copy[i] == copy[k] && copy[i] > 1 && copy[i] < STACK_WORDS)
				return true;
	return false;
}

static bool chunk_in(
	const struct walker *w, uint64_t object, size_t fields, int depth, struct chunk *out);

/* Is the object a chunk with frames, or an empty one in front of such a chunk? */
static bool chunk_at(const struct walker *w, uint64_t object, int depth, struct chunk *out)
{
	if (chunk_read(w, object, out))
		return true;
	return depth && looks_empty(w, object) &&
	       chunk_in(w, object, OBJECT_BYTES / 2, depth - 1, out);
}

/* By a whole word: plain, or coloured as generational ZGC's are, which shifts by 13 to 16. */
static bool chunk_by_word(const struct walker *w, uint64_t word, int depth, struct chunk *out)
{
	if (!(word >> 47))
		return chunk_at(w, word, depth, out);
	for (unsigned shift = 13; shift <= 16; shift++)
		if (chunk_at(w, word >> shift, depth, out))
			return true;
	return false;
}

/* The first of an object's fields that refers to a chunk: a narrow oop or a plain one. */
static bool chunk_in(
	const struct walker *w, uint64_t object, size_t fields, int depth, struct chunk *out)
{
	const struct walk_layout *l = w->layout;
	uint64_t base = mem_u64(w->mem, l->narrow_oop_base);
	uint32_t shift = mem_u32(w->mem, l->narrow_oop_shift) & 7;

	for (uint64_t i = 8; i < fields; i += 4) {
		uint32_t narrow = mem_u32(w->mem, object + i);

		if (narrow && chunk_at(w, base + ((uint64_t)narrow << shift), depth, out) &&
			out->object != object)
			return true;
		if (!(i & 7) && chunk_by_word(w, mem_u64(w->mem, object + i), depth, out) &&
			out->object != object)
			return true;
	}
	return false;
}

static bool chunk_of_entry(const struct walker *w, uint64_t entry, struct chunk *out)
{
	for (uint64_t i = 0; i < ENTRY_WORDS; i++) {
		uint64_t object = mem_u64(w->mem, entry + 8 * i);

		if (object_plausible(object) && !(object >= w->lo && object < w->hi) &&
			chunk_in(w, object, OBJECT_BYTES, EMPTY_CHUNKS, out))
			return true;
	}
	return false;
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
 * Show the frames of one chunk, youngest first; w->at.fp is where the last frame's link is. True when the
 * last of them returns to the barrier: a parent has the next.
 */
static bool chunk_show(struct walker *w, const struct chunk *c)
{
	w->at = (struct walk_cursor){.pc = c->pc, .sp = c->sp, .fp = c->sp - 16};
	for (int i = 0; i < FROZEN_FRAMES && w->count < w->max; i++)
		if (walker_in_interpreter(w, w->at.pc) ? !frozen_interpreted(w, w->at.fp)
						       : !frozen_compiled(w))
			break;
	return code_cache_find(w->layout, w->mem, w->at.pc, &w->blob) &&
	       w->blob.kind == CODE_CONTINUATION;
}

static void frozen_show(struct walker *w, uint64_t entry)
{
	struct walk_cursor at = w->at;
	struct chunk c, parent;

	if (chunk_of_entry(w, entry, &c)) {
		w->count--; /* the stub stands for the frames that follow */
		for (int i = 0; i < FROZEN_CHUNKS && chunk_show(w, &c); i++) {
			if (w->count == w->max ||
				!chunk_in(w, c.object, c.fields, EMPTY_CHUNKS, &parent))
				break;
			c = parent;
		}
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
