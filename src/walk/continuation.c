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
 */
#include "walk/walker.h"

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
	w->no_size = true; /* the return barrier stands for frames that are in the heap */
	return carrier_step(w, entry);
}
