/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of nmethods: compiled Java with its inlined methods, and wrappers of native methods.
 *
 *   sp + 8 * frame_words  ->  caller's sp
 *                    - 8      return address
 *                    - 16     caller's fp
 */
#include "walk/frames/walker.h"

#define SEARCH_WORDS 256 /* how far compiled code itself may have moved sp */
#define ADJUST_WORDS 64  /* words pushed for a call, at most all registers */
#define PUSHED_WORDS 8   /* arguments of a stub only */
#define SAVED_WORDS  64  /* maximum distance of an aligned sp from the saved one */
#define SCOPES_MAX   256 /* against cycles in a corrupted chain */

/* --- the frames of a pc ------------------------------------------------------------------------------ */

static enum walk_frame_type outer_type(const struct walker *w, const struct code_blob *blob)
{
	unsigned level = (unsigned)layout_field(&w->layout->comp_level, blob->copy);

	if (blob->kind == CODE_NATIVE || level == 0)
		return WALK_JAVA;
	return level == 4 ? WALK_C2 : WALK_C1;
}

/*
 * Finds the PcDesc of the code at *pc. Slow paths of barriers follow the method's code, where there is no PcDesc, or only that
 * of another slow path; for those *pc is replaced by the place to which they jump back: C1's directly after a call, C2's after
 * more instructions.
 */
static bool desc_of(
	struct walker *w, const struct code_blob *blob, uint64_t *pc, struct code_desc *out)
{
	bool found = code_desc_find(w->layout, w->mem, blob, *pc, out) && out->scope > 0;
	uint64_t back;

	if (found && (w->top || (uint32_t)out->pc_offset == *pc - blob->code))
		return true;
	if (found)
		(void)arch_arguments(w->mem, *pc, &back);
	else
		back = arch_jump_back(w->mem, *pc, blob->code, blob->end);
	if (back < blob->code || back >= blob->end)
		return found;
	*pc = back;
	return code_desc_find(w->layout, w->mem, blob, back, out);
}

static struct frame_cache_code cache_key(
	const struct walk_layout *l, const struct code_blob *blob, uint64_t pc)
{
	return (struct frame_cache_code){.pc = pc,
		.start = blob->start,
		.method = code_method(l, blob),
		.compile_id = (int32_t)layout_field(&l->compile_id, blob->copy),
		.frame_words = blob->frame_words};
}

/* code_lacks_inlining, cached per nmethod: it reads memory outside the code cache. */
static bool lacks_inlining(
	struct walker *w, const struct code_blob *blob, uint64_t pc, const struct code_desc *desc)
{
	struct frame_cache_code known;

	if (w->layout->debug_info_on || pc == blob->code + (uint32_t)desc->pc_offset)
		return false;
	if (!w->thread->cache || w->layout->compile_id.offset < 0)
		return code_lacks_inlining(w->layout, w->mem, blob);
	if (frame_cache_find(w->thread->cache->table, w->layout, w->mem,
		    blob->start | FRAME_CACHE_EXACT, &known))
		return known.frame_words;
	known = cache_key(w->layout, blob, blob->start | FRAME_CACHE_EXACT);
	known.frame_words = code_lacks_inlining(w->layout, w->mem, blob);
	frame_cache_fact_insert(w->thread->cache->table, &known);
	return known.frame_words;
}

