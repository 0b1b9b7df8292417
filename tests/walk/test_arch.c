/* SPDX-License-Identifier: Apache-2.0 */
/* What the instructions around a pc imply about its frame, on compiler-generated code of this CPU. */
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

/* put: these bytes, from here on; behind them are some that are nothing. */
static uint64_t put(unsigned at, const void *bytes, size_t count)
{
	memset(code + at, 0, sizeof(code) - at);
	memcpy(code + at, bytes, count);
	return CODE + at;
}

#define PUT(at, ...) put(at, (const unit[]){__VA_ARGS__}, sizeof((const unit[]){__VA_ARGS__}))

static uint64_t back; /* where the last code that arguments() was asked of jumps to; less CODE */

static long long arguments(uint64_t pc)
{
	long long bytes = (long long)arch_arguments(&mem, pc, &back);

	back = back ? back - CODE : 0;
	return bytes;
}

/* called: is the call in front of pc, to CODE + 64, said to be of the code from low to end? */
static bool called(uint64_t pc, unsigned low, unsigned end)
{
	return arch_after_call_of(&mem, pc, CODE + low, CODE + end);
}

static void test_calls(uint64_t pc, const char *how)
{
	is_int(called(pc, 64, 65), 1, how);
	is_int(called(pc, 0, 128), 1, "in the middle of it");
	is_int(called(pc, 65, 128), 0, "not of what begins behind");
	is_int(called(pc, 0, 64), 0, "not of what ends there");
}

/* branches: from CODE + 64 on, how far behind there the first conditional branch before limit leads; -1: there is none. */
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
	is_int(behind, begins + ARCH_BRANCH_BYTES, "and what is behind it");
	is_int(branches(begins, &behind), -1, "not where it does not begin");
}

#if defined(__x86_64__)
typedef uint8_t unit;

static unsigned access_bytes(uint64_t pc)
{
	return (unsigned)(arch_access_end(&mem, pc) - pc);
}

static void test_accesses(void)
{
	is_int(access_bytes(PUT(128, 0x8b, 0x68, 0x10)), 3, "mov ebp,[rax+16]");
	is_int(access_bytes(PUT(128, 0x43, 0x8b, 0x6c, 0xdc, 0x0c)), 5, "mov ebp,[r12+r11*8+12]");
	is_int(access_bytes(PUT(128, 0x41, 0x81, 0x7c, 0xdc, 0x08, 1, 2, 3, 4)), 9,
		"cmp [r12+rbx*8+8],imm32");
	is_int(access_bytes(PUT(128, 0x43, 0x0f, 0xb6, 0x44, 0xec, 0x0d)), 6,
		"movzx eax,[r12+r13*8+13]");
	is_int(access_bytes(PUT(128, 0x66, 0xc7, 0x40, 0x10, 1, 2)), 6, "mov word [rax+16],imm16");
	is_int(access_bytes(PUT(128, 0xc5, 0xfb, 0x10, 0x80, 0, 1, 0, 0)), 8,
		"vmovsd xmm0,[rax+256]");
	is_int(access_bytes(PUT(128, 0xf7, 0x40, 0x08, 1, 2, 3, 4)), 7, "test [rax+8],imm32");
}

