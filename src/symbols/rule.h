/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the fields of struct wire_unwind_rule, for its producers. walk/frames/unwind.h has the same ones for its consumer. */
#ifndef JHOT_SYMBOLS_RULE_H
#define JHOT_SYMBOLS_RULE_H

#include "wire/unwind.h"

enum cfi_cfa {
	CFI_CFA_NONE = 0,    /* no information from here on */
	CFI_CFA_ROOT = 1,    /* the outermost frame: it has no caller */
	CFI_CFA_SIGNAL = 2,  /* a signal trampoline: the interrupted registers are at sp */
	CFI_CFA_SP = 3,      /* sp + cfa_offset */
	CFI_CFA_FP = 4,      /* fp + cfa_offset */
	CFI_CFA_FP_LOAD = 5, /* the word at fp + cfa_offset (realigned stacks) */
	CFI_CFA_PLT = 6,   /* sp + cfa_offset, 8 more once (pc & 15) >= fp_offset (x86 lazy PLT) */
	CFI_CFA_OTHER = 7, /* a rule that these cannot express */
};

enum cfi_saved {
	CFI_SAVED_NOT = 0,  /* still in its register: fp, or on aarch64 the return address in lr */
	CFI_SAVED_CFA = 1,  /* at CFA + offset */
	CFI_SAVED_FP = 2,   /* at fp + offset (fp as it is in this frame) */
	CFI_SAVED_LOST = 3, /* unknown: fp is 0 in the caller */
};

#endif
