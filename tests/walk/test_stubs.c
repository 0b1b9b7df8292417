/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers of interrupted JVM stubs, each alone in its blob, and of native code: a mock code cache of three
 * blobs, on the CPU that the test runs on.
 */
#include <string.h>

#include "tests/tap.h"
#include "tests/walk/fake.h"
#include "walk/hotspot/layout.h"
#include "walk/load/arch.h"

#define CODE  0x7f0000100000ull
#define STACK 0x7ffc00000000ull
#define ENTRY (CODE + 3 * sizeof(struct block) + 0x40) /* where the call stub continues */
#define WORDS 64
#define MAX   16

/* A block of the heap: its header, the blob's fields, and its code, in which calls end at multiples of 16. */
struct block {
	uint64_t used, unused;
	uint64_t name, code, method;
	int32_t size, frame_words, complete, empty;
	int32_t frame_data, unused2; /* of an upcall stub */
	uint8_t rest[64];
	uint8_t text[384];
};

static struct block blocks[3];
static uint8_t segmap[4];
static const char native_name[16] = "native nmethod", stub_name[16] = "a stub";
static const char upcall_name[16] = "upcall_stub";
static uint64_t stack[WORDS];
static struct fake memory;
static struct walk_layout *layout;

static uint64_t text_of(int i)
{
	return CODE + (uint64_t)i * sizeof(struct block) + offsetof(struct block, text);
}

static void block_make(int i, const char *name, int32_t frame_words)
{
	struct block *b = &blocks[i];

	*b = (struct block){.used = 1,
		.name = (uint64_t)(uintptr_t)name,
		.code = text_of(i),
		.method = 0x1000 + (uint64_t)i,
		.size = sizeof(*b) - 16,
		.frame_words = frame_words,
		.complete = -1};
	fake_calls(b->text, sizeof(b->text));
}

static struct walk_field field(size_t offset, uint8_t bytes)
{
	return (struct walk_field){.offset = (int32_t)offset - 16, .bytes = bytes};
}

static void layout_make(void)
{
	const struct walk_field none = {.offset = -1};
	struct walk_layout *l = layout = calloc(1, sizeof(*l));

	l->jdk = 17;
	l->code_low = CODE;
	l->code_high = CODE + 4 * sizeof(struct block);
	l->heaps[0] = (struct walk_heap){.low = l->code_low,
		.high = l->code_high,
		.segmap = (uint64_t)(uintptr_t)segmap,
		.shift = 9};
	l->heap_count = 1;
	l->heap_block_bytes = 16;
	l->nmethod_bytes = 128;
	l->call_stub_return = ENTRY;
	l->block_used = (struct walk_field){.offset = 0, .bytes = 1};
	l->blob_name = field(offsetof(struct block, name), 8);
	l->code_begin = field(offsetof(struct block, code), 8);
	l->nmethod_method = field(offsetof(struct block, method), 8);
	l->blob_size = field(offsetof(struct block, size), 4);
	l->blob_frame_size = field(offsetof(struct block, frame_words), 4);
	l->blob_frame_complete = field(offsetof(struct block, complete), 4);
	l->upcall_frame_data = field(offsetof(struct block, frame_data), 4);
	l->upcall_anchor = l->anchor_sp = (struct walk_field){.offset = 0, .bytes = 8};
	l->anchor_pc = (struct walk_field){.offset = 8, .bytes = 8};
	l->anchor_fp = (struct walk_field){.offset = 16, .bytes = 8};
	l->immutable_data = l->mutable_data = l->deopt_mh = l->entry_bci = l->compile_id = none;
}

/* A stub, and two wrappers of native methods with frames of four words. */
static void code_make(int32_t frame_words)
{
	block_make(0, stub_name, frame_words);
	block_make(1, native_name, 4);
	block_make(2, native_name, 4);
	memset(stack, 0, sizeof(stack));
	memory = (struct fake){.mem = {.load = fake_load, .ctx = &memory}};
	fake_add(&memory, CODE, blocks, sizeof(blocks));
	fake_add(&memory, (uint64_t)(uintptr_t)segmap, segmap, sizeof(segmap));
	fake_add(&memory, (uint64_t)(uintptr_t)native_name, native_name, sizeof(native_name));
	fake_add(&memory, (uint64_t)(uintptr_t)stub_name, stub_name, sizeof(stub_name));
	fake_add(&memory, (uint64_t)(uintptr_t)upcall_name, upcall_name, sizeof(upcall_name));
	fake_add(&memory, STACK, stack, sizeof(stack));
}