static void test_arguments(void)
{
	is_int(arguments(PUT(128, 0x58, 0x59)), 16, "pop rax; pop rcx");
	is_int(arguments(PUT(128, 0x41, 0x5b, 0x5f)), 16, "pop r11; pop rdi");
	is_int(arguments(PUT(128, 0x5d, 0xc3)), 0, "pop rbp; ret");
	is_int(arguments(PUT(128, 0x48, 0x83, 0xc4, 0x10, 0x5d)), 0, "add rsp, 16; pop rbp");
	is_int(arguments(PUT(128, 0x48, 0x83, 0xc4, 0x10, 0xeb, 0xe0)), 16, "add rsp, 16; jmp");
	is_int((long long)back, 128 + 6 - 32, "and where to");
	/* add rsp, 16; mov rdi, rax; pop rax; jmp */
	is_int(arguments(PUT(128, 0x48, 0x83, 0xc4, 0x10, 0x48, 0x8b, 0xf8, 0x58, 0xe9, 0x9c, 0xff,
		       0xff, 0xff)),
		24, "with a register that was saved");
	is_int((long long)back, 128 + 13 - 100, "and where to, far");
	is_int(arguments(PUT(128, 0xeb, 0xfe)), 0, "jmp");
	is_int((long long)back, 128, "there");
	is_int(arguments(PUT(128, 0x48, 0x89, 0xc3, 0x90)), 0, "mov rbx, rax");
	is_int((long long)back, 0, "which jumps to nowhere");
	PUT(100, 0xe9, 0xc0, 0xff, 0xff, 0xff);
	memcpy(code + 128, (const uint8_t[]){0xeb, 0xe2}, 2); /* jmp 100 */
	arguments(CODE + 128);
	is_int((long long)back, 100 + 5 - 64, "a short one to one that leads on");
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
		"back by je");
	is_int((long long)(arch_jump_back(&mem, slow + 9, CODE, CODE + 256) - CODE),
		192 + 17 - 0xa1, "by jmp, when that is over");
	is_int((long long)arch_jump_back(&mem, slow, CODE + 100, CODE + 256), 0,
		"not into other code");
	is_int((long long)arch_jump_back(&mem, slow, CODE, slow + 5), 0, "not beyond the end");
	PUT(192, 0x0f, 0x84, 0x20, 0x00, 0x00, 0x00);
	is_int((long long)arch_jump_back(&mem, slow, CODE, CODE + 256), 0, "not ahead");
	/* mov rax, [rsp]; vzeroupper; add rsp, 48; jmp -31; jmp -192: ZGC's, and the next slow path's */
	PUT(192, 0x48, 0x8b, 0x04, 0x24, 0xc5, 0xf8, 0x77, 0x48, 0x83, 0xc4, 0x30, 0xeb, 0xe1, 0xe9,
		0x40, 0xff, 0xff, 0xff);
	is_int((long long)(arch_jump_back(&mem, slow, CODE, CODE + 256) - CODE), 192 + 13 - 31,
		"by a short one, where registers have been given back");
	PUT(192, 0x33, 0xeb, 0xe1, 0x90, 0x90, 0x90, 0x90);
	is_int((long long)arch_jump_back(&mem, slow, CODE, CODE + 256), 0, "nowhere else");
}

static void test_prologues(void)
{
	is_int(arch_native_prologue(&mem, PUT(128, 0x55, 0x48, 0x89, 0xe5)), ARCH_NO_FRAME,
		"push rbp; mov rbp,rsp as gcc writes it");
	is_int(arch_native_prologue(&mem, PUT(128, 0x55, 0x48, 0x8b, 0xec)), ARCH_NO_FRAME,
		"as HotSpot does");
	is_int(arch_native_prologue(&mem, PUT(128, 0x55, 0x48, 0x8b, 0xec) + 1), ARCH_PUSHED,
		"after the push");
	is_int(arch_native_prologue(&mem, PUT(128, 0x50, 0x48, 0x8b, 0xec) + 1), ARCH_BODY,
		"after another");
}

#else
typedef uint32_t unit;

static void test_arguments(void)
{
	is_int(arguments(PUT(128, 0xa8c103e0u)), 16, "ldp x0, x0, [sp], #16");
	is_int(arguments(PUT(128, 0xa8c107e4u)), 16, "ldp x4, x1, [sp], #16");
	is_int(arguments(PUT(128, 0xa9407bfdu)), 0, "ldp x29, x30, [sp]");
	is_int(arguments(PUT(128, 0x910043ffu)), 16, "add sp, sp, #16");
	is_int(arguments(PUT(128, 0x910083ffu)), 0, "not add sp, sp, #32");
	is_int(arguments(PUT(128, 0x17fffff0u)), 0, "b -64");
	is_int((long long)back, 64, "there");
	is_int(arguments(PUT(128, 0xaa0003e1u, 0x17fffff0u)), 0, "mov x1, x0; b -64");
	is_int((long long)back, 68, "there");
	PUT(100, 0x17fffff8u);                                  /* b -32 */
	memcpy(code + 128, (const uint32_t[]){0x17fffff9u}, 4); /* b -28 */
	arguments(CODE + 128);
	is_int((long long)back, 68, "one to nearby that leads on");
}

