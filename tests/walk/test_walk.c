/* SPDX-License-Identifier: Apache-2.0 */
/* Corrupt stacks: with any memory contents, a walk ends within bounds, with a named reason. */
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "tests/tap.h"
#include "walk/hotspot/layout.h"

#define STACK 0x7f0000000000ull
#define WORDS 512
#define TEXT  0x400000ull
#define MAX   64

static uint64_t words[WORDS];
static uint8_t text[4096];

/* A chain of `count` frames of 4 words each; returns the address after the last. */
static uint64_t chain_fill(int count)
{
	int at = 8;

	memset(words, 0, sizeof(words));
	for (int i = 0; i < count; i++, at += 4) {
		words[at] = STACK + 8ull * (uint64_t)(at + 4);
		words[at + 1] = TEXT + 16 * (uint64_t)(i + 1);
	}
	return STACK + 8ull * (uint64_t)at;
}

static struct walk_result walk(struct fake *f, uint64_t fp, struct walk_frame *frames, uint32_t max)
{
	struct walk_regs regs = {.pc = TEXT + 8, .sp = STACK, .fp = fp};
	struct walk_thread thread = {.stack_lo = STACK, .stack_hi = STACK + 8 * WORDS};

	return walk_stack(NULL, &f->mem, &regs, &thread, frames, max);
}

static struct fake fake_of_stack(void)
{
	struct fake f = {.count = 0};

	f.mem.load = fake_load;
	fake_add(&f, STACK, words, sizeof(words));
	fake_add(&f, TEXT, text, sizeof(text));
	return f;
}

static void test_chain(void)
{
	struct walk_frame frames[MAX];
	struct fake f = fake_of_stack();

	f.mem.ctx = &f;
	chain_fill(5);

	struct walk_result r = walk(&f, STACK + 64, frames, MAX);

	is_int(r.count, 6, "a chain of five callers has six frames");
	is_int(r.why, WALK_BREAK_NONE, "the walk reaches the root");
	is_int(frames[0].value, TEXT + 8, "the top frame is the interrupted pc");
	is_int(frames[1].value, TEXT + 15, "a caller's frame is at its call");
	r = walk(&f, STACK + 64, frames, 3);
	is_int(r.count, 3, "no more frames are returned than fit");
	ok(r.truncated, "the result says that the walk was truncated");
	r = walk(&f, STACK + 64, frames, 0);
	ok(r.count == 0 && r.truncated, "with space for 0 frames the walk is truncated");
}

#if defined(__x86_64__)
/* A handler's frame, the signal trampoline, the interrupted function and its caller. */
static void test_trampoline(void)
{
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	enum { AT = 0x400, UCONTEXT = 10, FP = UCONTEXT + 15, SP = UCONTEXT + 20, PC = SP + 1 };
	struct walk_frame frames[MAX];
	struct fake f = fake_of_stack();

	f.mem.ctx = &f;
	memset(words, 0, sizeof(words));
	memcpy(&text[AT], code, sizeof(code));
	words[8] = words[FP] = STACK + 8 * 200;
	words[9] = TEXT + AT;
	words[SP] = STACK + 8 * 190;
	words[PC] = TEXT + 0x808;
	words[200] = STACK + 8 * 204;
	words[201] = TEXT + 16;

	struct walk_result r = walk(&f, STACK + 64, frames, MAX);

	is_int(r.count, 4, "a signal trampoline without a row is walked through");
	is_int(r.why, WALK_BREAK_NONE, "the walk through the trampoline reaches the root");
	is_int(frames[2].value, TEXT + 0x808, "the interrupted pc is exact");
	is_int(frames[3].value, TEXT + 15, "the caller of the interrupted function is at its call");
	memset(&text[AT], 0, sizeof(code));
}
#endif

