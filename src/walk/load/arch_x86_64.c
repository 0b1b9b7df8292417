/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction patterns of x86-64 that say where a frame's return address is. */
#include "walk/load/arch.h"

#if defined(__x86_64__)
#include "walk/load/mem.h"

#define BEFORE     8  /* bytes examined before pc, and */
#define WINDOW     16 /* in all */
#define JUMP_BYTES 96 /* of a barrier's slow path, up to its jump back: about 60 */

/* Length of the ModRM byte at at[0] with its SIB and displacement. */
static unsigned operand_bytes(const uint8_t *at)
{
	unsigned mod = at[0] >> 6, rm = at[0] & 7, bytes = 1;

	if (mod == 3)
		return bytes;
	bytes += rm == 4;
	if (mod == 0 && (rm == 5 || (rm == 4 && (at[1] & 7) == 5)))
		return bytes + 4;
	return bytes + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/*
 * Matches a call instruction that ends at pc, the end of the window: e8 rel32, or ff /2 with any addressing mode. Prefixes
 * only make it longer.
 */
bool arch_after_call(const struct walk_mem *mem, uint64_t pc)
{
	uint8_t b[BEFORE + 1];

	if (pc < BEFORE || !mem_load(mem, pc - BEFORE, b, BEFORE))
		return false;
	if (b[3] == 0xe8)
		return true;
	b[BEFORE] = 0; /* read as the second byte of an operand that is too long to match */
	for (unsigned length = 2; length <= 7; length++) {
		const uint8_t *insn = b + BEFORE - length;

		if (insn[0] == 0xff && (insn[1] & 0x38) == 0x10 &&
			1 + operand_bytes(insn + 1) == length)
			return true;
	}
	return false;
}

uint64_t arch_call_target(const struct walk_mem *mem, uint64_t pc)
{
	uint8_t b[5];
	int32_t far;

	if (pc < sizeof(b) || !mem_load(mem, pc - sizeof(b), b, sizeof(b)) || b[0] != 0xe8)
		return 0;
	__builtin_memcpy(&far, b + 1, sizeof(far));
	return pc + (uint64_t)(int64_t)far;
}

/* Handles one-byte opcodes with ModRM; 0f, 0f 38 and 0f 3a opcodes without an immediate operand; and VEX. */
uint64_t arch_access_end(const struct walk_mem *mem, uint64_t pc)
{
	uint8_t b[WINDOW] = {0};
	unsigned at = 0, immediate = 4;

	if (!mem_load(mem, pc, b, WINDOW))
		return 0;
	while (b[at] == 0x66 || b[at] == 0xf2 || b[at] == 0xf3) {
		immediate = b[at] == 0x66 ? 2 : immediate;
		at++;
	}
	if (b[at] == 0xc5 || b[at] == 0xc4) {
		at += b[at] == 0xc5 ? 3 : 4;
		return pc + at + operand_bytes(b + at);
	}
	at += (b[at] & 0xf0) == 0x40; /* REX */
	if (b[at] == 0x0f) {
		at += b[at + 1] == 0x38 || b[at + 1] == 0x3a ? 3 : 2;
		return pc + at + operand_bytes(b + at);
	}
	uint8_t opcode = b[at++];
	if (opcode == 0x80 || opcode == 0x83 || opcode == 0xc6 || opcode == 0x6b ||
		opcode == 0xc0 || opcode == 0xc1 || (opcode == 0xf6 && !(b[at] & 0x30)))
		immediate = 1;
	else if (opcode != 0x81 && opcode != 0xc7 && opcode != 0x69 &&
		 !(opcode == 0xf7 && !(b[at] & 0x30)))
		immediate = 0;
	return pc + at + operand_bytes(b + at) + immediate;
}

/* 0f 8x rel32, since traps are far away. Does not decode instruction by instruction: see arch_jump_back. */
bool arch_branch_next(const struct walk_mem *mem, uint64_t *at, uint64_t limit, uint64_t *target)
{
	uint8_t b[JUMP_BYTES];
	int32_t far;

	for (uint64_t pc = *at; pc < limit; pc += JUMP_BYTES - ARCH_BRANCH_BYTES + 1) {
		if (!mem_load(mem, pc, b, sizeof(b)))
			return false;
		for (unsigned i = 0; i + ARCH_BRANCH_BYTES <= JUMP_BYTES && pc + i < limit; i++) {
			if (b[i] != 0x0f || (b[i + 1] & 0xf0) != 0x80)
				continue;
			__builtin_memcpy(&far, b + i + 2, sizeof(far));
			*at = pc + i + ARCH_BRANCH_BYTES;
			*target = pc + i + ARCH_BRANCH_BYTES + (uint64_t)(int64_t)far;
			return true;
		}
	}
	return false;
}

/* Length of a pop of one register; 0: no such instruction. */
static unsigned pops(const uint8_t *at)
{
	unsigned prefix = at[0] == 0x41;

	return (at[prefix] & 0xf8) == 0x58 ? prefix + 1 : 0;
}

/* Target of the jump at pc. A short jump may lead to another one in the same slow path, which is followed. 0: no jump. */
static uint64_t jump_at(const struct walk_mem *mem, uint64_t pc)
{
	uint64_t target = 0;
	uint8_t b[5];
	int32_t far;

	for (int i = 0; i < 2 && mem_load(mem, pc, b, sizeof(b)); i++) {
		if (b[0] == 0xe9) {
			__builtin_memcpy(&far, b + 1, sizeof(far));
			return pc + 5 + (uint64_t)(int64_t)far;
		}
		if (b[0] != 0xeb)
			break;
		pc = target = pc + 2 + (uint64_t)(int64_t)(int8_t)b[1];
	}
	return target;
}

/* Length of an instruction that adds to rsp; 0: no such instruction. */
static unsigned adds_sp(const uint8_t *at)
{
	if (at[0] != 0x48 || at[2] != 0xc4)
		return 0;
	return at[1] == 0x83 ? 4 : at[1] == 0x81 ? 7 : 0;
}

uint64_t arch_arguments(const struct walk_mem *mem, uint64_t pc, uint64_t *back)
{
	uint8_t b[12];
	uint64_t bytes = 0;
	unsigned at = 0;

	*back = 0;
	if (!mem_load(mem, pc, b, sizeof(b)))
		return 0;
	unsigned popped = pops(b);
	if (popped && pops(b + popped))
		return 16;
	if (adds_sp(b) == 4) {
		bytes = b[3];
		at = 4;
	}
	if ((b[at] & 0xf8) == 0x48 && (b[at + 1] & 0xfd) == 0x89 && b[at + 2] >= 0xc0)
		at += 3; /* mov: the result, to its destination */
	popped = bytes ? pops(b + at) : 0;
	if (popped) /* restores the register that held the result */
		bytes += 8;
	*back = jump_at(mem, pc + at + popped);
	return *back ? bytes : 0;
}

/*
 * Instructions are not decoded: arbitrary bytes match a far jump into the few kB of one method with a probability of one in a
 * million. Short jumps are less certain; they count only at pc and where registers have just been restored: after an addition
 * to rsp, or vzeroupper.
 */
uint64_t arch_jump_back(const struct walk_mem *mem, uint64_t pc, uint64_t low, uint64_t end)
{
	uint8_t b[JUMP_BYTES + 8] = {0};
	uint64_t length = end - pc < JUMP_BYTES ? end - pc : JUMP_BYTES;
	int32_t far;

	if (length < 6 || !mem_load(mem, pc, b, length))
		return 0;
	for (uint64_t i = 0; i < length; i++) {
		uint64_t opcode = b[i] == 0xe9                                ? 1
				  : b[i] == 0x0f && (b[i + 1] & 0xf0) == 0x80 ? 2
									      : 0;
		unsigned restored =
			b[i] == 0xc5 && b[i + 1] == 0xf8 && b[i + 2] == 0x77 ? 3 : adds_sp(b + i);
		uint64_t target = 0;

		if (opcode && i + opcode + 4 <= length) {
			__builtin_memcpy(&far, b + i + opcode, sizeof(far));
			target = pc + i + opcode + 4 + (uint64_t)(int64_t)far;
		} else if ((restored || !i) && b[i + restored] == 0xeb) {
			target = jump_at(mem, pc + i + restored);
		}
		if (target >= low && target < pc)
			return target;
	}
	return 0;
}

bool arch_at_trampoline(const struct walk_mem *mem, uint64_t pc)
{
	/* mov rax,15; syscall */
	static const uint8_t want[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	uint8_t code[sizeof(want)];

	return mem_load(mem, pc, code, sizeof(code)) && !__builtin_memcmp(code, want, sizeof(want));
}

/* --- compiled code ----------------------------------------------------------------------------------- */

/*
 * Epilogue: [vzeroupper]; add rsp, N; pop rbp; <poll>; ret. at[0] is the byte at pc, at[-1] the one before.
 * Polls: 17+ cmp rsp,[r15+x]; ja. 11: mov r10,[r15+x]; test [r10],eax. 8: test [rip+x],eax.
 */
static enum arch_prologue epilogue_state(const uint8_t *at)
{
	static const uint8_t POP_RBP = 0x5d, RET = 0xc3;

	if (at[0] == RET)
		return ARCH_NO_FRAME;
	if (at[0] == POP_RBP)
		return ARCH_PUSHED;
	if (adds_sp(at) || (at[0] == 0xc5 && at[1] == 0xf8 && at[2] == 0x77 && adds_sp(at + 3)))
		return ARCH_LEAVING;
	if (at[-1] == POP_RBP) {
		if (at[0] == 0x49 && at[1] == 0x3b && (at[2] == 0x67 || at[2] == 0xa7))
			return ARCH_NO_FRAME;
		if (at[0] == 0x4d && at[1] == 0x8b && at[2] == 0x97)
			return ARCH_NO_FRAME;
		if (at[0] == 0x85 && at[1] == 0x05)
			return ARCH_NO_FRAME;
	}
	if (at[0] == 0x0f && at[1] == 0x87 && at[6] == RET)
		return ARCH_NO_FRAME;
	if (at[0] == 0x41 && at[1] == 0x85 && at[2] == 0x02 && at[3] == RET)
		return ARCH_NO_FRAME;
	if (at[0] == 0x85 && at[1] == 0x05 && at[6] == RET)
		return ARCH_NO_FRAME;
	return ARCH_BODY;
}

/*
 * Prologue: [mov [rsp-x],eax]; push rbp; [mov rbp,rsp]; sub rsp,N   (frames with a stack bang, and C1)
 *       or: sub rsp,N; mov [rsp+N-16],rbp                           (C2 leaves)
 */
static enum arch_prologue prologue_state(const struct walk_mem *mem, uint64_t pc, uint64_t entry)
{
	uint8_t b[64];
	uint64_t length = pc - entry;
	bool pushed = false;

	if (pc <= entry)
		return ARCH_NO_FRAME;
	if (length > sizeof(b) || !mem_load(mem, entry, b, length))
		return ARCH_BODY;
	for (uint64_t i = 0; i < length;) {
		const uint8_t *at = b + i;
		uint64_t left = length - i;

		if (at[0] == 0x89 && left >= 7 && at[1] == 0x84) {
			i += 7; /* stack bang */
		} else if (at[0] == 0x55) {
			pushed = true;
			i += 1;
		} else if (at[0] == 0x48 && left >= 3 && (at[1] == 0x8b || at[1] == 0x89) &&
			   (at[2] == 0xec || at[2] == 0xe5)) {
			i += 3; /* mov rbp,rsp */
		} else if (at[0] == 0x48 && left >= 4 && (at[1] & 0xfd) == 0x81 && at[2] == 0xec) {
			i += at[1] == 0x81 ? 7 : 4;
			if (pushed)
				return ARCH_BODY;
			/* mov [rsp+N-16],rbp comes next; once it ran, the frame is complete */
			return i + 5 <= length ? ARCH_BODY : ARCH_UNSAVED;
		} else if (at[0] == 0x0f && left >= 2 && at[1] == 0x1f) {
			return pushed ? ARCH_PUSHED : ARCH_NO_FRAME; /* nop before the frame */
		} else {
			i += 1;
		}
	}
	return pushed ? ARCH_PUSHED : ARCH_NO_FRAME;
}

enum arch_prologue arch_compiled_prologue(
	const struct walk_mem *mem, uint64_t pc, uint64_t entry, uint64_t complete)
{
	uint8_t window[WINDOW];

	if (pc < complete)
		return prologue_state(mem, pc, entry);
	if (!mem_load(mem, pc - BEFORE, window, WINDOW))
		return ARCH_BODY;
	return epilogue_state(window + BEFORE);
}

/* --- native code ------------------------------------------------------------------------------------- */

/* mov rbp,rsp, in the encodings of gcc (89 e5) and HotSpot (8b ec). */
static bool sets_frame_pointer(const uint8_t *at)
{
	return at[0] == 0x48 &&
	       ((at[1] == 0x89 && at[2] == 0xe5) || (at[1] == 0x8b && at[2] == 0xec));
}

enum arch_prologue arch_native_prologue(const struct walk_mem *mem, uint64_t pc)
{
	uint8_t window[WINDOW];
	const uint8_t *at = window + BEFORE;

	if (!mem_load(mem, pc - BEFORE, window, WINDOW))
		return ARCH_BODY;
	if (at[0] == 0xc3)
		return ARCH_NO_FRAME;
	if (at[0] == 0x55 && sets_frame_pointer(at + 1))
		return ARCH_NO_FRAME; /* push rbp */
	if (at[0] == 0xf3 && at[1] == 0x0f && at[2] == 0x1e && at[3] == 0xfa)
		return ARCH_NO_FRAME; /* endbr64 */
	if (at[-1] == 0x55 && sets_frame_pointer(at))
		return ARCH_PUSHED;
	return ARCH_BODY;
}

#else
typedef int walk_arch_x86_64_is_empty;
#endif