static void test_jumps(void)
{
	/* cbz w0, -16; b.eq -32; nop; b -64 */
	const uint64_t slow = PUT(192, 0x34ffff80u, 0x54ffff00u, 0xd503201fu, 0x17fffff0u);

	is_int((long long)(arch_jump_back(&mem, slow, CODE, CODE + 256) - CODE), 192 - 16,
		"back by cbz");
	is_int((long long)(arch_jump_back(&mem, slow + 4, CODE, CODE + 256) - CODE), 192 + 4 - 32,
		"by b.eq");
	is_int((long long)(arch_jump_back(&mem, slow + 8, CODE, CODE + 256) - CODE), 192 + 12 - 64,
		"by b, when they are over");
	is_int((long long)arch_jump_back(&mem, slow, CODE + 190, CODE + 256), 0,
		"not into other code");
	is_int((long long)arch_jump_back(&mem, slow, CODE, slow), 0, "not beyond the end");
	PUT(192, 0x14000008u);
	is_int((long long)arch_jump_back(&mem, slow, CODE, CODE + 256), 0, "not ahead");
}

/* at: the expected state at each instruction from the entry on, as letters: - no frame, u unsaved, p pushed, b body. */
static const char *at(uint64_t entry, uint64_t complete, int count)
{
	static char said[16];
	static const char letters[] = {[ARCH_BODY] = 'b',
		[ARCH_LEAVING] = 'l',
		[ARCH_NO_FRAME] = '-',
		[ARCH_PUSHED] = 'p',
		[ARCH_UNSAVED] = 'u'};

	for (int i = 0; i < count; i++)
		said[i] = letters[arch_compiled_prologue(
			&mem, entry + 4 * (uint64_t)i, entry, complete)];
	said[count] = '\0';
	return said;
}

/* Of compiled Java, as MacroAssembler::build_frame, remove_frame and the polls of C1 and C2 write it. */
static void test_compiled(void)
{
	uint64_t pc;

	/* sub x9, sp, #81920; str xzr, [x9]; sub sp, sp, #48; stp x29, x30, [sp, #32]; ldr w8 */
	pc = PUT(128, 0xd14053e9u, 0xf900013fu, 0xd100c3ffu, 0xa9027bfdu, 0xb9400108u);
	is_str(at(pc, pc + 20, 5), "---ub", "a small frame is built, an entry barrier follows");
	/* stp x29, x30, [sp, #-16]!; sub sp, sp, #1024; ldr w8; ldr w9 */
	pc = PUT(128, 0xa9bf7bfdu, 0xd11003ffu, 0xb9400108u, 0xb9400109u);
	is_str(at(pc, pc + 16, 4), "-pbb", "a large one");
	/* stp x29, x30, [sp, #-16]!; mov x8, #8192; sub sp, sp, x8; ldr w8 */
	pc = PUT(128, 0xa9bf7bfdu, 0xd2840008u, 0xcb2863ffu, 0xb9400108u);
	is_str(at(pc, pc + 16, 4), "-ppb", "one larger than an instruction can say");
	/* ldp x29, x30, [sp, #32]; add sp, sp, #48; ldr x8, [x28, #1080]; cmp sp, x8; b.hi; ret */
	pc = PUT(128, 0xa9427bfdu, 0x9100c3ffu, 0xf9421f88u, 0xeb2863ffu, 0x54000048u, 0xd65f03c0u);
	is_str(at(pc, pc, 6), "bb----", "it is removed, and polled for a safepoint");
	/* ldp x29, x30, [sp, #32]; add sp, sp, #48; adrp x8, page; ldr wzr, [x8]; ret */
	pc = PUT(128, 0xa9427bfdu, 0x9100c3ffu, 0x90000008u, 0xb940011fu, 0xd65f03c0u);
	is_str(at(pc, pc, 5), "bb---", "the same by a page, as in JDK 8 to 13");
	/* paciaz; sub sp, sp, #32; stp x29, x30, [sp, #16]; ldr w8 */
	pc = PUT(128, 0xd503231fu, 0xd10083ffu, 0xa9017bfdu, 0xb9400108u);
	is_str(at(pc, pc + 16, 4), "--ub", "a frame whose return address is signed is built");
	/* ldp x29, x30, [sp, #16]; add sp, sp, #32; autiaz; ldr x8, [x28, #1080]; cmp sp, x8; b.hi; ret */
	pc = PUT(128, 0xa9417bfdu, 0x910083ffu, 0xd503239fu, 0xf9421f88u, 0xeb2863ffu, 0x54000048u,
		0xd65f03c0u);
	is_str(at(pc, pc, 7), "bb-----", "it is removed");
}