static void test_ends(
	const char *what, struct fake *f, uint64_t sp, uint64_t fp, enum walk_break why)
{
	struct walk_frame frames[MAX];
	struct walk_regs regs = {.pc = TEXT + 8, .sp = sp, .fp = fp};
	struct walk_thread thread = {.stack_lo = 0, .stack_hi = 0};

	f->mem.ctx = f;
	f->loads = 0;

	struct walk_result r = walk_stack(NULL, &f->mem, &regs, &thread, frames, MAX);

	is_int(r.why, why, what);
	ok(r.count > 0 && r.count <= MAX && frames[r.count - 1].type == WALK_BREAK &&
			frames[r.count - 1].value == why,
		"the last frame is the break %s", walk_break_name(why));
	ok(f->loads < 1000, "the walk ends after %d loads", (int)f->loads);
}

static void test_corrupt(void)
{
	struct fake f = fake_of_stack(), none = {.mem.load = fake_load};

	chain_fill(3);
	test_ends("a misaligned sp ends the walk", &f, STACK + 4, STACK + 64, WALK_BREAK_NO_FRAME);
	test_ends("a misaligned fp ends the walk", &f, STACK, STACK + 65, WALK_BREAK_NATIVE);
	test_ends("an fp below sp ends the walk", &f, STACK + 128, STACK + 64, WALK_BREAK_NATIVE);
	test_ends("an fp outside the stack ends the walk", &f, STACK, 8, WALK_BREAK_NATIVE);
	test_ends("unreadable memory ends the walk", &none, STACK, STACK + 64, WALK_BREAK_NATIVE);
	words[12] = STACK + 64;
	test_ends("a frame whose caller is below it ends the walk", &f, STACK, STACK + 64,
		WALK_BREAK_NATIVE);
	chain_fill(3);
	words[12] = STACK + 96;
	test_ends("a frame that is its own caller ends the walk", &f, STACK, STACK + 64,
		WALK_BREAK_NATIVE);
	chain_fill(3);
	words[13] = TEXT + 12;
	test_ends("a return address that follows no call ends the walk", &f, STACK, STACK + 64,
		WALK_BREAK_NATIVE);
	chain_fill(3);
	words[16] = STACK + 8 * WORDS - 8;
	test_ends("a frame across the end of the stack ends the walk", &f, STACK, STACK + 64,
		WALK_BREAK_NATIVE);
}

/* --- a layout over random memory --------------------------------------------------------------------- */

#define CODE  0x7f1000000000ull
#define NAMES 0x7f2000000000ull

static uint8_t segmap[8192]; /* all 0: every segment begins a blob */
static char names[1024];

/* Repeats the names of blob kinds, so that any pointer into it is near a valid name. */
static void names_fill(void)
{
	static const char kinds[] = "nmethod\0native nI2C/C2I StubRoutvtable cRuntime ";

	for (size_t i = 0; i < sizeof(names); i++)
		names[i] = kinds[i % (sizeof(kinds) - 1)];
}

/* Every field at offset 4 or 8, 4 or 8 bytes wide: what is read is random. */
static void layout_random(struct walk_layout *l, uint64_t seed)
{
	uint32_t *half = (uint32_t *)l;

	for (size_t i = 0; i < sizeof(*l) / 4; i++)
		half[i] = 4 + (seed >> (i % 48) & 4);
	l->jdk = seed & 1 ? 8 : 25;
	l->libjvm_start = TEXT;
	l->libjvm_end = TEXT + sizeof(text);
	l->code_low = CODE;
	l->code_high = CODE + (1u << 20);
	l->heaps[0] = (struct walk_heap){
		.low = CODE, .high = CODE + (1u << 20), .segmap = CODE + (2u << 20), .shift = 7};
	l->heap_count = 1;
	l->heap_block_bytes = 16;
	l->interpreter_low = CODE + 0x8000;
	l->interpreter_high = CODE + 0x18000;
	l->interpreter_returns[0] = (struct walk_range){CODE + 0xa000, CODE + 0xb000};
	l->interpreter_entries = (struct walk_range){CODE + 0x8000, CODE + 0x9000};
	l->call_stub_return = CODE + 0x40;
	l->nmethod_bytes = 352;
	l->const_method_bytes = 48;
	l->constant_pool_bytes = 72;
	l->pc_desc_bytes = 16;
	l->cont_return_pc = 0;
	l->unsigned5_excluded = seed & 1;
	l->interp_method = -3;
	l->interp_sender_sp = -1;
	l->interp_bcp = -8;
	l->call_wrapper = -48;
	l->blob_frame_size.bytes = l->blob_frame_complete.bytes = l->blob_size.bytes = 4;
	l->pc_desc_pc.bytes = l->pc_desc_scope.bytes = l->orig_pc_offset.bytes = 4;
	l->comp_level.bytes = l->block_used.bytes = l->symbol_body.bytes = 1;
	l->const_name.offset = 34;
	l->const_signature.offset = 36;
	l->const_name.bytes = l->const_signature.bytes = l->const_code_size.bytes = 2;
	if (seed & 2) {
		l->scopes_data.bytes = l->code_begin.bytes = l->verified_entry.bytes = 4;
		l->immutable_data.offset = -1;
	}
	if (seed & 4)
		l->mutable_data.offset = -1;
}

