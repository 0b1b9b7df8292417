/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction patterns of aarch64 that say where a frame's return address is. */
#include "walk/load/arch.h"

#if defined(__aarch64__)
#include "walk/load/mem.h"

#define INSN_RET    0xd65f03c0u
#define INSN_STP_FP 0xa9bf7bfdu /* stp x29, x30, [sp, #-16]! */
#define INSN_MOV_FP 0x910003fdu /* mov x29, sp */
#define INSN_SIGN   0xd503233fu /* paciasp */
#define INSN_PROVE  0xd50323bfu /* autiasp */
#define INSN_PROVE0 0xd503239fu /* autiaz: HotSpot's */
#define INSN_BTI    0xd503245fu /* bti c */
#define JUMP_INSNS  24u         /* of a barrier's slow path, up to its jump back */
#define JUMP_NEAR   128u        /* bytes: within one slow path */

static bool is_sub_sp(uint32_t insn)
{
	return (insn & 0xff8003ffu) == 0xd10003ffu; /* sub sp, sp, #imm */
}

static bool is_sub_sp_reg(uint32_t insn)
{
	return (insn & 0xffe0ffffu) == 0xcb2063ffu; /* sub sp, sp, x */
}

static bool is_add_sp(uint32_t insn)
{
	return (insn & 0xff8003ffu) == 0x910003ffu; /* add sp, sp, #imm */
}

static bool is_stp_fp_slot(uint32_t insn)
{
	return (insn & 0xffe07fffu) == 0xa9007bfdu; /* stp x29, x30, [sp, #imm] */
}

bool arch_after_call(const struct walk_mem *mem, uint64_t pc)
{
	uint32_t insn;

	if ((pc & 3) || pc < 4 || !mem_load(mem, pc - 4, &insn, sizeof(insn)))
		return false;
	return (insn & 0xfc000000u) == 0x94000000u || /* bl */
	       (insn & 0xfffffc1fu) == 0xd63f0000u || /* blr */
	       (insn & 0xfefff800u) == 0xd63f0800u;   /* blraa and its kin */
}

/* Target of a b or bl at pc. */
static uint64_t branch_target(uint64_t pc, uint32_t insn)
{
	return pc + (uint64_t)((int64_t)((uint64_t)insn << 38) >> 36);
}

uint64_t arch_call_target(const struct walk_mem *mem, uint64_t pc)
{
	uint32_t insn;

	if ((pc & 3) || pc < 4 || !mem_load(mem, pc - 4, &insn, sizeof(insn)) ||
		(insn & 0xfc000000u) != 0x94000000u)
		return 0;
	return branch_target(pc - 4, insn);
}

uint64_t arch_access_end(const struct walk_mem *mem, uint64_t pc)
{
	(void)mem;
	return pc + 4;
}

/* b.cond, cbz, cbnz; tbz and tbnz, whose displacement is shorter. */
bool arch_branch_next(const struct walk_mem *mem, uint64_t *at, uint64_t limit, uint64_t *target)
{
	uint32_t insn;

	for (; *at < limit && mem_load(mem, *at, &insn, sizeof(insn)); *at += 4) {
		bool test = (insn & 0x7e000000u) == 0x36000000u;

		if (!test && (insn & 0xff000010u) != 0x54000000u &&
			(insn & 0x7e000000u) != 0x34000000u)
			continue;
		*target = *at + (uint64_t)(test ? ((int64_t)((uint64_t)insn << 45) >> 50) * 4
						: ((int64_t)((uint64_t)insn << 40) >> 45) * 4);
		*at += 4;
		return true;
	}
	return false;
}

/* Target of the jump at pc. A near one may lead to another one in the same slow path, which is followed. 0: no jump. */
static uint64_t jump_at(const struct walk_mem *mem, uint64_t pc)
{
	uint64_t target = 0;
	uint32_t insn;

	for (int i = 0; i < 2 && !(pc & 3) && mem_load(mem, pc, &insn, sizeof(insn)); i++) {
		if ((insn & 0xfc000000u) != 0x14000000u) /* b */
			break;
		target = branch_target(pc, insn);
		if (target >= pc || pc - target > JUMP_NEAR)
			break;
		pc = target;
	}
	return target;
}

uint64_t arch_arguments(const struct walk_mem *mem, uint64_t pc, uint64_t *back)
{
	uint32_t insn;

	*back = 0;
	if ((pc & 3) || !mem_load(mem, pc, &insn, sizeof(insn)))
		return 0;
	if ((insn & 0xffff83e0u) == 0xa8c103e0u || /* ldp x, x, [sp], #16 */
		insn == 0x910043ffu)               /* add sp, sp, #16: C2's own return address */
		return 16;
	if ((insn & 0xffe0ffe0u) == 0xaa0003e0u) /* mov x, x: the result, to its destination */
		pc += 4;
	*back = jump_at(mem, pc);
	return 0;
}

