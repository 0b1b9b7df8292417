/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded loads: one copy routine in assembly, whose pc range is its fault table. */
#define _GNU_SOURCE 1
#include "walk/guard.h"
#include "walk/regs.h"

/* 1 when all bytes were copied, 0 when the source could not be read. */
int guard_copy(void *to, const void *from, size_t bytes) __attribute__((visibility("hidden")));
extern const char guard_copy_begin[] __attribute__((visibility("hidden")));
extern const char guard_copy_end[] __attribute__((visibility("hidden")));
extern const char guard_copy_failed[] __attribute__((visibility("hidden")));

#if defined(__x86_64__)
__asm__(".text\n"
	".p2align 4\n"
	".hidden guard_copy, guard_copy_begin, guard_copy_end, guard_copy_failed\n"
	".globl guard_copy, guard_copy_begin, guard_copy_end, guard_copy_failed\n"
	".type guard_copy, @function\n"
	"guard_copy:\n"
	".cfi_startproc\n"
	"guard_copy_begin:\n"
	"	cmp $8, %rdx\n" /* most loads are of one word */
	"	jne 4f\n"
	"	mov (%rsi), %rax\n"
	"	mov %rax, (%rdi)\n"
	"	mov $1, %eax\n"
	"	ret\n"
	"4:	cmp $16, %rdx\n"
	"	jb 1f\n"
	"	movups (%rsi), %xmm0\n"
	"	movups %xmm0, (%rdi)\n"
	"	add $16, %rsi\n"
	"	add $16, %rdi\n"
	"	sub $16, %rdx\n"
	"	jmp 4b\n"
	"1:	cmp $8, %rdx\n"
	"	jb 2f\n"
	"	mov (%rsi), %rax\n"
	"	mov %rax, (%rdi)\n"
	"	add $8, %rsi\n"
	"	add $8, %rdi\n"
	"	sub $8, %rdx\n"
	"	jmp 1b\n"
	"2:	test %rdx, %rdx\n"
	"	jz 3f\n"
	"	movb (%rsi), %al\n"
	"	movb %al, (%rdi)\n"
	"	inc %rsi\n"
	"	inc %rdi\n"
	"	dec %rdx\n"
	"	jmp 2b\n"
	"guard_copy_end:\n"
	"3:	mov $1, %eax\n"
	"	ret\n"
	"guard_copy_failed:\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	".cfi_endproc\n"
	".size guard_copy, .-guard_copy\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".p2align 4\n"
	".hidden guard_copy, guard_copy_begin, guard_copy_end, guard_copy_failed\n"
	".globl guard_copy, guard_copy_begin, guard_copy_end, guard_copy_failed\n"
	".type guard_copy, %function\n"
	"guard_copy:\n"
	".cfi_startproc\n"
	"guard_copy_begin:\n"
	"1:	cmp x2, #8\n"
	"	b.lo 2f\n"
	"	ldr x3, [x1], #8\n"
	"	str x3, [x0], #8\n"
	"	sub x2, x2, #8\n"
	"	b 1b\n"
	"2:	cbz x2, 3f\n"
	"	ldrb w3, [x1], #1\n"
	"	strb w3, [x0], #1\n"
	"	sub x2, x2, #1\n"
	"	b 2b\n"
	"guard_copy_end:\n"
	"3:	mov w0, #1\n"
	"	ret\n"
	"guard_copy_failed:\n"
	"	mov w0, #0\n"
	"	ret\n"
	".cfi_endproc\n"
	".size guard_copy, .-guard_copy\n");
#endif

bool guard_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	return guard_copy(out, (const void *)(uintptr_t)addr, bytes) != 0;
}

bool guard_recover(void *ucontext)
{
	uint64_t pc = regs_pc(ucontext);

	if (pc < (uintptr_t)guard_copy_begin || pc >= (uintptr_t)guard_copy_end)
		return false;
	regs_set_pc(ucontext, (uintptr_t)guard_copy_failed);
	return true;
}