static bool well_formed(const struct walk_result *r, const struct walk_frame *frames)
{
	if (!r->count || r->count > MAX || (unsigned)r->why >= WALK_BREAK_COUNT)
		return false;
	for (uint32_t i = 0; i + 1 < r->count; i++)
		if (frames[i].type == WALK_NONE || frames[i].type >= WALK_BREAK)
			return false;
	return (r->why != WALK_BREAK_NONE) == (frames[r->count - 1].type == WALK_BREAK);
}

static void test_random(void)
{
	static struct walk_layout layout;
	struct walk_frame frames[MAX];
	uint64_t most = 0, long_walks = 0, wrong = 0;
	uint64_t seen[WALK_BREAK_COUNT] = {0};

	for (uint64_t seed = 1; seed <= 60000; seed++) {
		uint64_t mix = seed * 0x9e3779b97f4a7c15ull;
		struct fake f = {.mem.load = fake_load,
			.seed = mix,
			.bait = {STACK + 0x100, STACK + 0x800, CODE + 0x8100, CODE + 0xa000,
				CODE + 0x40, CODE + 0x30000, TEXT + 16, NAMES}};
		struct walk_regs regs = {.pc = mix >> 60 < 4   ? TEXT + 8
					       : mix >> 60 < 8 ? CODE + 0x8000 + (mix & 0xfff)
							       : CODE + 0x20000 + (mix & 0xffff),
			.sp = STACK + (mix >> 20 & 0xf8),
			.fp = STACK + (mix >> 28 & 0x7f8),
			.method = STACK + 0x400,
			.sender = STACK + (mix >> 36 & 0x7f8),
			.link = CODE + 0xa000};
		struct walk_thread thread = {.java_thread = mix & 8 ? STACK + 0x8000 : 0,
			.stack_lo = STACK,
			.stack_hi = STACK + 0x2000};

		f.mem.ctx = &f;
		fake_add(&f, CODE + (2u << 20), segmap, sizeof(segmap));
		fake_add(&f, NAMES, names, sizeof(names));
		fake_add(&f, TEXT, text, sizeof(text));
		layout_random(&layout, mix >> 7);

		struct walk_result r = walk_stack(&layout, &f.mem, &regs, &thread, frames, MAX);

		wrong += !well_formed(&r, frames);
		seen[(unsigned)r.why < WALK_BREAK_COUNT ? r.why : 0]++;
		most = f.loads > most ? f.loads : most;
		long_walks += r.count > 2;
	}
	is_int(wrong, 0, "60,000 walks over random memory give well-formed results");
	ok(long_walks > 50, "many of the random walks find frames (%d)", (int)long_walks);
	ok(most < 200000, "the longest random walk needs %d loads", (int)most);
	for (int i = 0; i < WALK_BREAK_COUNT; i++)
		diag("%7d %s", (int)seen[i], walk_break_name((enum walk_break)i));
	ok(seen[WALK_BREAK_NATIVE] && seen[WALK_BREAK_INTERPRETED] && seen[WALK_BREAK_COMPILED] &&
			seen[WALK_BREAK_STUB] && seen[WALK_BREAK_CODE_CACHE],
		"random walks fail in every kind of frame");
}

int main(void)
{
	fake_calls(text, sizeof(text));
	names_fill();
	test_chain();
#if defined(__x86_64__)
	test_trampoline();
#endif
	test_corrupt();
	test_random();
	return tap_done();
}