static void test_prologues(void)
{
	test_compiled();
	is_int(arch_native_prologue(&mem, PUT(128, 0xd65f03c0u)), ARCH_NO_FRAME, "ret");
	/* stp x29, x30, [sp, #-32]!; mov x29, sp */
	PUT(128, 0xa9be7bfdu, 0x910003fdu);
	is_int(arch_native_prologue(&mem, CODE + 128), ARCH_NO_FRAME, "stp x29, x30 is next");
	is_int(arch_native_prologue(&mem, CODE + 132), ARCH_PUSHED, "mov x29, sp is");
	/* paciasp; stp x29, x30, [sp, #-32]!; ...; ldp x29, x30, [sp], #32; autiasp; ret */
	PUT(128, 0xd503233fu, 0xa9be7bfdu, 0x910003fdu, 0xa8c27bfdu, 0xd50323bfu, 0xd65f03c0u);
	is_int(arch_native_prologue(&mem, CODE + 128), ARCH_NO_FRAME, "paciasp is next");
	is_int(arch_native_prologue(&mem, CODE + 136), ARCH_PUSHED, "signed, and mov x29, sp is");
	is_int(arch_native_prologue(&mem, CODE + 140), ARCH_BODY, "not where it is still there");
	is_int(arch_native_prologue(&mem, CODE + 144), ARCH_NO_FRAME, "autiasp is");
	is_int(arch_native_prologue(&mem, PUT(128, 0xd503245fu)), ARCH_NO_FRAME, "bti c is");
}
#endif

/* --- registers ---------------------------------------------------------------------------------------- */

/* What HotSpot keeps where, by the names in its assembler_x86.hpp and assembler_aarch64.hpp. */
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
	ok(r.fp == 29 && r.sp == 31 && r.pc == 32, "fp, sp and pc");
#endif
	regs_read(&uc, &r);
	is_int(r.method, method, "Method* at a method's entry");
	is_int(r.link, link, "the return address, where it is in a register");
	is_int(walker_sender(&w), sender, "the sender's sp");
	layout.jdk = 20;
	is_int(walker_sender(&w), sender, "also in JDK 20");
	layout.jdk = 17;
	is_int(walker_sender(&w), sender_19, "and in older ones");
}

int main(void)
{
#if defined(__x86_64__)
	test_calls(PUT(128, 0xe8, 0xbb, 0xff, 0xff, 0xff) + 5, "call -69");
	is_int(called(PUT(128, 0xe9, 0xbb, 0xff, 0xff, 0xff) + 5, 64, 65), 0, "not jmp");
	is_int(called(PUT(128, 0x41, 0xff, 0xd2) + 3, 0, 256), 0,
		"not call r10, to nobody knows where");
	PUT(64, 0x90, 0x90, 0x0f, 0x83, 72, 0, 0, 0);
	test_branch(66, "jae +72");
	test_accesses();
#else
	test_calls(PUT(128, 0x97fffff0u) + 4, "bl -64");
	is_int(called(PUT(128, 0x17fffff0u) + 4, 64, 65), 0, "not b");
	is_int(called(PUT(128, 0xd63f0100u) + 4, 0, 256), 0, "not blr, to nobody knows where");
	PUT(64, 0xd503201fu, 0x54000262u);
	test_branch(68, "b.hs +76");
	PUT(64, 0xd503201fu, 0xb4000262u);
	test_branch(68, "cbz +76");
	PUT(64, 0xd503201fu, 0x36000262u);
	test_branch(68, "tbz +76");
#endif
	test_registers();
	test_arguments();
	test_jumps();
	test_prologues();
	return tap_done();
}
