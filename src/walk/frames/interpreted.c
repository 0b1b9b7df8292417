/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of the template interpreter.
 *
 *   fp + 1   return address            fp - 2   last sp
 *   fp       caller's fp               fp - 3   Method*
 *   fp - 1   sender sp                 ...      fp + interp_bcp: bcp
 *
 * During method entry, Method* and sender sp are still in registers and the return address is at [sp], at [sp + 8] (after fp
 * was pushed), or, while space for locals is reserved, in rax. During method exit, the frame is already removed: the return
 * address is at [sp], then in r13, and the sender's sp in rbx.
 */
#include "walk/frames/walker.h"
#include "walk/hotspot/method.h"

#define FRAME_MAX   (1u << 20) /* bytes: locals and expression stack of one frame */
#define ENTRY_WORDS 16         /* stack words of a frameless entry */

/*
 * The bci of bcp in method; 0 for native methods and while bcp is not set; -1 if bcp is outside the method. During a
 * compacting collection, JDK 8 stores the bci itself in the slot (frame::gc_prologue).
 */
static int32_t bci_of(const struct walker *w, const struct frame_cache_method *m, uint64_t bcp)
{
	uint64_t code = m->const_method + w->layout->const_method_bytes;

	if (!bcp || bcp == code)
		return 0;
	if (bcp < m->code_bytes && w->layout->jdk < 9)
		return (int32_t)bcp;
	if (bcp < code || bcp - code >= m->code_bytes)
		return m->code_bytes == 0 ? 0 : -1;
	return (int32_t)(bcp - code);
}

/* The Method at this address, from the cache or read. False if it is none, or bcp is outside it. */
static bool method_at(struct walker *w, uint64_t method, uint64_t bcp,
	struct frame_cache_method *out, int32_t *bci)
{
	struct frame_cache_walk *cache = w->thread->cache;
	struct method m;

	if (cache && frame_cache_method(cache, w->layout, w->mem, method, out)) {
		*bci = bci_of(w, out, bcp);
		if (*bci >= 0)
			return true;
	}
	if (!method_load(w->layout, w->mem, method, &m))
		return false;
	*out = (struct frame_cache_method){
		.method = method, .const_method = m.const_method, .code_bytes = m.code_bytes};
	*bci = bci_of(w, out, bcp);
	return *bci >= 0;
}

static bool frame_add(struct walker *w, const struct frame_cache_method *m, uint16_t bci)
{
	if (m->id)
		return walker_add(
			w, WALK_PACKED, WALK_PACK_JAVA(WALK_INTERPRETED, m->id, bci), bci);
	return walker_add(w, WALK_INTERPRETED, m->method, bci);
}

/*
 * Reads the complete frame at fp. The top frame's bcp lives in a register and its slot is stale, but never points outside
 * the method.
 */
static bool frame_at(struct walker *w, uint64_t sp, uint64_t fp, struct frame_cache_method *method,
	uint16_t *bci)
{
	const struct walk_layout *l = w->layout;
	int32_t at;

	if (!walker_on_stack(w, fp) || fp - sp > FRAME_MAX ||
		sp > fp + (uint64_t)(8 * (int64_t)l->interp_bcp))
		return false;
	if (!method_at(w, walker_slot(w, fp, l->interp_method), walker_slot(w, fp, l->interp_bcp),
		    method, &at))
		return false;
	*bci = (uint16_t)at;
	return true;
}

bool interpreted_show(struct walker *w, uint64_t fp)
{
	const struct walk_layout *l = w->layout;
	struct frame_cache_method m;
	int32_t bci;

	return method_at(w, walker_slot(w, fp, l->interp_method), walker_slot(w, fp, l->interp_bcp),
		       &m, &bci) &&
	       frame_add(w, &m, (uint16_t)bci);
}

static enum walk_step frame_step(struct walker *w, uint64_t fp)
{
	uint64_t pc = walker_word(w, fp + 8) & ARCH_PC_MASK;
	uint64_t sp = walker_slot(w, fp, w->layout->interp_sender_sp);