/* Adds the scope chain at pc, innermost first; only the nmethod's own method if no scope describes pc. */
static void scopes_add(struct walker *w, const struct code_blob *blob, uint64_t pc)
{
	enum walk_frame_type type = outer_type(w, blob);
	enum walk_frame_type no_inlining_type =
		type == WALK_C1 ? WALK_C1_NO_INLINING : WALK_NO_INLINING;
	uint32_t count = w->count;
	struct code_desc desc;
	struct code_scope scope = {.sender = 0};
	bool no_inlining = false;

	if (desc_of(w, blob, &pc, &desc)) {
		scope.sender = desc.scope;
		no_inlining = lacks_inlining(w, blob, pc, &desc);
		if (no_inlining && w->top && code_check_find(w->layout, w->mem, blob, pc, &desc))
			scope.sender = desc.scope;
	}
	for (int i = 0; i < SCOPES_MAX && scope.sender > 0; i++) {
		int32_t at = scope.sender;

		if (!code_scope_read(w->layout, w->mem, blob, at, &scope) || !scope.method ||
			scope.sender >= at) {
			w->count = count;
			break;
		}
		uint16_t bci = scope.bci < 0 || scope.bci > 0xfffe ? 0 : (uint16_t)scope.bci;
		if (!walker_add(w,
			    no_inlining    ? no_inlining_type
			    : scope.sender ? WALK_INLINED
					   : type,
			    scope.method, bci))
			return;
		no_inlining = false; /* only the innermost scope is uncertain */
	}
	if (w->count == count)
		walker_add(w, type, code_method(w->layout, blob), WALK_BCI_UNKNOWN);
}

/* --- the frame cache --------------------------------------------------------------------------------- */

/* Records the frames just added for the frame cache, unless deoptimized. */
static void frames_record(
	struct walker *w, const struct code_blob *blob, uint64_t pc, uint32_t first)
{
	const struct walk_layout *l = w->layout;

	if (!w->thread->cache || blob->kind != CODE_NMETHOD || l->compile_id.offset < 0 ||
		blob->frame_words < 2 || w->count == w->max || code_is_deopt(l, blob, pc))
		return;
	struct frame_cache_code code = cache_key(l, blob, pc);
	frame_cache_record(w->thread->cache, &code, w->frames, first, w->count);
}

/* --- the sender -------------------------------------------------------------------------------------- */

/* Steps to the caller of the frame that begins at sp by its size. sure: omits the plausibility check of the caller. */
static enum walk_step by_frame_size(struct walker *w, int32_t frame_words, uint64_t sp, bool sure)
{
	uint64_t end = sp + 8ull * (uint32_t)frame_words;

	if (frame_words < 2 || (end & 7) || end >= w->hi)
		return STEP_FAIL;
	uint64_t pc = walker_word(w, end - 8) & ARCH_PC_MASK;
	if (!walker_in_code(w, pc) || !walker_returns_to_java(w, pc))
		return STEP_FAIL;
	uint64_t fp = walker_word(w, end - 16);
	if (!sure && !walker_caller_sound(w, pc, end, fp))
		return STEP_FAIL;
	return walker_next(w, pc, end, fp);
}

/*
 * Steps to the caller of a frame in which compiled code has lowered sp: for arguments of a stub, or for a copy of a string, in
 * which case sp was aligned and the previous one pushed to [sp].
 */
static enum walk_step by_moved_sp(struct walker *w, const struct code_blob *blob)
{
	uint64_t sp = w->at.sp, saved = walker_word(w, sp);

	if (w->top && saved > sp && saved - sp <= 8 * SAVED_WORDS &&
		by_frame_size(w, blob->frame_words, saved, false) == STEP_NEXT)
		return STEP_NEXT;
	for (uint32_t i = 1; i <= ADJUST_WORDS; i++)
		if (by_frame_size(w, blob->frame_words, sp + 8ull * i, false) == STEP_NEXT)
			return STEP_NEXT;
	return STEP_FAIL;
}

/* Steps to the caller of a frame that is being built or removed. */
static enum walk_step by_prologue(
	struct walker *w, const struct code_blob *blob, enum arch_prologue prologue)
{
	if (prologue == ARCH_BODY || prologue == ARCH_LEAVING)
		return STEP_FAIL;
	struct walk_cursor sender = walker_before_frame(w, prologue == ARCH_PUSHED);
	if (prologue == ARCH_UNSAVED) {
		sender.sp = w->at.sp + 8ull * (uint32_t)blob->frame_words;
		if (!ARCH_HAS_LINK)
			sender.pc = walker_word(w, sender.sp - 8);
	}
	return walker_try(w, sender.pc, sender.sp, sender.fp);
}

/* Steps to the caller of leaf code of Graal, which makes no frame although its nmethod has a frame size. */
static enum walk_step by_return_address(struct walker *w, const struct code_blob *blob)
{
	struct walk_cursor sender = walker_before_frame(w, false);

