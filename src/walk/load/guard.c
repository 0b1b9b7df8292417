/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded loads: one copy routine in assembly, whose pc range is its fault table. */
#define _GNU_SOURCE 1
#include "walk/load/guard.h"
#include "walk/load/regs.h"

/* guard_load(mem, addr, out, bytes) itself: it is called for every word, and does not look at mem. */
extern const char guard_begin[] __attribute__((visibility("hidden")));
extern const char guard_end[] __attribute__((visibility("hidden")));
extern const char guard_failed[] __attribute__((visibility("hidden")));

#if defined(__x86_64__)
__asm__(".text\n"
	".p2align 4\n"
	".hidden guard_load, guard_begin, guard_end, guard_failed\n"
	".globl guard_load, guard_begin, guard_end, guard_failed\n"
	".type guard_load, @function\n"
	"guard_load:\n"
	".cfi_startproc\n"
	"guard_begin:\n"
	"	cmp $8, %rcx\n" /* most loads are of one word */
	"	jne 4f\n"
	"	mov (%rsi), %rax\n"
	"	mov %rax, (%rdx)\n"
	"	mov $1, %eax\n"
	"	ret\n"
	"4:	cmp $16, %rcx\n"
	"	jb 1f\n"
	"	movups (%rsi), %xmm0\n"
	"	movups %xmm0, (%rdx)\n"
	"	add $16, %rsi\n"
	"	add $16, %rdx\n"
	"	sub $16, %rcx\n"
	"	jmp 4b\n"
	"1:	cmp $8, %rcx\n"
	"	jb 2f\n"
	"	mov (%rsi), %rax\n"
	"	mov %rax, (%rdx)\n"
	"	add $8, %rsi\n"
	"	add $8, %rdx\n"
	"	sub $8, %rcx\n"
	"	jmp 1b\n"
	"2:	test %rcx, %rcx\n"
	"	jz 3f\n"
	"	movb (%rsi), %al\n"
	"	movb %al, (%rdx)\n"
	"	inc %rsi\n"
	"	inc %rdx\n"
	"	dec %rcx\n"
	"	jmp 2b\n"
	"guard_end:\n"
	"3:	mov $1, %eax\n"
	"	ret\n"
	"guard_failed:\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	".cfi_endproc\n"
	".size guard_load, .-guard_load\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".p2align 4\n"
	".hidden guard_load, guard_begin, guard_end, guard_failed\n"
	".globl guard_load, guard_begin, guard_end, guard_failed\n"
	".type guard_load, %function\n"
	"guard_load:\n"
	".cfi_startproc\n"
	"guard_begin:\n"
	"1:	cmp x3, #8\n"
	"	b.lo 2f\n"
	"	ldr x4, [x1], #8\n"
	"	str x4, [x2], #8\n"
	"	sub x3, x3, #8\n"
	"	b 1b\n"
	"2:	cbz x3, 3f\n"
	"	ldrb w4, [x1], #1\n"
	"	strb w4, [x2], #1\n"
	"	sub x3, x3, #1\n"
	"	b 2b\n"
	"guard_end:\n"
	"3:	mov w0, #1\n"
	"	ret\n"
	"guard_failed:\n"
	"	mov w0, #0\n"
	"	ret\n"
	".cfi_endproc\n"
	".size guard_load, .-guard_load\n");
#endif

/* The table is there even in a program that has no such loads: an entry that is no code's. */
__asm__(".pushsection guard_table, \"a\", %progbits\n"
	"	.balign 4\n"
	"	.long 0, 0\n"
	".popsection\n");

/* An entry of GUARD_CODE. */
struct guard_entry {
	int32_t load, failed;
};
extern const struct guard_entry __start_guard_table[] __attribute__((visibility("hidden")));
extern const struct guard_entry __stop_guard_table[] __attribute__((visibility("hidden")));

/* Where to go on after a fault at pc, 0 when there is no guarded load. */
static uintptr_t failed_at(uintptr_t pc)
{
	if (pc >= (uintptr_t)guard_begin && pc < (uintptr_t)guard_end)
		return (uintptr_t)guard_failed;
	for (const struct guard_entry *e = __start_guard_table; e < __stop_guard_table; e++) {
		if ((uintptr_t)&e->load + (uintptr_t)(intptr_t)e->load == pc)
			return (uintptr_t)&e->failed + (uintptr_t)(intptr_t)e->failed;
	}
	return 0;
}

bool guard_recover(void *ucontext)
{
	uintptr_t at = failed_at(regs_pc(ucontext));

	if (at)
		regs_set_pc(ucontext, at);
	return at != 0;
}