	/*
	 * aarch64: an interpreted sender reserves its whole expression stack below its sp, and the callee begins right at
	 * the part in use.
	 */
	if (ARCH_HAS_LINK && sp <= fp && fp - sp < FRAME_MAX)
		sp = fp + 16;
	if (sp <= fp || sp - fp > FRAME_MAX || !walker_in_code(w, pc))
		return walker_fail(w, WALK_BREAK_INTERPRETED);
	return walker_next(w, pc, sp, walker_word(w, fp));
}

/* Steps from a method whose fp is set already. Its register for sender sp is reused only after sender sp was pushed. */
static enum walk_step own_frame(struct walker *w)
{
	uint64_t fp = w->at.fp, pc = walker_word(w, fp + 8), caller = walker_word(w, fp);
	uint64_t sender =
		w->at.sp < fp ? walker_slot(w, fp, w->layout->interp_sender_sp) : walker_sender(w);

	return walker_try_sender(w, pc, sender, fp + 16, caller);
}

/* Steps from a method entry: the frame is incomplete, Method* and sender sp are in registers. */
static enum walk_step entering(struct walker *w)
{
	const struct walk_regs *r = w->regs;
	uint64_t sp = w->at.sp, fp = w->at.fp, sender = walker_sender(w);
	struct frame_cache_method m;
	int32_t bci;

	if (!method_at(w, r->method, 0, &m, &bci) || !frame_add(w, &m, 0))
		return STEP_FAIL;
	/* The order matters: a pushed fp is never code, but [sp + 8] may be the caller's. */
	if (!ARCH_HAS_LINK) {
		uint64_t word = walker_word(w, sp);

		if (walker_try_sender(w, word, sender, sp + 8, fp) == STEP_NEXT ||
			walker_try_sender(w, walker_word(w, sp + 8), sender, sp + 16, word) ==
				STEP_NEXT)
			return STEP_NEXT;
	}
	/* The sender's sp is below its own fp, but above the fp of the method that it calls. */
	if (!(sender >= sp && sender <= fp) && walker_on_stack(w, fp) &&
		fp - sp < ENTRY_WORDS * 8 && own_frame(w) == STEP_NEXT)
		return STEP_NEXT;
	if (walker_try_sender(w, r->link, sender, sp, fp) == STEP_NEXT)
		return STEP_NEXT;
	w->count--;
	return STEP_FAIL;
}

/* Steps from a method exit: the frame was just removed, so none is added. */
static enum walk_step leaving(struct walker *w)
{
	const struct walk_regs *r = w->regs;
	uint64_t sp = w->at.sp, fp = w->at.fp;

	if (ARCH_HAS_LINK && walker_try_sender(w, r->link, r->method, sp, fp) == STEP_NEXT)
		return STEP_NEXT;
	if (walker_try_sender(w, walker_word(w, sp), r->method, sp + 8, fp) == STEP_NEXT)
		return STEP_NEXT;
	return walker_try_sender(w, r->sender, r->method, sp, fp);
}

static bool in_range(const struct walk_range *range, uint64_t pc)
{
	return pc >= range->low && pc < range->high;
}

/* True for method entries that make a frame: all but those of intrinsics. */
static bool in_framed_entry(const struct walk_layout *l, uint64_t pc)
{
	for (size_t i = 0; i < LAYOUT_FRAMED; i++)
		if (in_range(&l->interpreter_framed[i], pc))
			return true;
	return false;
}

/* --- barriers ---------------------------------------------------------------------------------------- */

/*
 * A Shenandoah barrier uses all registers and calls the JVM. Barriers occur in bytecodes, and in method entries, where they
 * load the mirror of the method's class: there the frame is incomplete, with its Method* but no bcp yet. A barrier with an
 * enter and a leave instruction has a frame of its own: the word at fp is then the method's fp.
 */
