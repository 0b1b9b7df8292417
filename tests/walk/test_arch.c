/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a frame, as implied by the instructions around its pc, on compiler-generated code of this CPU. */
#include <string.h>

#include "tests/tap.h"
#include "walk/frames/walker.h"
#include "walk/load/arch.h"
#include "walk/load/regs.h"

#define CODE 0x7f0000001000ull

static uint8_t code[256];

static bool load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	(void)mem;
	if (addr < CODE || addr + bytes > CODE + sizeof(code))
		return false;
	memcpy(out, code + (addr - CODE), bytes);
	return true;
}

static const struct walk_mem mem = {.load = load};

/* put: writes these bytes at offset `at`; the rest of the code is zero. */
static uint64_t put(unsigned at, const void *bytes, size_t count)
{
	memset(code + at, 0, sizeof(code) - at);
	memcpy(code + at, bytes, count);
	return CODE + at;
}

#define PUT(at, ...) put(at, (const unit[]){__VA_ARGS__}, sizeof((const unit[]){__VA_ARGS__}))

static uint64_t
	back; /* the target of the jump that arguments() found last, relative to CODE; 0: none */

static long long arguments(uint64_t pc)
{
	long long bytes = (long long)arch_arguments(&mem, pc, &back);

	back = back ? back - CODE : 0;
	return bytes;
}

/* called: whether the call before pc, which targets CODE + 64, is recognized as a call of [low, end). */
static bool called(uint64_t pc, unsigned low, unsigned end)
{
	return arch_after_call_of(&mem, pc, CODE + low, CODE + end);
}

static void test_calls(uint64_t pc, const char *how)
{
	is_int(called(pc, 64, 65), 1, how);
	is_int(called(pc, 0, 128), 1, "a call into the middle of the range is recognized");
	is_int(called(pc, 65, 128), 0, "a call below the range is not recognized");
	is_int(called(pc, 0, 64), 0, "a call at the end of the range is not recognized");
}

/*
 * branches: the distance from CODE + 64 to the target of the first conditional branch before limit; *behind: the
 * offset after it. -1: none.
 */
static int branches(unsigned limit, unsigned *behind)
{
	uint64_t at = CODE + 64, target = 0;

	if (!arch_branch_next(&mem, &at, CODE + limit, &target))
		return -1;
	*behind = (unsigned)(at - CODE);
	return (int)(target - CODE) - 64;
}

static void test_branch(unsigned begins, const char *how)
{
	unsigned behind = 0;

	is_int(branches(begins + 1, &behind), 80, how);
	is_int(behind, begins + ARCH_BRANCH_BYTES, "the scan continues after the branch");
	is_int(branches(begins, &behind), -1, "a branch beyond the limit is not found");
}

#if defined(__x86_64__)
typedef uint8_t unit;

static unsigned access_bytes(uint64_t pc)
{
	return (unsigned)(arch_access_end(&mem, pc) - pc);
}

static void test_accesses(void)
{
	is_int(access_bytes(PUT(128, 0x8b, 0x68, 0x10)), 3,
		"the length of mov ebp,[rax+16] is decoded");
	is_int(access_bytes(PUT(128, 0x43, 0x8b, 0x6c, 0xdc, 0x0c)), 5,
		"the length of mov ebp,[r12+r11*8+12] is decoded");
	is_int(access_bytes(PUT(128, 0x41, 0x81, 0x7c, 0xdc, 0x08, 1, 2, 3, 4)), 9,
		"the length of cmp [r12+rbx*8+8],imm32 is decoded");
	is_int(access_bytes(PUT(128, 0x43, 0x0f, 0xb6, 0x44, 0xec, 0x0d)), 6,
		"the length of movzx eax,[r12+r13*8+13] is decoded");
	is_int(access_bytes(PUT(128, 0x66, 0xc7, 0x40, 0x10, 1, 2)), 6,
		"the length of mov word [rax+16],imm16 is decoded");
	is_int(access_bytes(PUT(128, 0xc5, 0xfb, 0x10, 0x80, 0, 1, 0, 0)), 8,
		"the length of vmovsd xmm0,[rax+256] is decoded");
	is_int(access_bytes(PUT(128, 0xf7, 0x40, 0x08, 1, 2, 3, 4)), 7,
		"the length of test [rax+8],imm32 is decoded");
}

