/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry of the sampling handler: switches to one of the agent's stacks before it pushes anything.
 *
 * The interrupted thread may be on a coroutine's stack or on a small alternate one, so the handler must need no more of
 * it than the kernel's own signal frame. sig_sample therefore works in registers until it has acquired one of
 * SIG_STACKS stacks, calls sig_handle there, returns to the interrupted stack and releases. If all are in use,
 * sig_refuse counts the signal instead.
 *
 * The owner of a stack is the id of its thread. The handler's mask blocks every signal that could re-enter it, so a
 * thread that finds a stack it already owns has left an earlier handler without returning (siglongjmp) and reuses that
 * stack. A thread that ends inside its handler retains its stack until another thread gets the same id.
 *
 * Returning from a handler restores all registers, so sig_sample may clobber callee-saved ones. It keeps the
 * interrupted stack pointer in one of them, where its CFI lets debuggers find it.
 */
#include "sampler/signal/entry.h"
#include "sampler/signal/signal.h"

#include "sampler/engine/ctimer.h"
#include "sampler/signal/raw.h"

#define SIG_STACK_BYTES 32768
#define NO_STACK        UINT32_MAX /* owner of a buffer acquired outside of handlers */

_Atomic int32_t sig_stack_owners[SIG_STACKS] __attribute__((used));
_Alignas(4096) unsigned char sig_stacks[SIG_STACKS][SIG_STACK_BYTES] __attribute__((used));

static _Atomic uint64_t sig_refused;

__attribute__((used)) void sig_refuse(int sig, const siginfo_t *info)
{
	(void)sig;
	/* Samples in a perf buffer, and those requested by other threads, remain pending until the next signal. */
	if (info->si_code == SI_TIMER &&
		(info->si_value.sival_int & ENGINE_COOKIE_MASK) == ENGINE_COOKIE)
		atomic_fetch_add_explicit(&sig_refused, 1, memory_order_relaxed);
}

uint64_t sig_refused_consume(void)
{
	return atomic_exchange(&sig_refused, 0);
}

/* The handler stack this code runs on, numbered from 1; NO_STACK if it is not one of them. */
static uint32_t stack_here(void)
{
	uintptr_t at = (uintptr_t)__builtin_frame_address(0), low = (uintptr_t)sig_stacks;

	if (at < low || at >= low + sizeof(sig_stacks))
		return NO_STACK;
	return 1 + (uint32_t)((at - low) / SIG_STACK_BYTES);
}

struct scratch *sig_scratch_acquire(struct scratch *buffers)
{
	uint32_t own_stack = stack_here(), owner;

	for (uint32_t i = own_stack == NO_STACK ? SIG_STACKS : 0; i < SAMPLER_SCRATCH; i++) {
		owner = atomic_load_explicit(&buffers[i].owner, memory_order_relaxed);
		if ((owner && (owner != own_stack || own_stack == NO_STACK)) ||
			(!owner &&
				!atomic_compare_exchange_strong_explicit(&buffers[i].owner, &owner,
					own_stack, memory_order_acquire, memory_order_relaxed)))
			continue;
		buffers[i].used = true;
		return &buffers[i];
	}
	return NULL;
}

void sig_scratch_release(struct scratch *scratch)
{
	atomic_store_explicit(&scratch->owner, 0, memory_order_release);
}

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

/* clang-format off */
#if defined(__x86_64__)
_Static_assert(SYS_gettid == 186, "as sig_sample calls it");
/*
 * If the thread has set this flag, misaligned accesses fault; the kernel does not clear it for handlers. It is cleared only where
 * it is set: a debugger that steps over popfq leaves the thread's trap flag set, which later ends the JVM.
 */
#define FLAG_ALIGNMENT 0x40000
/*
 * rbx: interrupted stack pointer   r8: address of the owner word   r9d: this thread's id
 * eax: value of a word   ecx: index   r10d: probes left
 */
