/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call stub, through which the VM calls Java: a frame with a frame pointer, called by libjvm. Its
 * JavaCallWrapper keeps the anchor of the Java frames further out, in case the native frames between do
 * not lead there.
 */
#include "walk/frames/walker.h"

#define WRAPPER_DISTANCE (64u << 10) /* the wrapper lives in the frame of the stub's caller */

static uint64_t wrapper_of(const struct walker *w, uint64_t fp)
{
	return walker_word(w, fp + (uint64_t)(int64_t)w->layout->call_wrapper);
}

bool entry_sound(struct walker *w, uint64_t fp)
{
	uint64_t wrapper;

	if (!walker_on_stack(w, fp))
		return false;
	wrapper = wrapper_of(w, fp);
	return walker_on_stack(w, wrapper) && wrapper > fp && wrapper - fp <= WRAPPER_DISTANCE;
}

enum walk_step entry_step(struct walker *w)
{
	const struct walk_layout *l = w->layout;
	uint64_t fp = w->at.fp;

	walker_add(w, WALK_STUB, w->at.pc, WALK_BCI_UNKNOWN);
	if (!entry_sound(w, fp))
		return walker_fail(w, WALK_BREAK_ENTRY);

	uint64_t wrapper = wrapper_of(w, fp);
	uint64_t pc = walker_word(w, fp + 8) & ARCH_PC_MASK;

	anchor_load(l, w->mem, wrapper + (uint64_t)l->wrapper_anchor.offset, &w->anchor);
	w->from_libjvm = false;
	if (!walker_returns(w, pc))
		return walker_fail(w, WALK_BREAK_ENTRY);
	return walker_next(w, pc, fp + 16, walker_word(w, fp));
}
