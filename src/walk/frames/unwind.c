/* SPDX-License-Identifier: Apache-2.0 */
/* Native unwinding by rows. Runs in signal handlers; only unwind_rows_check sees untrusted blocks. */
#include "walk/frames/unwind.h"

#include "walk/load/arch.h"
#include "walk/load/mem.h"

_Static_assert(sizeof(struct unwind_rule) == 12, "a rule");
_Static_assert(sizeof(struct unwind_rows) == 20, "head of the rows");

/* --- the block ---------------------------------------------------------------------------------------- */

static const uint32_t *rows_of(const struct unwind_rows *r)
{
	return r->pages + r->page_count + 1;
}

static const struct unwind_rule *rules_of(const struct unwind_rows *r)
{
	return (const struct unwind_rule *)(const void *)(rows_of(r) + r->row_count);
}

static bool page_check(const struct unwind_rows *r, uint32_t from, uint32_t to)
{
	const uint32_t *rows = rows_of(r);

	for (uint32_t i = from; i < to; i++) {
		if (rows[i] >> UNWIND_PAGE_BITS >= r->rule_count)
			return false;
		if (i > from && (rows[i] & 0xffffu) <= (rows[i - 1] & 0xffffu))
			return false;
	}
	return true;
}

bool unwind_rows_check(const void *block, size_t bytes)
{
	const struct unwind_rows *r = block;

	if (bytes < sizeof *r || r->bytes != bytes || ((uintptr_t)block & 3))
		return false;
	uint64_t need = sizeof *r + 4 * ((uint64_t)r->page_count + 1) + 4 * (uint64_t)r->row_count +
			sizeof(struct unwind_rule) * (uint64_t)r->rule_count;
	if (need != bytes || (uint64_t)r->page_first + r->page_count > UINT32_MAX)
		return false;
	if (r->pages[0] != 0 || r->pages[r->page_count] != r->row_count)
		return false;
	for (uint32_t i = 0; i < r->page_count; i++)
		if (r->pages[i] > r->pages[i + 1] || r->pages[i + 1] > r->row_count)
			return false;
	for (uint32_t i = 0; i < r->page_count; i++)
		if (!page_check(r, r->pages[i], r->pages[i + 1]))
			return false;
	const struct unwind_rule *rules = rules_of(r);
	for (uint32_t i = 0; i < r->rule_count; i++)
		if (rules[i].cfa >= UNWIND_CFA_COUNT || rules[i].fp >= UNWIND_SAVED_COUNT ||
			rules[i].ra >= UNWIND_SAVED_COUNT)
			return false;
	return true;
}

const struct unwind_rule *unwind_rows_find(const struct unwind_rows *r, uint64_t offset)
{
	const uint32_t *rows = rows_of(r);
	uint64_t page = (offset >> UNWIND_PAGE_BITS) - r->page_first;
	uint32_t key = (uint32_t)offset & 0xffffu;

	if (page >= r->page_count)
		return NULL;
	uint32_t low = r->pages[page]; /* find the last row <= key */
	uint32_t high = r->pages[page + 1];
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if ((rows[mid] & 0xffffu) <= key)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == r->pages[page])
		return NULL;
	return &rules_of(r)[rows[low - 1] >> UNWIND_PAGE_BITS];
}

/* --- the process -------------------------------------------------------------------------------------- */

const struct unwind_module *unwind_find(const struct unwind_table *table, uint64_t pc)
{
	uint32_t low = 0, high = table->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (table->modules[mid].end <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == table->count || pc < table->modules[low].start)
		return NULL;
	return &table->modules[low];
}

/*
 * Signal frames: offsets of the saved registers from sp in the trampoline. On x86-64 the kernel pushes a ucontext
 * (arch/x86/include/asm/sigframe.h), on aarch64 a siginfo of 128 bytes and a ucontext (arch/arm64/kernel/signal.c).
 */
#if defined(__x86_64__)
enum { SIGNAL_FP = 40 + 10 * 8, SIGNAL_SP = 40 + 15 * 8, SIGNAL_PC = 40 + 16 * 8 };
#elif defined(__aarch64__)
enum {
	SIGNAL_REGS = 128 + 176 + 8,
	SIGNAL_FP = SIGNAL_REGS + 29 * 8,
	SIGNAL_LINK = SIGNAL_REGS + 30 * 8,
	SIGNAL_SP = SIGNAL_REGS + 31 * 8,
	SIGNAL_PC = SIGNAL_REGS + 32 * 8,
};
#else
#error "unsupported CPU: define the offsets of the registers in a signal frame"
#endif