__asm__(
	".text\n"
	".p2align 4\n"
	".globl sig_sample\n"
	".hidden sig_sample\n"
	".type sig_sample, @function\n"
	"sig_sample:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	movl $186, %eax\n"
	"	syscall\n"
	"	movl %eax, %r9d\n"
	"	movl %eax, %ecx\n"
	"	movl $" TEXT(SIG_STACKS) ", %r10d\n"
	"1:	andl $" TEXT(SIG_STACKS) "-1, %ecx\n"
	"	leaq sig_stack_owners(%rip), %r8\n"
	"	leaq (%r8,%rcx,4), %r8\n"
	"	movl (%r8), %eax\n"
	"	cmpl %r9d, %eax\n"
	"	je 2f\n"
	"	testl %eax, %eax\n"
	"	jnz 3f\n"
	"	lock cmpxchgl %r9d, (%r8)\n"
	"	je 2f\n"
	"3:	incl %ecx\n"
	"	decl %r10d\n"
	"	jnz 1b\n"
	"	jmp sig_refuse\n"
	"2:	movq %rsp, %rbx\n"
	"	.cfi_def_cfa_register %rbx\n"
	"	movq %r8, %r12\n"
	"	incl %ecx\n"
	"	imulq $" TEXT(SIG_STACK_BYTES) ", %rcx, %rcx\n"
	"	leaq sig_stacks(%rip), %rax\n"
	"	leaq (%rax,%rcx), %rsp\n"
	"	pushfq\n"
	"	testl $" TEXT(FLAG_ALIGNMENT) ", (%rsp)\n"
	"	jz 6f\n"
	"	andl $~" TEXT(FLAG_ALIGNMENT) ", (%rsp)\n"
	"	popfq\n"
	"	pushq %rax\n"
	"6:	addq $8, %rsp\n"
	"	movl %r9d, %ecx\n"
	"	call sig_handle\n"
	"	movq %rbx, %rsp\n"
	"	.cfi_def_cfa_register %rsp\n"
	"	movl $0, (%r12)\n"
	"	ret\n"
	".cfi_endproc\n"
	".size sig_sample, .-sig_sample\n");
#elif defined(__aarch64__)
_Static_assert(SYS_gettid == 178, "as sig_sample calls it");
/*
 * x19: interrupted stack pointer   x20: return address   x21: address of the owner word   w22: this thread's id
 * w9: value of a word   w10: index   w11: probes left   x23, w24: info, sig
 */
__asm__(
	".text\n"
	".p2align 4\n"
	".globl sig_sample\n"
	".hidden sig_sample\n"
	".type sig_sample, %function\n"
	"sig_sample:\n"
	".cfi_startproc\n"
	"	hint #34\n"
	"	mov x24, x0\n"
	"	mov x8, #178\n"
	"	svc #0\n"
	"	mov w22, w0\n"
	"	mov x0, x24\n"
	"	mov w10, w22\n"
	"	mov w11, #" TEXT(SIG_STACKS) "\n"
	"1:	and w10, w10, #" TEXT(SIG_STACKS) "-1\n"
	"	adrp x21, sig_stack_owners\n"
	"	add x21, x21, :lo12:sig_stack_owners\n"
	"	add x21, x21, x10, lsl #2\n"
	"2:	ldaxr w9, [x21]\n"
	"	cmp w9, w22\n"
	"	b.eq 4f\n"
	"	cbnz w9, 3f\n"
	"	stxr w9, w22, [x21]\n"
	"	cbnz w9, 2b\n"
	"	b 4f\n"
	"3:	clrex\n"
	"	add w10, w10, #1\n"
	"	subs w11, w11, #1\n"
	"	b.ne 1b\n"
	"	b sig_refuse\n"
	"4:	mov x19, sp\n"
	"	.cfi_def_cfa_register x19\n"
	"	mov x20, x30\n"
	"	.cfi_register x30, x20\n"
	"	add w10, w10, #1\n"
	"	mov w11, #" TEXT(SIG_STACK_BYTES) "\n"
	"	adrp x9, sig_stacks\n"
	"	add x9, x9, :lo12:sig_stacks\n"
	"	umaddl x9, w10, w11, x9\n"
	"	mov sp, x9\n"
	"	mov w3, w22\n"
	"	bl sig_handle\n"
	"	mov sp, x19\n"
	"	.cfi_def_cfa_register sp\n"
	"	stlr wzr, [x21]\n"
	"	mov x30, x20\n"
	"	.cfi_restore x30\n"
	"	ret\n"
	".cfi_endproc\n"
	".size sig_sample, .-sig_sample\n");
#endif
/* clang-format on */