/* callers: the frames of both wrappers from this word on; the call stub called the outer one. */
static void callers(int word)
{
	stack[word + 2] = STACK + 8ull * (uint64_t)(word + 6);
	stack[word + 3] = text_of(2) + 48;
	stack[word + 6] = STACK + 8 * 40;
	stack[word + 7] = ENTRY;
}

static void walks(uint64_t fp, uint64_t link, const char *what)
{
	const struct walk_thread thread = {
		.stack_lo = STACK - 4096, .stack_hi = STACK + sizeof(stack)};
	struct walk_regs regs = {.pc = text_of(0) + 40, .sp = STACK, .fp = fp, .link = link};
	struct walk_frame frames[MAX];
	struct walk_result r = walk_stack(layout, &memory.mem, &regs, &thread, frames, MAX);

	if (ok(r.count >= 3 && frames[0].type == WALK_STUB && frames[0].value == regs.pc &&
			    frames[1].type == WALK_JAVA && frames[1].value == 0x1001 &&
			    frames[2].type == WALK_JAVA && frames[2].value == 0x1002,
		    "%s", what))
		return;
	for (uint32_t i = 0; i < r.count; i++)
		diag("%u 0x%" PRIx64, frames[i].type, frames[i].value);
}

/*
 * Stores the return address of a stub without a frame: on the stack or in the link register. Returns the first word of
 * its caller's frame.
 */
static int place_return(void)
{
	stack[0] = ARCH_HAS_LINK ? 0 : text_of(1) + 32;
	return ARCH_HAS_LINK ? 0 : 1;
}

static void test_leaf(void)
{
	code_make(0);
	callers(place_return());
	walks(STACK + 8 * 40, text_of(1) + 32,
		"a stub without a frame and frame size finds its caller's small frame");
	code_make(0);
	stack[0] = STACK + 8 * 40;
	stack[1] = text_of(1) + 32;
	callers(2);
	walks(STACK, text_of(0) + 32,
		"a stub without a frame size that pushed two words and made a call finds its "
		"callers");
}

/* A stub that keeps twelve words on the stack and no frame pointer. */
static void test_search(void)
{
	code_make(0);
	stack[12] = text_of(1) + 32;
	callers(13);
	walks(STACK + 8 * 40, text_of(0) + 32,
		"a stub without a frame finds the nearest return address on the stack");
}

/*
 * A wrapper of a native method that has lowered sp by two words, as for arguments of a stub; one of them is a stale return
 * address.
 */
static void test_lowered(void)
{
	const struct walk_thread thread = {
		.stack_lo = STACK - 4096, .stack_hi = STACK + sizeof(stack)};
	struct walk_regs regs = {.pc = text_of(1) + 40, .sp = STACK, .fp = STACK + 8 * 40};
	struct walk_frame frames[MAX];
	struct walk_result r;

	code_make(0);
	stack[1] = text_of(2) + 32;
	callers(2);
	r = walk_stack(layout, &memory.mem, &regs, &thread, frames, MAX);
	ok(r.count >= 3 && frames[0].value == 0x1001 && frames[1].type == WALK_JAVA &&
			frames[1].value == 0x1002 && frames[2].type == WALK_STUB,
		"compiled code that has lowered sp finds its caller");
}

static void test_runtime(void)
{
	code_make(4);
	stack[2] = STACK + 8 * 40;
	stack[3] = text_of(1) + 32;
	callers(4);
	walks(STACK + 8 * 40, text_of(0) + 32, "a stub with a frame that made a call appears once");
	code_make(4);
	callers(place_return());
	walks(STACK + 8 * 40, text_of(1) + 32,
		"a stub that has not built its frame finds its caller");
}

#if defined(__aarch64__)
#define NATIVE 0x7e0000000000ull /* libjvm's code, without rows */

