/* SPDX-License-Identifier: Apache-2.0 */
/* A function whose call frame information is in .debug_frame only, as in hand-written assembly of some libraries. */
#include "tests/symbols/debug_frame.h"

#if defined(__x86_64__)
__asm__(".cfi_sections .debug_frame\n"
	".text\n"
	".globl debug_frame_function\n"
	".type debug_frame_function, @function\n"
	"debug_frame_function:\n"
	"	.cfi_startproc\n"
	"	sub $0x128, %rsp\n"
	"	.cfi_adjust_cfa_offset 0x128\n"
	"debug_frame_middle:\n"
	"	add $0x128, %rsp\n"
	"	.cfi_adjust_cfa_offset -0x128\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size debug_frame_function, . - debug_frame_function\n");
#else
__asm__(".cfi_sections .debug_frame\n"
	".text\n"
	".globl debug_frame_function\n"
	".type debug_frame_function, %function\n"
	"debug_frame_function:\n"
	"	.cfi_startproc\n"
	"	sub sp, sp, 0x120\n"
	"	.cfi_adjust_cfa_offset 0x120\n"
	"debug_frame_middle:\n"
	"	add sp, sp, 0x120\n"
	"	.cfi_adjust_cfa_offset -0x120\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size debug_frame_function, . - debug_frame_function\n");
#endif
__asm__(".globl debug_frame_middle");
