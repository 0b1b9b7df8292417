/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native frames: by unwind rows where there are any, else by frame pointer: fp -> [saved fp][return address]. libjvm keeps
 * frame pointers, libc does not: without rows, the walk skips from a libc function to the nearest caller that keeps them.
 */
#include "walk/frames/unwind.h"
#include "walk/frames/walker.h"

#define LEAF_WORDS    16          /* stack words of a leaf without a frame pointer */
#define ROOT_DISTANCE (16u << 10) /* covers thread entry, struct pthread and static TLS */

bool walker_returns(struct walker *w, uint64_t pc)
{
	if (pc < 4096)
		return false;
	if (walker_in_code(w, pc) && walker_returns_to_java(w, pc))
		return true;
	return arch_after_call(w->mem, pc);
}

bool native_sound(struct walker *w, uint64_t fp)
{
	return walker_on_stack(w, fp) && walker_returns(w, walker_word(w, fp + 8) & ARCH_PC_MASK);
}

/*
 * True when clone has returned in a thread that has executed nothing else: fp still has its value from glibc's caller of clone,
 * the address of the new thread's control block, which contains its own address at offsets 0 and 16.
 */
static bool is_newborn(const struct walker *w)
{
	uint64_t fp = w->at.fp;

	return w->top && walker_on_stack(w, fp) && walker_word(w, fp) == fp &&
	       walker_word(w, fp + 16) == fp;
}

/*
 * The outermost frames of a thread keep no frame pointer: clone, start_thread, and libjvm's caller. A chain that ends there
 * is complete; one that ends elsewhere is broken.
 */
static enum walk_step native_end(struct walker *w, bool from_libjvm)
{
	bool near_root = w->hi - w->at.sp <= ROOT_DISTANCE;

	/* _start, and by the ABI every thread creator: fp is 0 in the outermost frame. */
	if (!w->bounded && !w->at.fp && !w->top)
		return STEP_ROOT;
	if (near_root && (from_libjvm || !w->at.fp || !w->layout || is_newborn(w)))
		return STEP_ROOT;
	return walker_fail(w, WALK_BREAK_NATIVE);
}

struct walk_cursor walker_before_frame(const struct walker *w, bool pushed)
{
	uint64_t sp = w->at.sp;

	if (pushed)
		return (struct walk_cursor){
			walker_word(w, sp + 8) & ARCH_PC_MASK, sp + 16, walker_word(w, sp)};
	if (ARCH_HAS_LINK)
		return (struct walk_cursor){w->regs->link & ARCH_PC_MASK, sp, w->at.fp};
	return (struct walk_cursor){walker_word(w, sp), sp + 8, w->at.fp};
}

/* Looks up pc in the frame cache and stores its rule in w->rule. True: pc is cached, and a proven return address. */
static bool rule_known(struct walker *w, uint64_t pc)
{
	if (w->rule_pc == pc)
		return true;
	w->rule_pc = 0;
	if (!w->thread->cache ||
		!frame_cache_rule(w->thread->cache->table, w->thread->rows, pc, &w->rule))
		return false;
	w->rule_pc = pc;
	return true;
}

/* Steps from a signal trampoline to the interrupted registers, which are exact. */
static enum walk_step signal_step(struct walker *w, const struct walk_regs *regs)
{
	w->signal_regs = *regs;
	w->regs = &w->signal_regs;
	w->signal = true;
	return walker_next(w, regs->pc, regs->sp, regs->fp);
}

/*
 * Steps by unwind rows. Those of some hand-written assembly (libc's mpn_*) are wrong, so the result must be a return address.
 * STEP_FAIL: frame pointers may lead to the caller.
 */
static enum walk_step rows_step(struct walker *w)
{
	struct walk_regs regs = {
		.pc = w->at.pc, .sp = w->at.sp, .fp = w->at.fp, .link = w->top ? w->regs->link : 0};
	const struct unwind_rule *rule = w->top || !rule_known(w, regs.pc)
						 ? unwind_rule_of(w->thread->rows, &regs, w->top)
						 : &w->rule;

	if (!rule)
		return STEP_FAIL;
	switch (unwind_apply(rule, w->mem, &regs, w->top)) {
	case UNWIND_OK:
		/* Unless at the top, the previous step has proved that pc is a return address. */
		if (rule != &w->rule && !w->top && w->thread->cache && rule->cfa >= UNWIND_CFA_SP)
			frame_cache_rule_insert(
				w->thread->cache->table, w->thread->rows, w->at.pc, rule);
		if (!rule_known(w, regs.pc) && !walker_returns(w, regs.pc) &&
			!arch_at_trampoline(w->mem, regs.pc))
			return STEP_FAIL;
		break;
	case UNWIND_OK_EXACT: return signal_step(w, &regs);
	case UNWIND_ROOT: return STEP_ROOT;
	default: return STEP_FAIL;
	}
	return walker_next(w, regs.pc, regs.sp, regs.fp);
}

/*
 * Steps from a signal trampoline without rows, or whose rows have not arrived yet, such as the agent's own below HotSpot's
 * handler of null checks. A step by frame pointer would skip the interrupted frame.
 */
static enum walk_step trampoline_step(struct walker *w)
{
	static const struct unwind_rule rule = {.cfa = UNWIND_CFA_SIGNAL};
	struct walk_regs regs = {.pc = w->at.pc, .sp = w->at.sp, .fp = w->at.fp};

	if (w->top || !arch_at_trampoline(w->mem, w->at.pc) ||
		unwind_apply(&rule, w->mem, &regs, false) != UNWIND_OK_EXACT)
		return STEP_FAIL;
	return signal_step(w, &regs);
}