static void native_walks(uint64_t sp, uint64_t fp, uint64_t link, const char *what)
{
	const struct walk_thread thread = {
		.stack_lo = STACK - 4096, .stack_hi = STACK + sizeof(stack)};
	struct walk_regs regs = {.pc = NATIVE + 40, .sp = sp, .fp = fp, .link = link};
	struct walk_frame frames[MAX];
	struct walk_result r = walk_stack(layout, &memory.mem, &regs, &thread, frames, MAX);

	if (ok(r.count >= 3 && frames[0].type == WALK_NATIVE && frames[1].type == WALK_JAVA &&
			    frames[1].value == 0x1001 && frames[2].type == WALK_JAVA &&
			    frames[2].value == 0x1002,
		    "%s", what))
		return;
	for (uint32_t i = 0; i < r.count; i++)
		diag("%u 0x%" PRIx64, frames[i].type, frames[i].value);
}

/* A stale return address of an earlier call, in words that the current caller has not written yet. */
static void stale(int word)
{
	stack[word] = STACK + 8 * 40;
	stack[word + 1] = text_of(1) + 48;
}

static void test_native(void)
{
	const uint64_t link = text_of(1) + 32;

	code_make(0);
	callers(0);
	native_walks(STACK, 14, link, "a leaf without a frame is left through the link register");
	code_make(0);
	callers(4);
	stale(4);
	native_walks(STACK, 14, link,
		"a leaf that allocated some words is left through the link register");
	code_make(0);
	stack[3] = link;
	callers(2);
	native_walks(STACK, STACK + 8 * 40, link,
		"a leaf with a stale return address below is left through the link register");
	code_make(0);
	stack[0] = 14;
	stack[1] = link;
	callers(4);
	stale(4);
	native_walks(STACK, STACK, NATIVE + 80,
		"code that made a call is left through the frame pointer, whatever is above its "
		"frame");
	code_make(0);
	callers(2);
	stale(2);
	walks(14, link,
		"a stub without a frame size that pushed is left through the link register");
	code_make(0);
	stack[2] = STACK + 8 * 40;
	stack[3] = link;
	callers(4);
	walks(STACK + 16, link,
		"a stub with a frame that made no call is left through the link register");
}
#endif

/* --- upcalls ------------------------------------------------------------------------------------------ */

#define C_CODE \
	0x7d0000000000ull /* code of a library, without rows; calls end at each multiple of 16 */
#define UP_FP 16          /* in words: the frame of the upcall stub begins at 4 and ends here */
#define C_FP  22          /* C's frame; the Java code that called it follows */
#define AT(n) (STACK + 8ull * (n))

/*
 * Java called C, C called the upcall stub (block 1), and that called a stub (block 0) in place of Java. kept: C keeps its
 * frame pointer.
 */
static void upcall_make(bool kept)
{
	static uint8_t text[256];

	fake_calls(text, sizeof(text));
	code_make(4);
	block_make(1, upcall_name, 0);
	blocks[1].frame_data = 16;
	fake_add(&memory, C_CODE, text, sizeof(text));
	stack[2] = AT(UP_FP);
	stack[3] = text_of(1) + 32;
	stack[UP_FP] = kept ? AT(C_FP) : 1;
	stack[UP_FP + 1] = C_CODE + 32;
	stack[C_FP] = AT(40);
	stack[C_FP + 1] = text_of(2) + 48;
	stack[C_FP + 4] = AT(40);
	stack[C_FP + 5] = ENTRY;
}

/* Stores the anchor of the Java code that called C, as on_entry does in the frame. */
static void anchor_set(uint64_t *at, uint64_t sp)
{
	at[0] = sp;
	at[1] = text_of(2) + 48;
	at[2] = 0;
}

