/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame cache: only named frames that were not dropped are cached, and found only while their nmethod is alive.
 */
#include "tests/tap.h"

#include "walk/frames/frame_cache.h"
#include "walk/hotspot/names.h"

#define PC     0x7f0000001000ull
#define START  0x10000ull
#define METHOD 0x7f1111111110ull

static uint64_t memory[16]; /* at START */
static struct walk_layout layout;
static struct frame_cache *cache;
static struct frame_cache_walk walk;

static bool fake_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	(void)mem;
	if (addr < START || addr - START + bytes > sizeof(memory))
		return false;
	memcpy(out, (char *)memory + (addr - START), bytes);
	return true;
}

static const struct walk_mem mem = {.load = fake_load, .ctx = NULL};

static void set_up(void)
{
	layout.nmethod_method = (struct walk_field){8, 8};
	layout.compile_id = (struct walk_field){16, 4};
	layout.block_used =
		(struct walk_field){24, 1}; /* in use, in the header of the nmethod's block */
	layout.jdk = 21;
	memory[3] = 1;
	memory[1] = METHOD;
	memory[2] = 77;
	cache = calloc(1, sizeof(struct frame_cache));
	walk.table = cache;
}

/* Caches `count` frames at pc, of compile id 77, with ids from `id` on. */
static void add_frames(uint64_t pc, uint32_t count, uint32_t id)
{
	struct walk_frame frames[FRAME_CACHE_FRAMES + 2];
	uint64_t packed[FRAME_CACHE_FRAMES + 2];
	struct frame_cache_code code = {
		.pc = pc, .start = START, .method = METHOD, .compile_id = 77, .frame_words = 6};

	for (uint32_t i = 0; i < count; i++) {
		frames[i] = (struct walk_frame){.value = METHOD + 8 * i, .bci = 5, .type = WALK_C2};
		packed[i] = WALK_PACK_JAVA(WALK_C2, id + i, 5);
	}
	frame_cache_record(&walk, &code, frames, 0, count);
	frame_cache_insert(&walk, frames, packed, count);
}

static void test_found(void)
{
	struct frame_cache_code found;

	ok(!frame_cache_find(cache, &layout, &mem, PC, &found), "an empty cache finds nothing");
	add_frames(PC, 3, 100);
	ok(frame_cache_find(cache, &layout, &mem, PC, &found), "cached frames are found");
	is_int(found.count, 3, "all cached frames are found");
	is_int(found.frame_words, 6, "the frame size is found");
	ok(found.frames[2] == WALK_PACK_JAVA(WALK_C2, 102, 5),
		"the cached frames have their names");
	ok(!frame_cache_find(cache, &layout, &mem, PC + 1, &found), "another pc is not found");
	ok(!frame_cache_find(cache, &layout, &mem, PC | FRAME_CACHE_EXACT, &found),
		"the same pc is not found as an exact one");
}

static void test_validity(void)
{
	struct frame_cache_code found;

	memory[2] = 78;
	ok(!frame_cache_find(cache, &layout, &mem, PC, &found),
		"a row of another compile id is not found");
	memory[2] = 77;
	memory[1] = METHOD + 64;
	ok(!frame_cache_find(cache, &layout, &mem, PC, &found),
		"a row of another Method is not found");
	memory[1] = METHOD;
	memory[3] = 0;
	ok(!frame_cache_find(cache, &layout, &mem, PC, &found),
		"a row of a freed block is not found");
	memory[3] = 1;
	ok(frame_cache_find(cache, &layout, &mem, PC, &found),
		"the row is found again when all of them match");
}

static void test_refused(void)
{
	struct frame_cache_code code = {.pc = PC + 32,
		.start = START,
		.method = METHOD,
		.compile_id = 77,
		.frame_words = 6};
	struct walk_frame frame = {.value = METHOD, .bci = 5, .type = WALK_C2};
	uint64_t packed = WALK_PACK_JAVA(WALK_C2, 100, 5);
	struct frame_cache_code found;

	add_frames(PC + 8, FRAME_CACHE_FRAMES, 100);
	ok(frame_cache_find(cache, &layout, &mem, PC + 8, &found),
		"FRAME_CACHE_FRAMES frames are cached");
	add_frames(PC + 16, FRAME_CACHE_FRAMES + 1, 100);
	ok(!frame_cache_find(cache, &layout, &mem, PC + 16, &found),
		"more than FRAME_CACHE_FRAMES frames are not cached");
	add_frames(PC + 24, 1, NAMES_ID_UNLOADED);
	ok(!frame_cache_find(cache, &layout, &mem, PC + 24, &found),
		"frames without names are not cached");

	frame_cache_record(&walk, &code, &frame, 0, 1);
	frame.value += 8;
	frame_cache_insert(&walk, &frame, &packed, 1);
	ok(!frame_cache_find(cache, &layout, &mem, PC + 32, &found),
		"frames that changed before the insertion are not cached");
	frame.value -= 8;
	frame_cache_record(&walk, &code, &frame, 0, 1);
	frame_cache_insert(&walk, &frame, &packed, 0);
	ok(!frame_cache_find(cache, &layout, &mem, PC + 32, &found),
		"frames that were dropped before the insertion are not cached");
	code.compile_id = 0;
	frame_cache_record(&walk, &code, &frame, 0, 1);
	frame_cache_insert(&walk, &frame, &packed, 1);
	ok(!frame_cache_find(cache, &layout, &mem, PC + 32, &found),
		"code without a compile id is not cached");
}

