/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a frame before an instruction, and its transition. Plain values, pure functions. */
#ifndef JHOT_SYMBOLS_CODE_FRAME_H
#define JHOT_SYMBOLS_CODE_FRAME_H

#include "symbols/code/insn.h"
#include "wire/unwind.h"

#define CODE_UNKNOWN INT32_MIN

/* Has no padding, so that states can be compared with memcmp. */
struct code_frame {
	int32_t sp, fp; /* CFA minus the register, or CODE_UNKNOWN */
	/* offsets from the CFA where the caller's fp and the return address are saved; 0: still in their registers */
	int32_t fp_saved, link_saved;
	uint32_t outermost;
};

/* Applies an instruction. Returns false if the state is unknown afterwards. */
bool code_frame_step(struct code_frame *frame, const struct code_insn *insn);
/* The unwind rule for this state. */
struct wire_unwind_rule code_frame_rule(const struct code_frame *frame);

#endif