static void test_arguments(void)
{
	is_int(arguments(PUT(128, 0x58, 0x59)), 16,
		"pop rax; pop rcx removes 16 bytes of arguments");
	is_int(arguments(PUT(128, 0x41, 0x5b, 0x5f)), 16,
		"pop r11; pop rdi removes 16 bytes of arguments");
	is_int(arguments(PUT(128, 0x5d, 0xc3)), 0, "pop rbp; ret removes no arguments");
	is_int(arguments(PUT(128, 0x48, 0x83, 0xc4, 0x10, 0x5d)), 0,
		"add rsp, 16; pop rbp removes no arguments");
	is_int(arguments(PUT(128, 0x48, 0x83, 0xc4, 0x10, 0xeb, 0xe0)), 16,
		"add rsp, 16; jmp removes 16 bytes of arguments");
	is_int((long long)back, 128 + 6 - 32, "the target of the short jmp is returned");
	/* add rsp, 16; mov rdi, rax; pop rax; jmp */
	is_int(arguments(PUT(128, 0x48, 0x83, 0xc4, 0x10, 0x48, 0x8b, 0xf8, 0x58, 0xe9, 0x9c, 0xff,
		       0xff, 0xff)),
		24, "add rsp, 16; mov; pop; jmp removes 24 bytes of arguments");
	is_int((long long)back, 128 + 13 - 100, "the target of the near jmp is returned");
	is_int(arguments(PUT(128, 0xeb, 0xfe)), 0, "jmp removes no arguments");
	is_int((long long)back, 128, "the target of a single jmp is returned");
	is_int(arguments(PUT(128, 0x48, 0x89, 0xc3, 0x90)), 0, "mov rbx, rax removes no arguments");
	is_int((long long)back, 0, "mov rbx, rax has no jump target");
	PUT(100, 0xe9, 0xc0, 0xff, 0xff, 0xff);
	memcpy(code + 128, (const uint8_t[]){0xeb, 0xe2}, 2); /* jmp 100 */
	arguments(CODE + 128);
	is_int((long long)back, 100 + 5 - 64, "a short jmp to a jmp is followed to its target");
}

/* cmpb [rdi], 0; je -0x89; movb [rdi], 0; jmp -0xa1 */
static uint64_t put_slow(void)
{
	return PUT(192, 0x80, 0x3f, 0x00, 0x0f, 0x84, 0x77, 0xff, 0xff, 0xff, 0xc6, 0x07, 0x00,
		0xe9, 0x5f, 0xff, 0xff, 0xff);
}

static void test_jumps(void)
{
	const uint64_t slow = put_slow();

	is_int((long long)(arch_jump_back(&mem, slow, CODE, CODE + 256) - CODE), 192 + 9 - 0x89,
		"je back into the method is found");
	is_int((long long)(arch_jump_back(&mem, slow + 9, CODE, CODE + 256) - CODE),
		192 + 17 - 0xa1, "jmp back into the method is found after the je");
	is_int((long long)arch_jump_back(&mem, slow, CODE + 100, CODE + 256), 0,
		"a jump into other code is not accepted");
	is_int((long long)arch_jump_back(&mem, slow, CODE, slow + 5), 0,
		"a jump beyond the end is not found");
	PUT(192, 0x0f, 0x84, 0x20, 0x00, 0x00, 0x00);
	is_int((long long)arch_jump_back(&mem, slow, CODE, CODE + 256), 0,
		"a forward jump is not accepted");
	/* mov rax, [rsp]; vzeroupper; add rsp, 48; jmp -31; jmp -192: ZGC's, and the next slow path's */
	PUT(192, 0x48, 0x8b, 0x04, 0x24, 0xc5, 0xf8, 0x77, 0x48, 0x83, 0xc4, 0x30, 0xeb, 0xe1, 0xe9,
		0x40, 0xff, 0xff, 0xff);
	is_int((long long)(arch_jump_back(&mem, slow, CODE, CODE + 256) - CODE), 192 + 13 - 31,
		"a short jmp back is found after registers were restored");
	PUT(192, 0x33, 0xeb, 0xe1, 0x90, 0x90, 0x90, 0x90);
	is_int((long long)arch_jump_back(&mem, slow, CODE, CODE + 256), 0,
		"other code has no jump back");
}

