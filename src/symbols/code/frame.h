/* SPDX-License-Identifier: Apache-2.0 */
/* What a frame is like at one instruction, and what the instruction makes of it. Plain functions. */
#ifndef JHOT_SYMBOLS_CODE_FRAME_H
#define JHOT_SYMBOLS_CODE_FRAME_H

#include "symbols/code/insn.h"
#include "wire/unwind.h"

#define CODE_UNKNOWN INT32_MIN

/* Where the caller's things are. Without padding, so that two can be compared byte by byte. */
struct code_frame {
	int32_t sp, fp; /* from them to the CFA; CODE_UNKNOWN */
	/* from the CFA; 0: the caller's fp, or the return address, is in its register */
	int32_t fp_saved, link_saved;
	uint32_t outermost;
};

/* code_frame_step: as it is behind the instruction. false: it cannot be followed any further. */
bool code_frame_step(struct code_frame *frame, const struct code_insn *insn);
/* code_frame_rule: how to find the caller from there. */
struct wire_unwind_rule code_frame_rule(const struct code_frame *frame);

#endif
