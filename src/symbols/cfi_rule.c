/* SPDX-License-Identifier: Apache-2.0 */
/* Converts libdw's frame states, which are arbitrary expressions, into the few rules that compilers generate. */
#include "symbols/cfi.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>

const struct cfi_machine *cfi_machine_find(unsigned elf_machine)
{
	static const struct cfi_machine machines[] = {
		{EM_X86_64, 7, 6, 16},
		{EM_AARCH64, 31, 29, 30},
	};

	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (machines[i].elf_machine == elf_machine)
			return &machines[i];
	return NULL;
}

/* True when the operation is "register + offset", in either encoding. */
static bool op_is_register(const Dwarf_Op *op, int *reg, int64_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - DW_OP_breg0;
		*offset = (int64_t)op->number;
		return true;
	}
	if (op->atom == DW_OP_bregx && op->number < 32) {
		*reg = (int)op->number;
		*offset = (int64_t)op->number2;
		return true;
	}
	return false;
}

static bool op_constant(const Dwarf_Op *op, int64_t *value)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		*value = op->atom - DW_OP_lit0;
		return true;
	}
	*value = (int64_t)op->number;
	return op->atom == DW_OP_const1u || op->atom == DW_OP_const1s;
}

/*
 * True for the expression that linkers emit for a lazy PLT:
 *   sp + 8, rip + 0, lit15, and, litN, ge, lit3, shl, plus
 * N is the offset in the 16-byte entry from which on the relocation index has been pushed.
 */
static bool ops_are_plt(const struct cfi_machine *m, const Dwarf_Op *ops, size_t count,
	int64_t *offset, int64_t *pushed_from)
{
	static const uint8_t shape[] = {
		0, 0, DW_OP_lit15, DW_OP_and, 0, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	int reg_sp, reg_pc;
	int64_t pc_offset;

	if (count != sizeof shape || !op_is_register(&ops[0], &reg_sp, offset) ||
		!op_is_register(&ops[1], &reg_pc, &pc_offset) || !op_constant(&ops[4], pushed_from))
		return false;
	for (size_t i = 0; i < count; i++)
		if (shape[i] && ops[i].atom != shape[i])
			return false;
	return m->elf_machine == EM_X86_64 && reg_sp == m->sp && reg_pc == m->ra &&
	       pc_offset == 0 && *pushed_from >= 0 && *pushed_from < 16;
}

static bool fits(int64_t value, int64_t limit)
{
	return value >= -limit && value < limit;
}

static void read_cfa(const struct cfi_machine *m, Dwarf_Frame *frame, struct wire_unwind_rule *rule)
{
	Dwarf_Op *ops;
	size_t count;
	int reg;
	int64_t offset, pushed_from;

	rule->cfa = CFI_CFA_OTHER;
	if (dwarf_frame_cfa(frame, &ops, &count) || !count)
		return;
	if (op_is_register(&ops[0], &reg, &offset) && fits(offset, INT32_MAX)) {
		if (count == 1 && reg == m->sp)
			rule->cfa = CFI_CFA_SP;
		else if (count == 1 && reg == m->fp)
			rule->cfa = CFI_CFA_FP;
		else if (count == 2 && reg == m->fp && ops[1].atom == DW_OP_deref)
			rule->cfa = CFI_CFA_FP_LOAD;
	}
	if (ops_are_plt(m, ops, count, &offset, &pushed_from) && fits(offset, INT32_MAX)) {
		rule->cfa = CFI_CFA_PLT;
		rule->fp_offset = (int16_t)pushed_from;
	}
	if (rule->cfa != CFI_CFA_OTHER)
		rule->cfa_offset = (int32_t)offset;
}

/* *undefined: true when the register has no value in the caller, which for ra means that there is no caller. */
static enum cfi_saved read_saved(
	const struct cfi_machine *m, Dwarf_Frame *frame, int regno, int16_t *out, bool *undefined)
{
	enum cfi_saved saved = CFI_SAVED_CFA;
	Dwarf_Op mem[3], *ops, *last;
	size_t count;
	int reg;
	int64_t offset = 0;
	bool is_cfa;

	*undefined = false;
	if (dwarf_frame_register(frame, regno, mem, &ops, &count))
		return CFI_SAVED_LOST;
	if (!count) {
		*undefined = ops == mem;
		return *undefined ? CFI_SAVED_LOST : CFI_SAVED_NOT;
	}
	if (ops[count - 1].atom == DW_OP_stack_value)
		return CFI_SAVED_LOST;
	if (count == 1 && ops[0].atom == DW_OP_regx && (int)ops[0].number == regno)
		return CFI_SAVED_NOT;
	is_cfa = ops[0].atom == DW_OP_call_frame_cfa; /* libdw also puts it before expressions */
	last = &ops[count - 1];
	if (count > 1u + is_cfa)
		return CFI_SAVED_LOST;
	if (op_is_register(last, &reg, &offset)) {
		if (reg != m->fp)
			return CFI_SAVED_LOST;
		saved = CFI_SAVED_FP;
	} else if (is_cfa && count == 2 && last->atom == DW_OP_plus_uconst) {
		offset = (int64_t)last->number;
	} else if (!is_cfa || count == 2) {
		return CFI_SAVED_LOST;
	}
	if (!fits(offset, INT16_MAX))
		return CFI_SAVED_LOST;
	*out = (int16_t)offset;
	return saved;
}

struct wire_unwind_rule cfi_rule_read(const struct cfi_machine *m, Dwarf_Frame *frame, bool signal)
{
	struct wire_unwind_rule rule = {0};
	int16_t fp_offset = 0;
	bool undefined;

	if (signal) {
		rule.cfa = CFI_CFA_SIGNAL;
		return rule;
	}
	rule.ra = (uint8_t)read_saved(m, frame, m->ra, &rule.ra_offset, &undefined);
	if (undefined) {
		struct wire_unwind_rule root = {.cfa = CFI_CFA_ROOT};
		return root;
	}
	read_cfa(m, frame, &rule);
	rule.fp = (uint8_t)read_saved(m, frame, m->fp, &fp_offset, &undefined);
	if (rule.cfa == CFI_CFA_PLT && rule.fp != CFI_SAVED_NOT)
		rule.cfa = CFI_CFA_OTHER; /* PLT rules use fp_offset otherwise */
	if (rule.cfa != CFI_CFA_PLT)
		rule.fp_offset = fp_offset;
	/* Only aarch64 keeps return addresses in a register. */
	if (rule.ra == CFI_SAVED_LOST || (rule.ra == CFI_SAVED_NOT && m->elf_machine == EM_X86_64))
		rule.cfa = CFI_CFA_OTHER;
	if (rule.cfa == CFI_CFA_OTHER) {
		struct wire_unwind_rule other = {.cfa = CFI_CFA_OTHER};
		return other;
	}
	return rule;
}
