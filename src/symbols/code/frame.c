/* SPDX-License-Identifier: Apache-2.0 */
/* Effects of instructions on sp, fp and lr, and their translation to unwind rules. */
#include "symbols/code/frame.h"

#include "symbols/rule.h"

#define FRAME_MAX (1 << 20) /* bytes; a larger frame is an error */

static bool in_frame(int64_t bytes)
{
	return bytes > -FRAME_MAX && bytes < FRAME_MAX;
}

/* True when a rule can express this offset from the CFA. */
static bool in_rule(int64_t from_cfa)
{
	return from_cfa < 0 && from_cfa > INT16_MIN;
}

bool code_frame_step(struct code_frame *frame, const struct code_insn *insn)
{
	int64_t at;

	if (insn->sp == CODE_SP_MOVES && frame->sp != CODE_UNKNOWN) {
		at = (int64_t)frame->sp - insn->sp_by;
		if (!in_frame(at) || at < 0)
			return false;
		frame->sp = (int32_t)at;
	} else if (insn->sp == CODE_SP_IS_FP) {
		at = (int64_t)frame->fp - insn->sp_by;
		frame->sp = frame->fp != CODE_UNKNOWN && in_frame(at) ? (int32_t)at : CODE_UNKNOWN;
	} else if (insn->sp == CODE_SP_LOST) {
		frame->sp = CODE_UNKNOWN;
	}
	at = frame->sp == CODE_UNKNOWN ? 0 : insn->fp_at - (int64_t)frame->sp; /* from the CFA */
	if (insn->fp == CODE_FP_LOADED && at && at == frame->fp_saved) {
		frame->fp = CODE_UNKNOWN;
		frame->fp_saved = 0;
	} else if (insn->fp == CODE_FP_SAVED && frame->fp == CODE_UNKNOWN && !frame->fp_saved &&
		   in_rule(at)) {
		frame->fp_saved = (int32_t)at;
	} else if (insn->fp == CODE_FP_IS_SP && frame->fp_saved) {
		frame->fp = frame->sp == CODE_UNKNOWN ? CODE_UNKNOWN : (int32_t)-at;
	}
	at = frame->sp == CODE_UNKNOWN ? 0 : insn->link_at - (int64_t)frame->sp;
	if (insn->link == CODE_LINK_LOADED && at == frame->link_saved)
		frame->link_saved = 0;
	else if (insn->link == CODE_LINK_SAVED && !frame->link_saved && in_rule(at))
		frame->link_saved = (int32_t)at;
	frame->outermost |= insn->fp == CODE_FP_ZERO && !frame->fp_saved;
	return frame->sp != CODE_UNKNOWN || frame->fp != CODE_UNKNOWN;
}

struct wire_unwind_rule code_frame_rule(const struct code_frame *frame)
{
	bool by_sp = frame->sp != CODE_UNKNOWN;

	if (frame->outermost)
		return (struct wire_unwind_rule){.cfa = CFI_CFA_ROOT};
	return (struct wire_unwind_rule){
		.cfa = by_sp ? CFI_CFA_SP : CFI_CFA_FP,
		.fp = frame->fp_saved ? CFI_SAVED_CFA : CFI_SAVED_NOT,
		.ra = frame->link_saved ? CFI_SAVED_CFA : CFI_SAVED_NOT,
		.cfa_offset = by_sp ? frame->sp : frame->fp,
		.fp_offset = (int16_t)frame->fp_saved,
		.ra_offset = (int16_t)frame->link_saved,
	};
}