/* A walk may find more frames than it can record; the rest is cached by later walks. */
static void test_full(void)
{
	static struct walk_frame frames[2 * FRAME_CACHE_FILLS];
	static uint64_t packed[2 * FRAME_CACHE_FILLS];
	struct frame_cache_code found;
	uint32_t known = 0;

	for (uint32_t i = 0; i < 2 * FRAME_CACHE_FILLS; i++) {
		struct frame_cache_code code = {.pc = 2 * PC + 64 * i,
			.start = START,
			.method = METHOD,
			.compile_id = 77,
			.frame_words = 2};

		frames[i] = (struct walk_frame){.value = METHOD, .bci = 1, .type = WALK_C1};
		packed[i] = WALK_PACK_JAVA(WALK_C1, 200, 1);
		frame_cache_record(&walk, &code, frames, i, i + 1);
	}
	frame_cache_insert(&walk, frames, packed, 2 * FRAME_CACHE_FILLS);
	for (uint32_t i = 0; i < 2 * FRAME_CACHE_FILLS; i++)
		known += frame_cache_find(cache, &layout, &mem, 2 * PC + 64 * i, &found);
	ok(known > FRAME_CACHE_FILLS / 2 && known <= FRAME_CACHE_FILLS,
		"%u of %d frames of one walk are cached", known, 2 * FRAME_CACHE_FILLS);
}

/* Caches METHOD + 8 * n under this id. Its ConstMethod is at START + 64, and the pool behind that. */
static void add_method(uint32_t n, uint32_t id)
{
	struct frame_cache_method method = {.method = METHOD + 8 * n,
		.const_method = START + 64,
		.pool = 0x6000,
		.id = id,
		.code_bytes = 20,
		.name_index = 7};

	frame_cache_method_insert(&walk, &method);
}

#define METHODS (FRAME_CACHE_METHOD_ROWS / 4)

static void test_methods(void)
{
	struct frame_cache_method found;
	uint32_t found_count = 0;

	frame_cache_begin(&walk, &layout, &mem);
	add_method(0, 100);
	ok(!frame_cache_method(&walk, &layout, &mem, METHOD, &found),
		"without a counter of unloaded classes no Methods are cached");
	layout.unloaded_classes = START + 8 * 5;
	memory[5] = 1;
	frame_cache_begin(&walk, &layout, &mem);
	add_method(0, 100);
	ok(frame_cache_method(&walk, &layout, &mem, METHOD, &found), "a cached Method is found");
	ok(found.id == 100 && found.const_method == START + 64 && found.code_bytes == 20,
		"a cached Method has its id, ConstMethod and code size");
	ok(!frame_cache_method(&walk, &layout, &mem, METHOD + 8, &found),
		"another Method is not found");
	add_method(1, NAMES_ID_UNLOADED);
	ok(!frame_cache_method(&walk, &layout, &mem, METHOD + 8, &found),
		"a Method without a name is not cached");
	for (uint32_t i = 2; i < METHODS; i++)
		add_method(i, 100 + i);
	for (uint32_t i = 2; i < METHODS; i++)
		found_count += frame_cache_method(&walk, &layout, &mem, METHOD + 8 * i, &found) &&
			       found.id == 100 + i;
	ok(found_count > METHODS * 98 / 100, "%u of %u Methods in a quarter of the rows are found",
		found_count, METHODS);
	add_method(0, 100);
	walk.epoch++;
	ok(!frame_cache_method(&walk, &layout, &mem, METHOD, &found),
		"a Method that is unreadable is not found in a later epoch");
	memory[5] = 2;
	frame_cache_begin(&walk, &layout, &mem);
	ok(!frame_cache_method(&walk, &layout, &mem, METHOD, &found),
		"no Method is found after a class was unloaded");
	layout.unloaded_classes = 0;
}

static void test_facts(void)
{
	struct frame_cache_code fact = {.pc = START | FRAME_CACHE_EXACT,
		.start = START,
		.method = METHOD,
		.compile_id = 77,
		.frame_words = 1};
	struct frame_cache_code found;

	frame_cache_fact_insert(cache, &fact);
	ok(frame_cache_find(cache, &layout, &mem, fact.pc, &found) && found.frame_words == 1 &&
			found.count == 0,
		"a fact about an nmethod is found");
	memory[2] = 78;
	ok(!frame_cache_find(cache, &layout, &mem, fact.pc, &found),
		"the fact is not found for another nmethod at this address");
	memory[2] = 77;
}

static void test_rules(void)
{
	struct unwind_table rows = {.generation = 1}, others = {.generation = 2},
			    none = {.generation = 0};
	struct unwind_rule rule = {.cfa = UNWIND_CFA_SP, .cfa_offset = 48}, found;

	ok(!frame_cache_rule(cache, &rows, PC, &found), "an empty cache has no rule");
	frame_cache_rule_insert(cache, &none, PC, &rule);
	ok(!frame_cache_rule(cache, &none, PC, &found) || found.cfa_offset == 0,
		"rules of a table without a generation are not cached");
	frame_cache_rule_insert(cache, &rows, PC, &rule);
	ok(frame_cache_rule(cache, &rows, PC, &found) && found.cfa_offset == 48,
		"a cached rule is found");
	ok(!frame_cache_rule(cache, &others, PC, &found),
		"a cached rule is not found for a newer table");
	ok(!frame_cache_rule(cache, &rows, PC + 1, &found),
		"a cached rule is not found for another pc");
}

int main(void)
{
	set_up();
	test_found();
	test_validity();
	test_refused();
	test_full();
	test_methods();
	test_facts();
	test_rules();
	free(cache);
	return tap_done();
}
