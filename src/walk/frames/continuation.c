/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a virtual thread to its carrier. The frames of a mounted continuation are above a ContinuationEntry, which is part of
 * the frame of Continuation.enterSpecial:
 *
 *   ... frames of the continuation | ContinuationEntry | fp | return address | frames of the carrier
 *                                    ^ JavaThread::_cont_entry, sp of enterSpecial
 *
 *   ContinuationEntry: an unused word | _parent | _cont, the Continuation | ...
 *
 * A remounted continuation has only its youngest frames on the stack. The last of them returns to a stub that thaws more (the
 * return barrier); while it does, the stack between it and the entry is scratch. So from any of these stubs the next certain
 * frame is the entry. The older frames are in the heap: frozen.h.
 *
 * A continuation yields in Continuation.yield0, which calls doYield. Once that has frozen the frames into a chunk, they are
 * also on the stack until it returns: from yield0 on, the frames in the chunk are used instead.
 */
#include "walk/frames/frozen.h"
#include "walk/hotspot/method.h"

/* --- frozen frames ----------------------------------------------------------------------------------- */

static bool frozen_of_entry(const struct walker *w, uint64_t entry, struct frozen *out)
{
	const struct walk_layout *l = w->layout;
	uint64_t object = mem_u64(w->mem, entry + (uint64_t)l->cont_parent.offset + 8);

	return frozen_fields(l, w->mem, object, &out->at) &&
	       frozen_tail(l, w->mem, NULL, object, out);
}

/*
 * True when all frames are in chunks: then the frames before index `shown`, found on the stack, are duplicates, except native
 * frames of the JVM and the doYield that called them. (While frames are thawed, none are on the stack.)
 */
static bool is_yielded(const struct walker *w, const struct frozen *f, uint32_t shown)
{
	return shown < w->count && !w->left_out &&
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
	struct walk_cursor at = w->at;
	struct frozen f;

	if (frozen_of_entry(w, entry, &f)) {
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
