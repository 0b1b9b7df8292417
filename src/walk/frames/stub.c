/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JVM code that is neither compiled Java nor part of libjvm: StubRoutines, runtime stubs, adapters, vtable stubs.
 *
 * Runtime stubs have a frame size. The others are not described: most begin with push rbp; mov rbp,rsp, short ones have the
 * return address at [sp], and long ones change sp several times. The candidates are tried in that order, and each must lead to
 * a verified return address.
 */
#include "walk/frames/walker.h"

#define STUB_FRAME_MAX (64u << 10)
#define STUB_SEARCH    512 /* words: AES and Montgomery stubs keep whole tables on the stack */
#define ADAPTER_SEARCH 64
#define CHAIN_MAX      64
#define PUSHED_MAX     8 /* words */
#define INNER_WORDS    8 /* between two frames of one stub */

/* A stub's caller is Java, another stub, or libjvm. */
static bool returns(struct walker *w, uint64_t pc)
{
	return (walker_in_code(w, pc) || walker_in_libjvm(w, pc)) && walker_returns(w, pc);
}

static enum walk_step try_caller(struct walker *w, uint64_t pc, uint64_t sp, uint64_t fp)
{
	pc &= ARCH_PC_MASK;
	if (!returns(w, pc) || !walker_caller_sound(w, pc, sp, fp))
		return STEP_FAIL;
	return walker_next(w, pc, sp, fp);
}

static enum walk_step at_sp(struct walker *w, uint64_t offset, uint64_t fp)
{
	return try_caller(w, walker_word(w, w->at.sp + offset), w->at.sp + offset + 8, fp);
}

/* By the link register, unless the stub itself has overwritten it by a call; stubs that share a blob may call one another. */
static enum walk_step by_link(struct walker *w, const struct code_blob *blob)
{
	uint64_t link = w->regs->link & ARCH_PC_MASK;
	bool alone = blob->kind == CODE_RUNTIME || blob->kind == CODE_LEAF;

	if (!ARCH_HAS_LINK || (alone && link >= blob->start && link < blob->end))
		return STEP_FAIL;
	return try_caller(w, link, w->at.sp, w->at.fp);
}

static enum walk_step by_frame_pointer(struct walker *w)
{
	uint64_t fp = w->at.fp, slot = fp + 8;

	if (!walker_on_stack(w, fp) || fp - w->at.sp > STUB_FRAME_MAX)
		return STEP_FAIL;
	uint64_t saved = walker_word(w, fp);
	if (walker_word(w, slot) == UINT64_MAX) {
		/* The stub of nmethod entry barriers has a word in between: -1, to be overwritten by a new sp. */
		slot += 8;
	} else if (saved > fp && saved - fp <= 8 * INNER_WORDS &&
		   !returns(w, walker_word(w, slot) & ARCH_PC_MASK)) {
		/* JDK 28's barrier stubs make a second frame within the first, to call the VM. */
		slot = saved + 8;
		saved = walker_word(w, saved);
	}
	return try_caller(w, walker_word(w, slot), slot + 8, saved);
}

static enum walk_step by_frame_size(struct walker *w, int32_t words)
{
	uint64_t end = w->at.sp + 8ull * (uint32_t)words;

	if (words < 2)
		return STEP_FAIL;
	return try_caller(w, walker_word(w, end - 8), end, walker_word(w, end - 16));
}

enum walk_step stub_search(struct walker *w, uint32_t words, enum walk_break why)
{
	for (uint32_t i = 0; i < words && w->at.sp + 8 * (i + 2) < w->hi; i++) {
		uint64_t pc = walker_word(w, w->at.sp + 8 * i) & ARCH_PC_MASK;
		uint64_t sp = w->at.sp + 8 * (i + 1),
			 below = i ? walker_word(w, sp - 16) : w->at.fp;

		/* The caller's fp was saved just below, or is still in its register. */
		if (walker_in_code(w, pc) && (walker_try(w, pc, sp, below) == STEP_NEXT ||
						     walker_try(w, pc, sp, w->at.fp) == STEP_NEXT))
			return STEP_NEXT;
	}
	return walker_fail(w, why);
}

/* An adapter moves the return address: it is at [sp], or in rax while arguments are being moved. */
static enum walk_step adapter_step(struct walker *w)
{
	const struct walk_regs *r = w->regs;
	uint64_t sp = w->at.sp, sender = walker_sender(w);

	if (!ARCH_HAS_LINK &&
		walker_try_sender(w, walker_word(w, sp), sender, sp + 8, w->at.fp) == STEP_NEXT)
		return STEP_NEXT;
	if (walker_try_sender(w, r->link, sender, sp, w->at.fp) == STEP_NEXT)
		return STEP_NEXT;
	return stub_search(w, ADAPTER_SEARCH, WALK_BREAK_STUB);
}

/*
 * An adapter that calls the VM to have its caller patched. It saves all registers, among them the original sp, in r13, and the
 * return address that was there, in rax:
 *
 *   [..., r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rsp, rbx, rdx, rcx, rax]
 *
 * Not every CPU writes the area below, which may contain stale frames, so it is not searched for return addresses.
 */
