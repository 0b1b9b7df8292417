/* SPDX-License-Identifier: Apache-2.0 */
/* What the instructions around a place say of frames, of this CPU: code as compilers have written it. */
#include <string.h>

#include "tests/tap.h"
#include "walk/load/arch.h"

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

#if defined(__x86_64__)
typedef uint8_t unit;

static void test_arguments(void)
{
	ok(arch_takes_arguments(&mem, PUT(128, 0x58, 0x59)), "pop rax; pop rcx");
	ok(arch_takes_arguments(&mem, PUT(128, 0x41, 0x5b, 0x5f)), "pop r11; pop rdi");
	ok(!arch_takes_arguments(&mem, PUT(128, 0x5d, 0xc3)), "pop rbp; ret");
	ok(!arch_takes_arguments(&mem, PUT(128, 0x48, 0x83, 0xc4, 0x10)), "add rsp, 16");
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

	is_int((long long)(arch_jump_target(&mem, slow + 12) - CODE), 192 + 17 - 0xa1, "jmp");
	is_int((long long)arch_jump_target(&mem, slow), 0, "none");
	is_int((long long)(arch_jump_target(&mem, PUT(128, 0xeb, 0xfe)) - CODE), 128,
		"a short one");
	put_slow();
	is_int((long long)(arch_jump_back(&mem, slow, CODE, CODE + 256) - CODE), 192 + 9 - 0x89,
		"back by je");
	is_int((long long)(arch_jump_back(&mem, slow + 9, CODE, CODE + 256) - CODE),
		192 + 17 - 0xa1, "by jmp, when that is over");
	is_int((long long)arch_jump_back(&mem, slow, CODE + 100, CODE + 256), 0,
		"not into other code");
	is_int((long long)arch_jump_back(&mem, slow, CODE, slow + 5), 0, "not beyond the end");
	PUT(192, 0x0f, 0x84, 0x20, 0x00, 0x00, 0x00);
	is_int((long long)arch_jump_back(&mem, slow, CODE, CODE + 256), 0, "not ahead");
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
	ok(arch_takes_arguments(&mem, PUT(128, 0xa8c103e0u)), "ldp x0, x0, [sp], #16");
	ok(arch_takes_arguments(&mem, PUT(128, 0xa8c107e4u)), "ldp x4, x1, [sp], #16");
	ok(!arch_takes_arguments(&mem, PUT(128, 0xa9407bfdu)), "ldp x29, x30, [sp]");
	ok(!arch_takes_arguments(&mem, PUT(128, 0x910043ffu)), "add sp, sp, #16");
}

static void test_jumps(void)
{
	/* cbz w0, -16; b.eq -32; nop; b -64 */
	const uint64_t slow = PUT(192, 0x34ffff80u, 0x54ffff00u, 0xd503201fu, 0x17fffff0u);

	is_int((long long)(arch_jump_target(&mem, slow + 12) - CODE), 192 + 12 - 64, "b");
	is_int((long long)arch_jump_target(&mem, slow), 0, "none");
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

static void test_prologues(void)
{
	is_int(arch_native_prologue(&mem, PUT(128, 0xd65f03c0u)), ARCH_NO_FRAME, "ret");
}
#endif

int main(void)
{
	test_arguments();
	test_jumps();
	test_prologues();
	return tap_done();
}