static enum walk_step fp_step(struct walker *w, bool from_libjvm)
{
	uint64_t fp = w->at.fp;

	if (w->top) {
		enum arch_prologue prologue = arch_native_prologue(w->mem, w->at.pc);

		if (prologue != ARCH_BODY) {
			struct walk_cursor sender = walker_before_frame(w, prologue == ARCH_PUSHED);

			if (walker_returns(w, sender.pc))
				return walker_next(w, sender.pc, sender.sp, sender.fp);
		}
	}
	if (!walker_on_stack(w, fp))
		return native_end(w, from_libjvm);
	uint64_t next_fp = walker_word(w, fp);
	uint64_t pc = walker_word(w, fp + 8) & ARCH_PC_MASK;
	if (!walker_returns(w, pc))
		return native_end(w, from_libjvm);
	/* aarch64: compilers place the frame record, to which fp points, at the low end of a frame. */
	w->low = ARCH_HAS_LINK;
	return walker_next(w, pc, fp + 16, next_fp);
}

static enum walk_step leaf_try(struct walker *w, uint64_t pc, uint64_t sp)
{
	struct walk_regs regs = {.pc = pc & ARCH_PC_MASK, .sp = sp, .fp = w->at.fp}, caller = regs;
	const struct unwind_rule *rule = unwind_rule_of(w->thread->rows, &regs, false);

	if (!rule || !walker_returns(w, regs.pc) ||
		unwind_apply(rule, w->mem, &caller, false) != UNWIND_OK ||
		!walker_returns(w, caller.pc))
		return STEP_FAIL;
	return walker_next(w, regs.pc, regs.sp, regs.fp);
}

/*
 * For CPUs with a link register, where libc keeps frame pointers: stepping by frame pointer would skip the caller of a leaf
 * without frame and rows, or of the linker's stub for a call into another library. The register is trusted under the
 * conditions of native_leaf_step: in code without rows that has called something, it points into that same code, which has
 * no rows; and in a function that has built its frame, the frame pointer yields the same address.
 */
static enum walk_step link_step(struct walker *w)
{
	uint64_t link = w->regs->link & ARCH_PC_MASK, fp = w->at.fp;

	if (walker_on_stack(w, fp) && (walker_word(w, fp + 8) & ARCH_PC_MASK) == link)
		return STEP_FAIL;
	return leaf_try(w, link, w->at.sp);
}

/*
 * Likewise into Java, without rows: compiled code calls libjvm's math functions and other leaves, which make no frame. Code
 * that has made a frame and called nothing yet is stepped over by frame pointer. Older HotSpot builds push the return address
 * for such a call, above a word that is 0, which marks the start of the caller's frame; otherwise the leaf may have pushed
 * words below that start.
 */
static enum walk_step java_link_step(struct walker *w)
{
	uint64_t link = w->regs->link & ARCH_PC_MASK, sp = w->at.sp, fp = w->at.fp;

	if (!walker_in_code(w, link) || !walker_returns(w, link) ||
		(walker_on_stack(w, fp) && (walker_word(w, fp + 8) & ARCH_PC_MASK) == link))
		return STEP_FAIL;
	for (uint64_t at = sp; at < sp + 8 * LEAF_WORDS; at += 16)
		if (!walker_word(w, at) && walker_word(w, at + 8) == link &&
			walker_caller_sound(w, link, at, fp))
			return walker_next(w, link, at, fp);
	for (uint64_t at = sp; at < sp + 8 * LEAF_WORDS; at += 16)
		if (walker_caller_sound(w, link, at, fp)) {
			w->low = true;
			return walker_next(w, link, at, fp);
		}
	return STEP_FAIL;
}

/*
 * A leaf without frame pointer in a module whose rows have not arrived yet, such as libjvm's comparators called by libc's
 * qsort, or a stub that native code calls, such as JNI's fast accessors. The nearest return address is trusted if it has rows
 * that lead to another one; a nearer one in libjvm, which cannot be verified, may be the caller, so the search ends there.
 */
enum walk_step native_leaf_step(struct walker *w)
{
	uint64_t sp = w->at.sp;

	if (ARCH_HAS_LINK && leaf_try(w, w->regs->link, sp) == STEP_NEXT)
		return STEP_NEXT;
	for (uint64_t i = 0; i < LEAF_WORDS; i++) {
		uint64_t pc = walker_word(w, sp + 8 * i);

		if (leaf_try(w, pc, sp + 8 * (i + 1)) == STEP_NEXT)
			return STEP_NEXT;
		if (walker_in_libjvm(w, pc) && walker_returns(w, pc))
			break;
	}
	return STEP_FAIL;
}

enum walk_step native_step(struct walker *w)
{
	bool from_libjvm = w->from_libjvm;
	enum walk_step done = STEP_FAIL;

	walker_add(w, WALK_NATIVE, w->top ? w->at.pc : w->at.pc - 1, WALK_BCI_UNKNOWN);
	w->low = false;
	w->from_libjvm = walker_in_libjvm(w, w->at.pc);
	if (w->thread->rows)
		done = rows_step(w);
	if (done == STEP_FAIL && w->mem->distrust_stack)
		w->mem->distrust_stack(w->mem); /* what follows are guesses */
	if (done == STEP_FAIL)
		done = trampoline_step(w);
	if (done == STEP_FAIL && ARCH_HAS_LINK && w->top)
		done = java_link_step(w);
	if (done == STEP_FAIL && ARCH_HAS_LINK && w->top && w->thread->rows)
		done = link_step(w);
	if (done == STEP_FAIL)
		done = fp_step(w, from_libjvm);
	if (done == STEP_FAIL && w->top && w->thread->rows)
		done = native_leaf_step(w);
	return done;
}