static enum walk_step adapter_saved(struct walker *w)
{
	if (ARCH_HAS_LINK)
		return STEP_FAIL;
	for (uint32_t i = 0; i < STUB_SEARCH; i++) {
		uint64_t slot = w->at.sp + 8ull * i, sender = walker_word(w, slot);

		if (sender <= slot || sender - slot > 8 * ADAPTER_SEARCH ||
			!walker_on_stack(w, sender))
			continue;
		uint64_t pc = walker_word(w, sender);
		if (pc == walker_word(w, slot + 8 * 13) &&
			walker_try(w, pc, sender + 8, walker_word(w, slot + 8 * 8)) == STEP_NEXT)
			return STEP_NEXT;
	}
	return STEP_FAIL;
}

/*
 * Follows a chain of callers until it passes target; true if it meets target exactly. Frames are saved fps with a return
 * address above, in Java as in native code, so a genuine frame pointer is met exactly and a stale chain misses it.
 */
static bool chain_meets(struct walker *w, struct walk_cursor at, uint64_t target)
{
	for (int i = 0; i < CHAIN_MAX; i++) {
		const struct code_blob *blob =
			walker_in_interpreter(w, at.pc) ? NULL : walker_blob(w, at.pc);
		uint64_t slot = at.fp;

		if (blob && blob->frame_words >= 2)
			slot = at.sp + 8ull * (uint32_t)blob->frame_words - 16;
		if (slot >= target || !walker_on_stack(w, slot))
			return slot == target;
		at.fp = walker_word(w, slot);
		at.pc = walker_word(w, slot + 8) & ARCH_PC_MASK;
		at.sp = slot + 16;
	}
	return true;
}

/*
 * Steps from a stub without a description: the return address is at [sp], or the stub has made a frame. With a frame, [sp] may
 * be a stale return address; without one, fp belongs to a frame further out.
 */
static enum walk_step undescribed_step(struct walker *w)
{
	struct walk_cursor start = w->at;

	if (at_sp(w, 0, w->at.fp) != STEP_NEXT)
		return by_frame_pointer(w);
	struct walk_cursor near = w->at;
	w->at = start;
	struct walk_cursor far = by_frame_pointer(w) == STEP_NEXT ? w->at : near;
	w->at = start; /* chain_meets checks stack bounds from here */
	w->at = chain_meets(w, near, start.fp) ? near : far;
	return STEP_NEXT;
}

/*
 * Steps from a frame that is not built yet, or already removed, where the frame size would lead into another frame. by_link
 * covers this for CPUs with a link register.
 */
static enum walk_step prologue_step(struct walker *w)
{
	enum arch_prologue prologue =
		ARCH_HAS_LINK ? ARCH_BODY : arch_native_prologue(w->mem, w->at.pc);

	if (prologue == ARCH_BODY)
		return STEP_FAIL;
	struct walk_cursor sender = walker_before_frame(w, prologue == ARCH_PUSHED);
	return try_caller(w, sender.pc, sender.sp, sender.fp);
}

/*
 * True when the stub has made a frame: the return address at fp follows a call of this stub. Stale addresses may lie further
 * down, where the stub has not written yet.
 */
static bool has_frame(struct walker *w, const struct code_blob *blob)
{
	return walker_on_stack(w, w->at.fp) &&
	       arch_after_call_of(
		       w->mem, walker_word(w, w->at.fp + 8) & ARCH_PC_MASK, blob->code, blob->end);
}

static enum walk_step top_step(struct walker *w, const struct code_blob *blob)
{
	bool bare = blob->kind == CODE_LEAF && !has_frame(w, blob);

	if (blob->kind == CODE_ADAPTER)
		return adapter_step(w);
	/* A stub that has made its frame but called nothing yet has the return address in both places. */
	if (ARCH_HAS_LINK && walker_on_stack(w, w->at.fp) &&
		walker_word(w, w->at.fp + 8) == w->regs->link && by_frame_pointer(w) == STEP_NEXT)
		return STEP_NEXT;
	/* If a register holds the return address, no stack word is tried: it could belong to the frame of a caller. */
	if (by_link(w, blob) == STEP_NEXT) {
		w->leaf = bare;
		w->low = blob->frame_words < 2; /* it may have pushed something, as math stubs do */
		return STEP_NEXT;
	}
	/* A leaf stub may have pushed registers. fp does not locate its frame: it belongs to one further out. */
	for (uint64_t i = 0; bare && i <= PUSHED_MAX; i++)
		if (at_sp(w, 8 * i, w->at.fp) == STEP_NEXT) {
			w->leaf = true;
			return STEP_NEXT;
		}
	if (prologue_step(w) == STEP_NEXT || by_frame_size(w, blob->frame_words) == STEP_NEXT ||
		undescribed_step(w) == STEP_NEXT ||
		at_sp(w, 8, walker_word(w, w->at.sp)) == STEP_NEXT ||
		(w->thread->rows && native_leaf_step(w) == STEP_NEXT))
		return STEP_NEXT;
	return stub_search(w, STUB_SEARCH, WALK_BREAK_STUB);
}

enum walk_step stub_step(struct walker *w, const struct code_blob *blob)
{
	walker_add(w, WALK_STUB, w->at.pc, WALK_BCI_UNKNOWN);
	if (blob->kind == CODE_CONTINUATION && continuation_step(w) == STEP_NEXT)
		return STEP_NEXT;
	if (w->top)
		return top_step(w, blob);
	if (blob->kind == CODE_ADAPTER && adapter_saved(w) == STEP_NEXT)
		return STEP_NEXT;
	if (by_frame_size(w, blob->frame_words) == STEP_NEXT || by_frame_pointer(w) == STEP_NEXT)
		return STEP_NEXT;
	return stub_search(w, STUB_SEARCH, WALK_BREAK_STUB);
}