static bool frame_begun(struct walker *w, uint64_t sp, uint64_t fp,
	struct frame_cache_method *method, uint16_t *bci)
{
	int32_t at;

	*bci = 0;
	return walker_on_stack(w, fp) && fp >= sp && fp - sp <= FRAME_MAX &&
	       method_at(w, walker_slot(w, fp, w->layout->interp_method), 0, method, &at);
}

/* The fp of the method whose barrier contains pc; 0: pc is in no barrier. */
static uint64_t barrier_frame(struct walker *w, uint64_t pc, uint64_t sp, uint64_t fp,
	struct frame_cache_method *method, uint16_t *bci)
{
	bool entry = in_range(&w->layout->interpreter_entries, pc);
	uint64_t behind = walker_on_stack(w, fp) ? walker_word(w, fp) : 0;

	if (!entry)
		return behind > fp && frame_at(w, fp, behind, method, bci) ? behind : 0;
	if (frame_begun(w, sp, fp, method, bci))
		return fp;
	return behind > fp && frame_begun(w, fp, behind, method, bci) ? behind : 0;
}

static enum walk_step in_barrier(struct walker *w)
{
	struct frame_cache_method method;
	uint32_t count = w->count;
	uint16_t bci;
	uint64_t fp = barrier_frame(w, w->at.pc, w->at.sp, w->at.fp, &method, &bci);

	if (!fp)
		return STEP_FAIL;
	frame_add(w, &method, bci);
	if (frame_step(w, fp) == STEP_NEXT)
		return STEP_NEXT;
	w->count = count;
	return STEP_FAIL;
}

/* --- return addresses -------------------------------------------------------------------------------- */

/* Java callees return to the return entries, all other callees to the instruction after the call. */
bool interpreted_returns(const struct walker *w, uint64_t pc)
{
	for (size_t i = 0; i < LAYOUT_RETURNS; i++)
		if (in_range(&w->layout->interpreter_returns[i], pc))
			return true;
	return arch_after_call(w->mem, pc);
}

bool interpreted_sound(struct walker *w, uint64_t pc, uint64_t sp, uint64_t fp)
{
	struct frame_cache_method method;
	uint16_t bci;

	if (in_range(&w->layout->interpreter_entries, pc) && !in_framed_entry(w->layout, pc))
		return true;
	return frame_at(w, sp, fp, &method, &bci) || barrier_frame(w, pc, sp, fp, &method, &bci);
}

enum walk_step interpreted_step(struct walker *w)
{
	bool entry = in_range(&w->layout->interpreter_entries, w->at.pc);
	bool frameless = entry && !in_framed_entry(w->layout, w->at.pc);
	struct frame_cache_method method;
	uint16_t bci;

	/* In a method entry fp may still be the caller's: a complete frame must be the callee's own. */
	if (w->top && entry &&
		walker_slot(w, w->at.fp, w->layout->interp_method) != w->regs->method &&
		entering(w) == STEP_NEXT)
		return STEP_NEXT;
	bool framed = frame_at(w, w->at.sp, w->at.fp, &method, &bci);
	/*
	 * The entries of Math.sin and the like call a stub without making a frame: fp is the caller's. On aarch64 the return
	 * address stays in a register, so return addresses on the stack are stale.
	 */
	if (!w->top && frameless && !(ARCH_HAS_LINK && framed) &&
		stub_search(w, ENTRY_WORDS, WALK_BREAK_INTERPRETED) == STEP_NEXT)
		return STEP_NEXT;
	if (framed) {
		uint32_t count = w->count;

		frame_add(w, &method, bci);
		enum walk_step done = frame_step(w, w->at.fp);
		if (done == STEP_NEXT || !w->top)
			return done;
		w->count = count;
	}
	if (w->top && (entering(w) == STEP_NEXT || leaving(w) == STEP_NEXT))
		return STEP_NEXT;
	if (in_barrier(w) == STEP_NEXT)
		return STEP_NEXT;
	return walker_fail(w, WALK_BREAK_INTERPRETED);
}