	if (sender.pc >= blob->code && sender.pc < blob->end)
		return STEP_FAIL; /* stale: of a call that this code has made */
	return walker_try(w, sender.pc, sender.sp, sender.fp);
}

/* State of the frame according to the instructions around pc; ARCH_BODY: complete, or unknown. */
static enum arch_prologue prologue_of(const struct walker *w, const struct code_blob *blob)
{
	uint64_t entry = code_verified_entry(w->layout, blob);
	uint64_t osr = code_osr_entry(w->layout, blob);
	uint64_t complete =
		blob->frame_complete < 0 ? 0 : blob->code + (uint32_t)blob->frame_complete;

	if (osr && w->at.pc >= osr && w->at.pc - osr < 32)
		return arch_compiled_prologue(w->mem, w->at.pc, osr, osr + 32);
	return arch_compiled_prologue(w->mem, w->at.pc, entry, complete);
}

/*
 * Adds the frames at an interrupted pc. While a method's frame is being built or removed no scope describes pc: the next PcDesc
 * belongs to unrelated code.
 */
static void frames_add(struct walker *w, const struct code_blob *blob, enum arch_prologue prologue)
{
	uint32_t first = w->count;

	if (blob->frame_complete > 0 && w->at.pc < blob->code + (uint32_t)blob->frame_complete) {
		walker_add(w, outer_type(w, blob), code_method(w->layout, blob), 0);
	} else if (prologue != ARCH_BODY) {
		walker_add(w, outer_type(w, blob), code_method(w->layout, blob), WALK_BCI_UNKNOWN);
	} else {
		scopes_add(w, blob, w->at.pc);
		if (w->top) /* loops are interrupted at the same few places */
			frames_record(w, blob, w->at.pc | FRAME_CACHE_EXACT, first);
	}
}

static enum walk_step top_step(struct walker *w, const struct code_blob *blob)
{
	enum arch_prologue prologue = prologue_of(w, blob);

	frames_add(w, blob, prologue);
	if (by_prologue(w, blob, prologue) == STEP_NEXT ||
		by_frame_size(w, blob->frame_words, w->at.sp, false) == STEP_NEXT ||
		by_return_address(w, blob) == STEP_NEXT || by_moved_sp(w, blob) == STEP_NEXT ||
		by_prologue(w, blob, ARCH_NO_FRAME) == STEP_NEXT ||
		by_prologue(w, blob, ARCH_PUSHED) == STEP_NEXT)
		return STEP_NEXT;
	return stub_search(w,
		(uint32_t)(blob->frame_words > 0 ? blob->frame_words : 0) + SEARCH_WORDS,
		WALK_BREAK_COMPILED);
}

/* A deoptimized frame keeps its original pc in a slot; its return address identifies it. */
void compiled_show(struct walker *w, const struct code_blob *blob)
{
	if (code_is_deopt(w->layout, blob, w->at.pc)) {
		uint64_t pc = walker_word(w, code_orig_pc_slot(w->layout, blob, w->at.sp));

		if (pc >= blob->code && pc < blob->end)
			w->at.pc = pc;
	}
	frames_add(w, blob, ARCH_BODY);
}

enum walk_step compiled_known(struct walker *w)
{
	const struct frame_cache_code *known =
		walker_known(w, w->top ? w->at.pc | FRAME_CACHE_EXACT : w->at.pc);
	uint32_t count = w->count;

	if (!known || w->leaf || w->low)
		return STEP_FAIL;
	int32_t frame_words = known->frame_words;
	walker_add_packed(w, known->frames, known->count);
	if (by_frame_size(w, frame_words, w->at.sp, !w->top) == STEP_NEXT)
		return STEP_NEXT;
	w->count = count;
	return STEP_FAIL;
}

enum walk_step compiled_step(struct walker *w, const struct code_blob *blob)
{
	uint64_t pc = w->at.pc;
	uint32_t first = w->count;
	bool slow; /* a call without PcDesc */

