/* SPDX-License-Identifier: Apache-2.0 */
/* Deep stacks: which frames are kept, and the number of omitted frames. */
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "tests/tap.h"

#define STACK  0x7f0000000000ull
#define TEXT   0x400000ull
#define DEPTH  5000u /* the deepest stack: this many callers */
#define FRAMES (2048 + WALK_CUT_SPARE)

static uint64_t words[2 * DEPTH + 16];
static uint8_t text[16 * (DEPTH + 2)];
static struct walk_frame frames[FRAMES];

/* A chain of two-word frames; caller i returns to TEXT + 16 * i, after a call. */
static void stack_fill(uint32_t callers)
{
	memset(words, 0, sizeof(words));
	for (uint32_t i = 0; i < callers; i++) {
		words[2 * i + 2] = STACK + 8 * (2ull * i + 4);
		words[2 * i + 3] = TEXT + 16 * (i + 1ull);
	}
	fake_calls(text, sizeof(text));
}

static struct walk_result walk(uint32_t callers, struct walk_cut cut)
{
	struct fake f = {.mem.load = fake_load};
	struct walk_regs regs = {.pc = TEXT + 8, .sp = STACK, .fp = STACK + 16};
	struct walk_thread thread = {
		.stack_lo = STACK, .stack_hi = STACK + 16ull * callers + 64, .cut = &cut};

	f.mem.ctx = &f;
	fake_add(&f, STACK, words, sizeof(words));
	fake_add(&f, TEXT, text, sizeof(text));
	stack_fill(callers);
	memset(frames, 0, sizeof(frames));
	return walk_stack(NULL, &f.mem, &regs, &thread, frames, cut.limit);
}

/* Whether frames[at] is frame `number` of the whole stack; the leaf is 0. */
static bool is_caller(uint32_t at, uint32_t number)
{
	uint64_t pc = number ? TEXT + 16ull * number - 1 : TEXT + 8;

	return frames[at].type == WALK_NATIVE && frames[at].value == pc;
}

static void test_complete(uint32_t callers, struct walk_cut cut)
{
	struct walk_result r = walk(callers, cut);
	uint32_t wrong = 0;

	for (uint32_t i = 0; i <= callers; i++)
		wrong += !is_caller(i, i);
	ok(r.count == callers + 1 && !r.truncated && !r.why && !wrong,
		"all of %u frames are kept with a limit of %u", callers + 1, cut.limit);
}

static void test_omitted(uint32_t callers, struct walk_cut cut, uint32_t omitted)
{
	struct walk_result r = walk(callers, cut);
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < cut.top; i++)
		wrong += !is_caller(i, i);
	for (uint32_t i = 0; i < cut.root; i++)
		wrong += !is_caller(cut.top + 1 + i, callers + 1 - cut.root + i);
	diag("%u frames", callers + 1);
	is_int(r.count, cut.top + 1 + cut.root, "a deeper stack yields top + 1 + root frames");
	ok(!r.truncated && !r.why && !wrong, "the %u top frames and %u root frames are kept",
		cut.top, cut.root);
	is_int(frames[cut.top].type, WALK_CUT, "a WALK_CUT frame is between them");
	is_int(frames[cut.top].value, omitted,
		"the WALK_CUT frame has the number of omitted frames");
}

static void test_top(uint32_t callers, struct walk_cut cut)
{
	struct walk_result r = walk(callers, cut);
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < cut.top; i++)
		wrong += !is_caller(i, i);
	ok(r.count == cut.top && r.truncated && !wrong,
		"without root frames, of %u frames the top %u are kept", callers + 1, cut.top);
}

int main(void)
{
	test_complete(98, (struct walk_cut){100, 79, 20});
	test_complete(99, (struct walk_cut){100, 79, 20});
	test_omitted(100, (struct walk_cut){100, 79, 20}, 2);
	test_omitted(150, (struct walk_cut){100, 79, 20}, 52);
	test_omitted(300, (struct walk_cut){100, 79, 20}, 200);
	/* the buffer fills up more than once */
	test_omitted(2999, (struct walk_cut){100, 79, 20}, 2900);
	test_omitted(4321, (struct walk_cut){2048, 2027, 20}, 2200);
	test_omitted(4999, (struct walk_cut){2048, 1, 2046}, 2900);
	test_omitted(2999, (struct walk_cut){1000, 40, 5}, 2900);
	test_omitted(20, (struct walk_cut){3, 1, 1}, 19);
	test_complete(98, (struct walk_cut){100, 100, 0});
	test_top(100, (struct walk_cut){100, 100, 0});
	test_top(2999, (struct walk_cut){200, 40, 0});
	return tap_done();
}