static void test_prologues(void)
{
	is_int(arch_native_prologue(&mem, PUT(128, 0x55, 0x48, 0x89, 0xe5)), ARCH_NO_FRAME,
		"at gcc's push rbp; mov rbp,rsp there is no frame yet");
	is_int(arch_native_prologue(&mem, PUT(128, 0x55, 0x48, 0x8b, 0xec)), ARCH_NO_FRAME,
		"at HotSpot's push rbp; mov rbp,rsp there is no frame yet");
	is_int(arch_native_prologue(&mem, PUT(128, 0x55, 0x48, 0x8b, 0xec) + 1), ARCH_PUSHED,
		"after push rbp the frame pointer is pushed");
	is_int(arch_native_prologue(&mem, PUT(128, 0x50, 0x48, 0x8b, 0xec) + 1), ARCH_BODY,
		"after another push the function is in its body");
}

#else
typedef uint32_t unit;

static void test_arguments(void)
{
	is_int(arguments(PUT(128, 0xa8c103e0u)), 16,
		"ldp x0, x0, [sp], #16 removes 16 bytes of arguments");
	is_int(arguments(PUT(128, 0xa8c107e4u)), 16,
		"ldp x4, x1, [sp], #16 removes 16 bytes of arguments");
	is_int(arguments(PUT(128, 0xa9407bfdu)), 0, "ldp x29, x30, [sp] removes no arguments");
	is_int(arguments(PUT(128, 0x910043ffu)), 16,
		"add sp, sp, #16 removes 16 bytes of arguments");
	is_int(arguments(PUT(128, 0x910083ffu)), 0, "add sp, sp, #32 removes no arguments");
	is_int(arguments(PUT(128, 0x17fffff0u)), 0, "b -64 removes no arguments");
	is_int((long long)back, 64, "the target of b -64 is returned");
	is_int(arguments(PUT(128, 0xaa0003e1u, 0x17fffff0u)), 0,
		"mov x1, x0; b -64 removes no arguments");
	is_int((long long)back, 68, "the target of b -64 after mov is returned");
	PUT(100, 0x17fffff8u);                                  /* b -32 */
	memcpy(code + 128, (const uint32_t[]){0x17fffff9u}, 4); /* b -28 */
	arguments(CODE + 128);
	is_int((long long)back, 68, "a branch to a branch is followed to its target");
}

static void test_jumps(void)
{
	/* cbz w0, -16; b.eq -32; nop; b -64 */
	const uint64_t slow = PUT(192, 0x34ffff80u, 0x54ffff00u, 0xd503201fu, 0x17fffff0u);

	is_int((long long)(arch_jump_back(&mem, slow, CODE, CODE + 256) - CODE), 192 - 16,
		"cbz back into the method is found");
	is_int((long long)(arch_jump_back(&mem, slow + 4, CODE, CODE + 256) - CODE), 192 + 4 - 32,
		"b.eq back into the method is found");
	is_int((long long)(arch_jump_back(&mem, slow + 8, CODE, CODE + 256) - CODE), 192 + 12 - 64,
		"b back into the method is found after the conditional branches");
	is_int((long long)arch_jump_back(&mem, slow, CODE + 190, CODE + 256), 0,
		"a branch into other code is not accepted");
	is_int((long long)arch_jump_back(&mem, slow, CODE, slow), 0,
		"a branch beyond the end is not found");
	PUT(192, 0x14000008u);
	is_int((long long)arch_jump_back(&mem, slow, CODE, CODE + 256), 0,
		"a forward branch is not accepted");
}

/*
 * at: the expected state at each instruction from the entry on, as letters: - no frame, u unsaved, p pushed, b body, l
 * leaving.
 */