/* wanted: a letter per frame: s stub, n C, j the Java code that called it, b break; end: the reason for the end. */
static void upcall_walks(struct walk_regs regs, uint64_t java_thread, const char *wanted,
	const char *end, const char *what)
{
	const struct walk_thread thread = {
		.java_thread = java_thread, .stack_lo = STACK, .stack_hi = STACK + sizeof(stack)};
	struct walk_frame frames[MAX];
	struct walk_result r = walk_stack(layout, &memory.mem, &regs, &thread, frames, MAX);
	char got[MAX + 1] = {0};

	for (uint32_t i = 0; i < r.count; i++)
		got[i] = frames[i].type == WALK_STUB                                ? 's'
			 : frames[i].type == WALK_NATIVE                            ? 'n'
			 : frames[i].type == WALK_JAVA && frames[i].value == 0x1002 ? 'j'
			 : frames[i].type == WALK_BREAK && frames[i].value == r.why ? 'b'
										    : '?';
	if (!ok(!strncmp(got, wanted, strlen(wanted)) && !strcmp(end, walk_break_name(r.why)), "%s",
		    what))
		diag("got %s %s", got, walk_break_name(r.why));
}

static void test_upcall(void)
{
	const struct walk_regs inside = {.pc = text_of(0) + 40, .sp = STACK, .fp = AT(40)};
	const char *entry =
		walk_break_name(WALK_BREAK_ENTRY); /* of the call stub, where all walks end */
	uint64_t thread[8] = {0};

	upcall_make(true);
	upcall_walks(
		inside, 0, "ssnj", entry, "an upcall is walked through C with a frame pointer");
	upcall_make(false);
	anchor_set(&stack[6], AT(C_FP + 2));
	upcall_walks(inside, 0, "ssnj", entry,
		"an upcall from C without a frame pointer is walked by the anchor in the stub's "
		"frame");
	layout->upcall_anchor.offset = -1;
	upcall_walks(inside, 0, "ssnb", "[break_native]",
		"the anchor is not used if the JVM does not export its place");
	layout->upcall_anchor.offset = 0;
	anchor_set(&stack[6], AT(8));
	upcall_walks(inside, 0, "ssnb", "[break_native]",
		"an anchor that leads into the stub's own frame is rejected");
	anchor_set(&stack[6], 0);
	upcall_walks(inside, 0, "ssnb", "[break_native]",
		"an empty anchor, as in a native thread, is rejected");
	stack[6] = AT(C_FP + 2);
	stack[7] = C_CODE + 32;
	upcall_walks(inside, 0, "ssnb", "[break_native]",
		"an anchor that does not lead to Java is rejected");
	upcall_make(true);
	upcall_walks((struct walk_regs){.pc = text_of(1) + 40, .sp = AT(4), .fp = AT(UP_FP)}, 0,
		"snj", entry, "an upcall stub interrupted in its body is walked");
	upcall_walks((struct walk_regs){.pc = text_of(1) + 40, .sp = AT(UP_FP), .fp = AT(UP_FP)}, 0,
		"snj", entry, "an upcall stub interrupted before it allocates its frame is walked");
	upcall_walks((struct walk_regs){.pc = text_of(1) + 40, .sp = AT(4), .fp = AT(3)}, 0, "sb",
		"[break_entry_frame]", "an upcall stub with an impossible frame is rejected");
#if defined(__x86_64__)
	memcpy(&blocks[1].text[40], "\x55\x48\x8b\xec", 4);
	stack[UP_FP - 1] = C_CODE + 32;
	upcall_walks((struct walk_regs){.pc = text_of(1) + 40, .sp = AT(UP_FP - 1), .fp = AT(C_FP)},
		0, "snj", entry, "an upcall stub interrupted at its first instruction is walked");
	stack[UP_FP - 2] = AT(C_FP);
	upcall_walks((struct walk_regs){.pc = text_of(1) + 41, .sp = AT(UP_FP - 2), .fp = AT(C_FP)},
		0, "snj", entry, "an upcall stub interrupted after its first push is walked");
#endif
	/* The stub has called the VM, which has not consumed the thread's anchor yet. */
	upcall_make(true);
	anchor_set(thread, AT(C_FP + 2));
	fake_add(&memory, 0x5000, thread, sizeof(thread));
	stack[2] = AT(UP_FP);
	upcall_walks((struct walk_regs){.pc = C_CODE + 72, .sp = STACK, .fp = AT(2)}, 0x5000,
		"nsnj", entry, "C between the upcall stub and the thread's anchor is found");
}

int main(void)
{
	layout_make();
	test_leaf();
	test_search();
	test_lowered();
	test_runtime();
	test_upcall();
#if defined(__aarch64__)
	test_native();
#endif
	return tap_done();
}
