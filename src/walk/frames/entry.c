/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two ways from native code into Java. Both make a frame with a frame pointer, and save the anchor of the Java frames
 * further out, at which the walk continues if it cannot step over the native frames in between:
 *
 *   call stub     the VM calls Java; called by libjvm. fp + call_wrapper -> JavaCallWrapper, which contains the anchor.
 *   upcall stubs  one per function pointer made by the foreign-function API; called by any native code, even in threads that
 *                 have not been in Java before: then the anchor is empty. The anchor is in the frame itself,
 *                 sp + UpcallStub::_frame_data_offset -> UpcallStub::FrameData. Each stub is a CodeBlob of frame size 0.
 */
#include "walk/frames/walker.h"

#define WRAPPER_DISTANCE (64u << 10) /* the wrapper is in the frame of the stub's caller */
#define UPCALL_FRAME_MAX (64u << 10) /* saved registers, arguments, a returned struct */

static uint64_t wrapper_of(const struct walker *w, uint64_t fp)
{
	return walker_word(w, fp + (uint64_t)(int64_t)w->layout->call_wrapper);
}

bool entry_sound(struct walker *w, uint64_t fp)
{
	if (!walker_on_stack(w, fp))
		return false;
	uint64_t wrapper = wrapper_of(w, fp);
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

bool upcall_sound(struct walker *w, uint64_t sp, uint64_t fp)
{
	return fp >= sp && fp - sp <= UPCALL_FRAME_MAX && native_sound(w, fp);
}

/*
 * UpcallLinker::on_entry moves the thread's anchor into the frame; until then, w->anchor is that of the Java frames further
 * out. An implausible anchor is dropped: the walk then depends on the native frames. Without an exact sp none is loaded.
 */
static void upcall_anchor_load(struct walker *w, const struct code_blob *blob)
{
	const struct walk_layout *l = w->layout;
	uint64_t fp = w->at.fp, data = layout_load(&l->upcall_frame_data, w->mem, blob->start);

	if (w->top || w->low || w->anchor.sp > fp)
		return;
	w->anchor.sp = 0;
	if (l->upcall_frame_data.offset < 0 || l->upcall_anchor.offset < 0 || (data & 7) ||
		data >= fp - w->at.sp)
		return;
	anchor_load(l, w->mem, w->at.sp + data + (uint64_t)l->upcall_anchor.offset, &w->anchor);
	if (w->anchor.sp <= fp || !walker_in_code(w, w->anchor.pc))
		w->anchor.sp = 0;
}

enum walk_step upcall_step(struct walker *w, const struct code_blob *blob)
{
	enum arch_prologue prologue = w->top ? arch_native_prologue(w->mem, w->at.pc) : ARCH_BODY;
	struct walk_cursor caller;
	uint64_t fp = w->at.fp;

	walker_add(w, WALK_STUB, w->at.pc, WALK_BCI_UNKNOWN);
	w->from_libjvm = false;
	if (prologue != ARCH_BODY) {
		caller = walker_before_frame(w, prologue == ARCH_PUSHED);
	} else {
		if (!upcall_sound(w, w->at.sp, fp))
			return walker_fail(w, WALK_BREAK_ENTRY);
		upcall_anchor_load(w, blob);
		caller = (struct walk_cursor){
			walker_word(w, fp + 8) & ARCH_PC_MASK, fp + 16, walker_word(w, fp)};
	}
	if (!walker_returns(w, caller.pc))
		return walker_fail(w, WALK_BREAK_ENTRY);
	return walker_next(w, caller.pc, caller.sp, caller.fp);
}