static const char *at(uint64_t entry, uint64_t complete, int count)
{
	static char states[16];
	static const char letters[] = {[ARCH_BODY] = 'b',
		[ARCH_LEAVING] = 'l',
		[ARCH_NO_FRAME] = '-',
		[ARCH_PUSHED] = 'p',
		[ARCH_UNSAVED] = 'u'};

	for (int i = 0; i < count; i++)
		states[i] = letters[arch_compiled_prologue(
			&mem, entry + 4 * (uint64_t)i, entry, complete)];
	states[count] = '\0';
	return states;
}

/*
 * Compiled Java code, as written by MacroAssembler::build_frame, remove_frame and the safepoint polls of C1 and C2.
 */
static void test_compiled(void)
{
	uint64_t pc;

	/* sub x9, sp, #81920; str xzr, [x9]; sub sp, sp, #48; stp x29, x30, [sp, #32]; ldr w8 */
	pc = PUT(128, 0xd14053e9u, 0xf900013fu, 0xd100c3ffu, 0xa9027bfdu, 0xb9400108u);
	is_str(at(pc, pc + 20, 5), "---ub",
		"states while a small frame with an entry barrier is built");
	/* stp x29, x30, [sp, #-16]!; sub sp, sp, #1024; ldr w8; ldr w9 */
	pc = PUT(128, 0xa9bf7bfdu, 0xd11003ffu, 0xb9400108u, 0xb9400109u);
	is_str(at(pc, pc + 16, 4), "-pbb", "states while a large frame is built");
	/* stp x29, x30, [sp, #-16]!; mov x8, #8192; sub sp, sp, x8; ldr w8 */
	pc = PUT(128, 0xa9bf7bfdu, 0xd2840008u, 0xcb2863ffu, 0xb9400108u);
	is_str(at(pc, pc + 16, 4), "-ppb",
		"states while a frame larger than an immediate is built");
	/* ldp x29, x30, [sp, #32]; add sp, sp, #48; ldr x8, [x28, #1080]; cmp sp, x8; b.hi; ret */
	pc = PUT(128, 0xa9427bfdu, 0x9100c3ffu, 0xf9421f88u, 0xeb2863ffu, 0x54000048u, 0xd65f03c0u);
	is_str(at(pc, pc, 6), "bb----", "states while a frame is removed, with a safepoint poll");
	/* ldp x29, x30, [sp, #32]; add sp, sp, #48; adrp x8, page; ldr wzr, [x8]; ret */
	pc = PUT(128, 0xa9427bfdu, 0x9100c3ffu, 0x90000008u, 0xb940011fu, 0xd65f03c0u);
	is_str(at(pc, pc, 5), "bb---",
		"states while a frame is removed, with a polling page (JDK 8 to 13)");
	/* paciaz; sub sp, sp, #32; stp x29, x30, [sp, #16]; ldr w8 */
	pc = PUT(128, 0xd503231fu, 0xd10083ffu, 0xa9017bfdu, 0xb9400108u);
	is_str(at(pc, pc + 16, 4), "--ub",
		"states while a frame with a signed return address is built");
	/* ldp x29, x30, [sp, #16]; add sp, sp, #32; autiaz; ldr x8, [x28, #1080]; cmp sp, x8; b.hi; ret */
	pc = PUT(128, 0xa9417bfdu, 0x910083ffu, 0xd503239fu, 0xf9421f88u, 0xeb2863ffu, 0x54000048u,
		0xd65f03c0u);
	is_str(at(pc, pc, 7), "bb-----",
		"states while a frame with a signed return address is removed");
}

