/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of this process: which reads are direct and which use the kernel, and that none faults. */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/tap.h"
#include "walk/load/mem.h"
#include "walk/load/self.h"

static uint64_t copies, checks;

static bool copy(uint64_t addr, void *out, size_t bytes, bool *checked)
{
	struct iovec to = {out, bytes}, from = {(void *)(uintptr_t)addr, bytes};

	copies++;
	checks += !*checked;
	*checked = true;
	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

static uint64_t address(const void *at)
{
	return (uint64_t)(uintptr_t)at;
}

static char *pages(size_t count)
{
	return mmap(NULL, count * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void test_lines(void)
{
	static SELF_LINES_OF(SELF_LINES) lines;
	char *at = pages(3), out[3000];
	struct self_mem self;

	munmap(at + 8192, 4096);
	memset(at, 7, 8192);
	self_mem_open(&self, copy, NULL, self_lines(&lines));
	ok(mem_u64(&self.mem, address(at)) == 0x0707070707070707, "a word is copied by the kernel");
	ok(mem_u8(&self.mem, address(at + 2047)) == 7 && copies == 1,
		"the rest of its line is copied with it");
	at[0] = 8;
	ok(mem_u8(&self.mem, address(at)) == 7, "a copied line is cached");
	mem_refresh(&self.mem);
	ok(mem_u8(&self.mem, address(at)) == 8 && copies == 2,
		"a refresh discards the cached lines");
	ok(checks == 2, "the means of copying are checked once per refresh");
	ok(mem_load(&self.mem, address(at + 1000), out, sizeof(out)) && out[0] == 7 &&
			out[2999] == 7,
		"a load may cross lines and pages");
	ok(!mem_load(&self.mem, address(at + 8190), out, 4), "a load into an unmapped page fails");
	ok(mem_load(&self.mem, address(at + 8190), out, 2),
		"a load up to an unmapped page succeeds");
	copies = 0;
	ok(!mem_u64(&self.mem, address(at + 8192)) && !mem_u64(&self.mem, address(at + 8200)) &&
			copies == 0,
		"an unmapped page is requested only once");
	ok(!mem_u64(&self.mem, 16) && !mem_u64(&self.mem, UINT64_MAX - 7) &&
			!mem_u64(&self.mem, 0x8000000000000000),
		"addresses outside user space are unreadable");
	self_mem_open(&self, copy, NULL, self_no_lines());
	at[0] = 9;
	ok(mem_u8(&self.mem, address(at)) == 9 &&
			(at[0] = 10, mem_u8(&self.mem, address(at)) == 10),
		"without lines every load reads the current memory");
}

static void test_in_place(void)
{
	static struct self_kept ranges;
	char *at = pages(2);
	struct self_mem self;
	uint64_t word;

	mprotect(at + 4096, 4096, PROT_NONE);
	memset(at, 7, 4096);
	self_mem_open(&self, copy, &ranges, self_no_lines());
	copies = 0;
	self_kept_add(&ranges, address(at), address(at + 2048));
	ok(mem_u64(&self.mem, address(at + 2040)) && copies == 0,
		"a registered range is read directly");
	ok(mem_u64(&self.mem, address(at + 2041)) && copies == 1,
		"a load beyond a registered range is copied");
	self_kept_add(&ranges, address(at), address(at + 4096));
	self_kept_add(&ranges, address(at), address(at + 100));
	ok(mem_u64(&self.mem, address(at + 4088)) && copies == 1,
		"a registered range grows and never shrinks");
	ok(!mem_u64(&self.mem, address(at + 4089)) && copies == 2,
		"the grown range is read directly only up to its end");
	self_mem_open(&self, copy, NULL, self_no_lines());
	self_mem_stack(&self, address(at + 8), address(at + 4096));
	copies = 0;
	ok(mem_u64(&self.mem, address(at + 8)) && mem_u64(&self.mem, address(at + 4088)) &&
			mem_load_u64(&self.mem, address(at + 8), &word) && copies == 0,
		"the stack is read directly");
	ok(mem_u64(&self.mem, address(at)) && copies == 1,
		"below the stack pointer memory is copied");
	ok(!mem_u64(&self.mem, address(at + 4090)) && copies == 2,
		"across the end of the stack memory is copied");
	self_mem_stack(&self, address(at), address(at) + 4);
	ok(mem_u32(&self.mem, address(at)) && copies == 3, "with an empty stack memory is copied");
}

/* --- constants ------------------------------------------------------------------------------------ */

static uint64_t constant(const struct self_mem *self, uint64_t owner, const void *at)
{
	uint64_t word = 0;

	return mem_load_constant(&self->mem, owner, address(at), &word, sizeof(word)) ? word : 0;
}

static void test_constants(void)
{
	static struct self_constants constants;
	static SELF_LINES_OF(SELF_LINES) lines;
	static struct self_kept ranges;
	char *at = pages(3), out[3000];
	struct self_mem self;

	munmap(at + 8192, 4096);
	memset(at, 7, 8192);
	self_mem_open(&self, copy, &ranges, self_lines(&lines));
	self_keep_constants(&self, &constants, 1);
	copies = 0;
	ok(constant(&self, 1, at) == 0x0707070707070707 && copies == 1, "a constant is copied");
	memset(at, 8, 8192);
	self_mem_refresh(&self);
	ok(constant(&self, 1, at + 2040) == 0x0707070707070707 && copies == 1,
		"a constant's line is cached for the next walk");
	ok(constant(&self, 2, at) == 0x0808080808080808 && copies == 2,
		"a cached line is not used for another owner");
	memset(at, 9, 8192);
	self_mem_refresh(&self);
	self_keep_constants(&self, &constants, 2);
	ok(constant(&self, 1, at) == 0x0909090909090909 && copies == 3,
		"a cached line is not used in another epoch");
	ok(mem_u64(&self.mem, address(at)) == 0x0909090909090909 && copies == 3,
		"the walk's own lines contain it, too");
	self_mem_refresh(&self);
	ok(constant(&self, 0, at) == 0x0909090909090909 && copies == 4,
		"a constant without an owner is not cached");
	ok(mem_load_constant(&self.mem, 1, address(at + 1000), out, sizeof(out)) && out[0] == 9 &&
			out[2999] == 9,
		"a load of a constant may cross lines and pages");
	ok(!mem_load_constant(&self.mem, 1, address(at + 8190), out, 4) &&
			!constant(&self, 1, at + 8192) &&
			!mem_load_constant(&self.mem, 1, UINT64_MAX - 3, out, 8),
		"a constant in an unmapped page is unreadable");
	ok(mem_load_constant(&self.mem, 1, address(at + 8190), out, 2),
		"a constant up to an unmapped page is read");
	self_kept_add(&ranges, address(at), address(at + 4096));
	copies = 0;
	memset(at, 10, 4096);
	ok(constant(&self, 1, at) == 0x0a0a0a0a0a0a0a0a && copies == 0,
		"a constant in a registered range is read directly");
}

/* A line that is unchanged in a later epoch is not copied again; one that changed is. */
static void test_confirmed(void)
{
	static struct self_constants constants;
	static SELF_LINES_OF(SELF_LINES) lines;
	char *at = pages(1);
	struct self_mem self;

	memset(at, 7, 4096);
	self_mem_open(&self, copy, NULL, self_lines(&lines));
	self_keep_constants(&self, &constants, 1);
	constant(&self, 1, at);
	memset(at, 8, 4096);
	for (uint32_t epoch = 2; epoch < 4; epoch++) {
		self_mem_refresh(&self);
		self_keep_constants(&self, &constants, epoch);
		is_int(constant(&self, 1, at), 0x0808080808080808,
			"a line that changed is copied again");
	}
	copies = 0;
	for (uint32_t epoch = 4; epoch < 9; epoch++) {
		self_mem_refresh(&self);
		self_keep_constants(&self, &constants, epoch);
		constant(&self, 1, at);
	}
	is_int(copies, 0, "a line found unchanged is not copied in later epochs");
	constant(&self, 2, at);
	is_int(copies, 1, "a line found unchanged is copied for another owner");
}

static uint32_t copy_blocks(const struct self_block *blocks, uint32_t count)
{
	uint32_t done = 0;

	copies++;
	for (; done < count; done++) {
		struct iovec to = {blocks[done].out, blocks[done].bytes};
		struct iovec from = {(void *)(uintptr_t)blocks[done].addr, blocks[done].bytes};

		if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != blocks[done].bytes)
			break;
	}
	return done;
}

/* Loads a word from each of `count` pages, `step` pages apart. Returns the number of copies that this made. */
static uint64_t copies_of(
	const struct self_mem *self, const char *at, uint32_t count, uint32_t step, bool *same)
{
	copies = 0;
	for (uint32_t i = 0; i < count; i++)
		*same = mem_u64(&self->mem, address(at + i * step * 4096)) == 0x0707070707070707 &&
			*same;
	return copies;
}

static void test_prefetch(void)
{
	static struct self_constants constants;
	static SELF_LINES_OF(SELF_LINES) lines;
	char *at = pages(57);
	struct walk_part parts[3] = {{address(at) + 4000, 100}, {address(at) + 5 * 4096, 8},
		{address(at) + 8 * 4096, 8}};
	struct self_mem self;
	bool same = true;

	memset(at, 7, 57 * 4096);
	self_mem_open(&self, copy, NULL, self_lines(&lines));
	is_int(copies_of(&self, at, 8, 8, &same), 8, "pages are copied one by one");
	is_int(copies_of(&self, at, 8, 8, &same), 0, "and none of them evicts another");
	self_mem_refresh(&self);
	mem_prefetch(&self.mem, 0, parts, 3);
	is_int(copies_of(&self, at, 1, 1, &same), 1,
		"without a means to copy several, no prefetch");

	self_prefetch_by(&self, copy_blocks);
	self_keep_constants(&self, &constants, 1);
	self_mem_refresh(&self);
	copies = 0;
	mem_prefetch(&self.mem, 0, parts, 3);
	is_int(copies, 1, "four announced pages are copied together");
	uint64_t later =
		copies_of(&self, at, 2, 1, &same) + copies_of(&self, at + 5 * 4096, 2, 3, &same);
	is_int(later, 0, "and not again by loads");
	ok(same, "all words are right");
	copies = 0;
	mem_prefetch(&self.mem, 0, parts, 3);
	is_int(copies, 0, "what is cached is not copied again");
	self_mem_refresh(&self);
	mem_prefetch(&self.mem, 0, parts + 1, 1);
	is_int(copies, 0, "a single page is left to the load");

	constant(&self, 3, at + 5 * 4096);
	self_mem_refresh(&self);
	copies = 0;
	mem_prefetch(&self.mem, 3, parts + 1, 2);
	is_int(copies, 0, "so is one beside a constant that is cached");

	munmap(at + 4096, 4096);
	self_mem_refresh(&self);
	mem_prefetch(&self.mem, 0, parts, 3);
	is_int(copies_of(&self, at, 1, 1, &same), 0, "pages before an unreadable one are copied");
	is_int(copies_of(&self, at + 5 * 4096, 2, 3, &same), 2,
		"those after it are left to the loads");
	ok(same && !mem_load(&self.mem, address(at + 4096), &later, 8),
		"the unreadable one is an error");
	munmap(at, 57 * 4096);
}

static struct self_constants shared;
static uint64_t *numbers; /* each word is its own address */

#define SHARED_WORDS (1u << 18)

/* Returns NULL if each word was right. */
static void *reader(void *second)
{
	static SELF_LINES_OF(SELF_LINES) lines[2];
	struct self_mem self;

	self_mem_open(&self, copy, NULL, self_lines(&lines[second != NULL]));
	for (uint64_t i = 0; i < 100000; i++) {
		const uint64_t *at = &numbers[i * 257 % SHARED_WORDS];

		self_keep_constants(&self, &shared, (uint32_t)i / 1000);
		if (constant(&self, 1 + i % 3, at) != address(at))
			return &shared;
	}
	return NULL;
}

static void test_shared(void)
{
	pthread_t thread;
	void *other, *own;

	numbers = (uint64_t *)(void *)pages(SHARED_WORDS * 8 / 4096);
	for (uint64_t i = 0; i < SHARED_WORDS; i++)
		numbers[i] = address(&numbers[i]);
	pthread_create(&thread, NULL, reader, &shared);
	own = reader(NULL);
	pthread_join(thread, &other);
	ok(!own && !other, "two threads that fill the same rows read the right words");
}

/* --- pages mapped and unmapped concurrently ---------------------------------------------------------- */

static char *moving;
static _Atomic bool stop;

static void *mover(void *unused)
{
	for (int i = 0; !atomic_load(&stop); i++) {
		munmap(moving + i % 4 * 4096, 4096);
		mmap(moving + i % 4 * 4096, 4096, i % 3 ? PROT_READ | PROT_WRITE : PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
	return unused;
}

/* No signal handler is installed: a faulting load would end this program. */
static void test_storm(void)
{
	static SELF_LINES_OF(SELF_LINES) lines;
	struct self_mem self;
	pthread_t thread;
	uint64_t read = 0, failed = 0, word;

	moving = pages(4);
	self_mem_open(&self, copy, NULL, self_lines(&lines));
	pthread_create(&thread, NULL, mover, NULL);
	for (uint64_t i = 0; i < 200000; i++) {
		if (mem_load(&self.mem, address(moving) + i * 8 % 16384, &word, 8))
			read++;
		else
			failed++;
		if (i % 16 == 0)
			mem_refresh(&self.mem);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	diag("%lu words read, %lu unreadable", (unsigned long)read, (unsigned long)failed);
	ok(read && failed,
		"loads of memory that is mapped and unmapped succeed or fail without a fault");
}

int main(void)
{
	test_lines();
	test_in_place();
	test_constants();
	test_confirmed();
	test_prefetch();
	test_shared();
	test_storm();
	return tap_done();
}