uint64_t arch_jump_back(const struct walk_mem *mem, uint64_t pc, uint64_t low, uint64_t end)
{
	uint32_t insns[JUMP_INSNS];
	uint64_t count = (end - pc) / 4 < JUMP_INSNS ? (end - pc) / 4 : JUMP_INSNS, target;

	if ((pc & 3) || !count || !mem_load(mem, pc, insns, count * 4))
		return 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t insn = insns[i];

		if ((insn & 0xff000010u) == 0x54000000u ||   /* b.cond */
			(insn & 0x7e000000u) == 0x34000000u) /* cbz, cbnz */
			target = pc + 4 * i + (uint64_t)(((int64_t)(insn << 40) >> 45) * 4);
		else
			target = jump_at(mem, pc + 4 * i);
		if (target >= low && target < pc)
			return target;
	}
	return 0;
}

bool arch_at_trampoline(const struct walk_mem *mem, uint64_t pc)
{
	static const uint32_t want[] = {0xd2801168u, 0xd4000001u}; /* mov x8, #139; svc #0 */
	uint32_t code[2];

	return mem_load(mem, pc, code, sizeof(code)) && code[0] == want[0] && code[1] == want[1];
}

/*
 * Epilogue: ldp x29, x30, [sp, #N]; add sp, sp, #N; <poll>; ret. From the add on, lr holds the return address. If that was
 * signed, autiaz follows the add.
 */
static enum arch_prologue epilogue_state(const uint32_t *at)
{
	if (at[0] == INSN_RET || (is_add_sp(at[-1]) && at[0] == INSN_PROVE0))
		return ARCH_NO_FRAME;
	if ((is_add_sp(at[-1]) || at[-1] == INSN_PROVE0) &&
		((at[0] & 0xffc003ffu) == 0xf9400388u ||       /* ldr x8, [x28, #poll] */
			(at[0] & 0x9f00001fu) == 0x90000008u)) /* adrp x8, page */
		return ARCH_NO_FRAME;
	if (at[0] == 0xeb2863ffu && at[2] == INSN_RET) /* cmp sp, x8; b.hi; ret */
		return ARCH_NO_FRAME;
	if ((at[0] & 0xff000010u) == 0x54000000u && at[1] == INSN_RET) /* b.cond; ret */
		return ARCH_NO_FRAME;
	if (at[0] == 0xb940011fu && at[1] == INSN_RET) /* ldr wzr, [x8]; ret */
		return ARCH_NO_FRAME;
	return ARCH_BODY;
}

/*
 * MacroAssembler::build_frame makes a small frame by sub and stp into its slot, a large one by stp first and then sub; an entry
 * barrier may follow before the offset at which the frame is said to be complete.
 */
static enum arch_prologue prologue_state(const struct walk_mem *mem, uint64_t pc, uint64_t entry)
{
	uint32_t insn[32];
	uint64_t count = (pc - entry) / 4;
	bool grown = false, saved = false;

	if (pc <= entry)
		return ARCH_NO_FRAME;
	if (count > 32 || !mem_load(mem, entry, insn, count * 4))
		return ARCH_BODY;
	for (uint64_t i = 0; i < count; i++) {
		if (insn[i] == INSN_STP_FP)
			saved = true;
		else if (saved && (is_sub_sp(insn[i]) || is_sub_sp_reg(insn[i])))
			return ARCH_BODY;
		else if (is_sub_sp(insn[i]))
			grown = true;
		else if (grown && is_stp_fp_slot(insn[i]))
			return ARCH_BODY;
	}
	if (saved)
		return ARCH_PUSHED;
	return grown ? ARCH_UNSAVED : ARCH_NO_FRAME;
}

enum arch_prologue arch_compiled_prologue(
	const struct walk_mem *mem, uint64_t pc, uint64_t entry, uint64_t complete)
{
	uint32_t window[4];

	if (pc < complete)
		return prologue_state(mem, pc, entry);
	if (!mem_load(mem, pc - 4, window, sizeof(window)))
		return ARCH_BODY;
	return epilogue_state(window + 1);
}

enum arch_prologue arch_native_prologue(const struct walk_mem *mem, uint64_t pc)
{
	uint32_t window[2];

	if (!mem_load(mem, pc - 4, window, sizeof(window)))
		return ARCH_BODY;
	if (window[1] == INSN_RET || window[1] == INSN_SIGN || window[1] == INSN_PROVE ||
		window[1] == INSN_BTI || (window[1] & 0xffc07fffu) == 0xa9807bfdu)
		return ARCH_NO_FRAME;
	if (window[1] == INSN_MOV_FP && (window[0] & 0xffc07fffu) == 0xa9807bfdu)
		return ARCH_PUSHED;
	return ARCH_BODY;
}

#else
typedef int walk_arch_aarch64_is_empty;
#endif