static void test_prologues(void)
{
	test_compiled();
	is_int(arch_native_prologue(&mem, PUT(128, 0xd65f03c0u)), ARCH_NO_FRAME,
		"at ret there is no frame");
	/* stp x29, x30, [sp, #-32]!; mov x29, sp */
	PUT(128, 0xa9be7bfdu, 0x910003fdu);
	is_int(arch_native_prologue(&mem, CODE + 128), ARCH_NO_FRAME,
		"before stp x29, x30 there is no frame");
	is_int(arch_native_prologue(&mem, CODE + 132), ARCH_PUSHED,
		"before mov x29, sp the frame pointer is pushed");
	/* paciasp; stp x29, x30, [sp, #-32]!; ...; ldp x29, x30, [sp], #32; autiasp; ret */
	PUT(128, 0xd503233fu, 0xa9be7bfdu, 0x910003fdu, 0xa8c27bfdu, 0xd50323bfu, 0xd65f03c0u);
	is_int(arch_native_prologue(&mem, CODE + 128), ARCH_NO_FRAME,
		"before paciasp there is no frame");
	is_int(arch_native_prologue(&mem, CODE + 136), ARCH_PUSHED,
		"before mov x29, sp with a signed return address the frame pointer is pushed");
	is_int(arch_native_prologue(&mem, CODE + 140), ARCH_BODY,
		"before ldp x29, x30 the function is in its body");
	is_int(arch_native_prologue(&mem, CODE + 144), ARCH_NO_FRAME,
		"before autiasp there is no frame");
	is_int(arch_native_prologue(&mem, PUT(128, 0xd503245fu)), ARCH_NO_FRAME,
		"before bti c there is no frame");
}
#endif

/* --- registers ---------------------------------------------------------------------------------------- */

/* Which registers HotSpot uses, by the names in its assembler_x86.hpp and assembler_aarch64.hpp. */
static void test_registers(void)
{
	ucontext_t uc;
	struct walk_regs r;
	struct walk_layout layout = {.jdk = 21};
	struct walker w = {.layout = &layout, .regs = &r};

	memset(&uc, 0, sizeof(uc));
#if defined(__x86_64__)
	const uint64_t method = REG_RBX, sender = REG_R13, sender_19 = REG_R13, link = REG_RAX;

	for (int i = 0; i < (int)NGREG; i++)
		uc.uc_mcontext.gregs[i] = i;
#else
	const uint64_t method = 12, sender = 19, sender_19 = 13, link = 30;

	for (uint64_t i = 0; i < 31; i++)
		uc.uc_mcontext.regs[i] = i;
	uc.uc_mcontext.sp = 31;
	uc.uc_mcontext.pc = 32;
	regs_read(&uc, &r);
	ok(r.fp == 29 && r.sp == 31 && r.pc == 32, "regs_read reads fp, sp and pc");
#endif
	regs_read(&uc, &r);
	is_int(r.method, method, "regs_read reads the register of a Method* at a method's entry");
	is_int(r.link, link, "regs_read reads the link register, or rax");
	is_int(walker_sender(&w), sender, "the sender's sp is in the register of JDK 21");
	layout.jdk = 20;
	is_int(walker_sender(&w), sender, "the sender's sp is in the register of JDK 20");
	layout.jdk = 17;
	is_int(walker_sender(&w), sender_19,
		"the sender's sp is in the register of JDK 19 and earlier");
}

int main(void)
{
#if defined(__x86_64__)
	test_calls(PUT(128, 0xe8, 0xbb, 0xff, 0xff, 0xff) + 5,
		"call -69 is recognized as a call of its target");
	is_int(called(PUT(128, 0xe9, 0xbb, 0xff, 0xff, 0xff) + 5, 64, 65), 0,
		"jmp is not recognized as a call");
	is_int(called(PUT(128, 0x41, 0xff, 0xd2) + 3, 0, 256), 0,
		"call r10, whose target is unknown, is not recognized");
	PUT(64, 0x90, 0x90, 0x0f, 0x83, 72, 0, 0, 0);
	test_branch(66, "jae +72 is found");
	test_accesses();
#else
	test_calls(PUT(128, 0x97fffff0u) + 4, "bl -64 is recognized as a call of its target");
	is_int(called(PUT(128, 0x17fffff0u) + 4, 64, 65), 0, "b is not recognized as a call");
	is_int(called(PUT(128, 0xd63f0100u) + 4, 0, 256), 0,
		"blr, whose target is unknown, is not recognized");
	PUT(64, 0xd503201fu, 0x54000262u);
	test_branch(68, "b.hs +76 is found");
	PUT(64, 0xd503201fu, 0xb4000262u);
	test_branch(68, "cbz +76 is found");
	PUT(64, 0xd503201fu, 0x36000262u);
	test_branch(68, "tbz +76 is found");
#endif
	test_registers();
	test_arguments();
	test_jumps();
	test_prologues();
	return tap_done();
}