static enum unwind_result step_signal(const struct walk_mem *mem, struct walk_regs *regs)
{
	struct walk_regs r = *regs;

	if (!mem_load_u64(mem, regs->sp + SIGNAL_PC, &r.pc) ||
		!mem_load_u64(mem, regs->sp + SIGNAL_SP, &r.sp) ||
		!mem_load_u64(mem, regs->sp + SIGNAL_FP, &r.fp))
		return UNWIND_FAULT;
#if defined(__aarch64__)
	if (!mem_load_u64(mem, regs->sp + SIGNAL_LINK, &r.link))
		return UNWIND_FAULT;
#endif
	if (!r.pc || !r.sp)
		return UNWIND_STUCK;
	*regs = r;
	return UNWIND_OK_EXACT;
}

static uint64_t plus(uint64_t base, int64_t offset)
{
	return base + (uint64_t)offset;
}

static bool step_cfa(const struct unwind_rule *rule, const struct walk_mem *mem,
	const struct walk_regs *regs, uint64_t *cfa)
{
	switch (rule->cfa) {
	case UNWIND_CFA_SP: *cfa = plus(regs->sp, rule->cfa_offset); return true;
	case UNWIND_CFA_FP: *cfa = plus(regs->fp, rule->cfa_offset); return true;
	case UNWIND_CFA_FP_LOAD: return mem_load_u64(mem, plus(regs->fp, rule->cfa_offset), cfa);
	default: /* UNWIND_CFA_PLT; unwind_apply handles the others */
		*cfa = plus(regs->sp, rule->cfa_offset) +
		       ((int64_t)(regs->pc & 15) >= rule->fp_offset ? 8 : 0);
		return true;
	}
}

static bool step_saved(unsigned how, int offset, uint64_t cfa, const struct walk_mem *mem,
	const struct walk_regs *regs, uint64_t *reg)
{
	if (how == UNWIND_SAVED_CFA)
		return mem_load_u64(mem, plus(cfa, offset), reg);
	if (how == UNWIND_SAVED_FP)
		return mem_load_u64(mem, plus(regs->fp, offset), reg);
	if (how == UNWIND_SAVED_LOST)
		*reg = 0;
	return true;
}

static enum unwind_result step_frame(const struct unwind_rule *rule, const struct walk_mem *mem,
	struct walk_regs *regs, bool exact)
{
	/* In a PLT rule fp_offset has another meaning; its fp is never saved. */
	uint64_t cfa = 0, fp = regs->fp, ra = regs->link;

	if (rule->ra == UNWIND_SAVED_NOT && !exact) /* lr has been overwritten by then */
		return UNWIND_STUCK;
	if (!step_cfa(rule, mem, regs, &cfa) ||
		!step_saved(rule->fp, rule->fp_offset, cfa, mem, regs, &fp) ||
		!step_saved(rule->ra, rule->ra_offset, cfa, mem, regs, &ra))
		return UNWIND_FAULT;
	ra &= ARCH_PC_MASK;
	/* Only a frame that has pushed nothing, not even a return address, may share its caller's sp. */
	if (!ra || cfa < regs->sp || (cfa == regs->sp && rule->ra != UNWIND_SAVED_NOT))
		return UNWIND_STUCK;
	regs->pc = ra;
	regs->sp = cfa;
	regs->fp = fp;
	return UNWIND_OK;
}

const struct unwind_rule *unwind_rule_of(
	const struct unwind_table *table, const struct walk_regs *regs, bool exact)
{
	/* A call may be the last instruction of a function, so its return address may belong to the next one. */
	uint64_t pc = exact ? regs->pc : regs->pc - 1;
	const struct unwind_module *m = unwind_find(table, pc);

	return m ? unwind_rows_find(m->rows, pc - m->start + m->file_offset) : NULL;
}

enum unwind_result unwind_apply(const struct unwind_rule *rule, const struct walk_mem *mem,
	struct walk_regs *regs, bool exact)
{
	switch (rule->cfa) {
	case UNWIND_CFA_NONE: return UNWIND_NO_ROW;
	case UNWIND_CFA_ROOT: return UNWIND_ROOT;
	case UNWIND_CFA_SIGNAL: return step_signal(mem, regs);
	case UNWIND_CFA_OTHER: return UNWIND_NO_RULE;
	default: return step_frame(rule, mem, regs, exact);
	}
}

enum unwind_result unwind_step(const struct unwind_table *table, const struct walk_mem *mem,
	struct walk_regs *regs, bool exact)
{
	const struct unwind_rule *rule = unwind_rule_of(table, regs, exact);

	return rule ? unwind_apply(rule, mem, regs, exact) : UNWIND_NO_ROW;
}