	if (w->top)
		return top_step(w, blob);
	slow = w->leaf || w->low || !walker_returns_to_java(w, pc);
	compiled_show(w, blob);
	if (slow) { /* C1 pushes arguments for some of these calls and pops them afterwards */
		uint64_t back, pushed = arch_arguments(w->mem, w->at.pc, &back);

		if (by_frame_size(w, blob->frame_words, w->at.sp + pushed, false) == STEP_NEXT)
			return STEP_NEXT;
	}
	/* If sp is too low, a return address inside the frame could be mistaken for its last word. */
	if (w->low && by_moved_sp(w, blob) == STEP_NEXT)
		return STEP_NEXT;
	if (!slow) /* the step from a cached frame uses its size alone */
		frames_record(w, blob, pc, first);
	if (by_frame_size(w, blob->frame_words, w->at.sp, true) == STEP_NEXT ||
		by_moved_sp(w, blob) == STEP_NEXT)
		return STEP_NEXT;
	return walker_fail(w, WALK_BREAK_COMPILED);
}

bool walker_returns_to_java(struct walker *w, uint64_t pc)
{
	const struct walk_layout *l = w->layout;
	struct code_desc desc;

	if (!walker_in_code(w, pc))
		return false;
	if (pc == l->call_stub_return)
		return true;
	if (walker_in_interpreter(w, pc))
		return interpreted_returns(w, pc);
	if (walker_known(w, pc))
		return true;
	const struct code_blob *blob = walker_blob(w, pc);
	if (!blob)
		return false;
	switch (blob->kind) {
	case CODE_NMETHOD:
		return (code_desc_find(l, w->mem, blob, pc, &desc) &&
			       pc == blob->code + (uint32_t)desc.pc_offset) ||
		       code_is_deopt(l, blob, pc);
	case CODE_CONTINUATION: return true;
	case CODE_NATIVE:
	case CODE_RUNTIME:
	case CODE_UPCALL: return arch_after_call(w->mem, pc);
	default: return false;
	}
}

bool walker_caller_sound(struct walker *w, uint64_t pc, uint64_t sp, uint64_t fp)
{
	const struct walk_layout *l = w->layout;

	if ((sp & 7) || sp >= w->hi)
		return false;
	if (!walker_in_code(w, pc))
		return native_sound(w, fp);
	if (pc == l->call_stub_return)
		return entry_sound(w, fp);
	if (walker_in_interpreter(w, pc))
		return interpreted_sound(w, pc, sp, fp);
	const struct frame_cache_code *known = walker_known(w, pc);
	if (known)
		return walker_returns_to_java(
			w, walker_word(w, sp + 8ull * (uint32_t)known->frame_words - 8) &
				   ARCH_PC_MASK);
	const struct code_blob *blob = walker_blob(w, pc);
	if (!blob)
		return false;
	if (blob->kind == CODE_UPCALL)
		return upcall_sound(w, sp, fp);
	if ((blob->kind != CODE_NMETHOD && blob->kind != CODE_NATIVE) || blob->frame_words < 2)
		return true;

	uint64_t end = sp + 8ull * (uint32_t)blob->frame_words;
	/* A call without PcDesc is one to a leaf stub, whose arguments may have been pushed. */
	uint64_t moved = walker_returns_to_java(w, pc) ? 0 : PUSHED_WORDS;

	for (uint64_t i = 0; i <= moved; i++)
		if (walker_returns_to_java(w, walker_word(w, end + 8 * i - 8) & ARCH_PC_MASK))
			return true;
	return false;
}

enum walk_step walker_try(struct walker *w, uint64_t pc, uint64_t sp, uint64_t fp)
{
	pc &= ARCH_PC_MASK;
	if (!walker_returns_to_java(w, pc) || !walker_caller_sound(w, pc, sp, fp))
		return STEP_FAIL;
	return walker_next(w, pc, sp, fp);
}

enum walk_step walker_try_sender(
	struct walker *w, uint64_t pc, uint64_t sender, uint64_t near, uint64_t fp)
{
	if (sender > near && walker_try(w, pc, sender, fp) == STEP_NEXT)
		return STEP_NEXT;
	return walker_try(w, pc, near, fp);
}
