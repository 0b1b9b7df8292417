/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of this process: what is read in place, what the kernel copies, and that nothing faults. */
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
	ok(mem_u64(&self.mem, address(at)) == 0x0707070707070707, "a word is copied");
	ok(mem_u8(&self.mem, address(at + 2047)) == 7 && copies == 1, "its line with it");
	at[0] = 8;
	ok(mem_u8(&self.mem, address(at)) == 7, "which is kept");
	mem_refresh(&self.mem);
	ok(mem_u8(&self.mem, address(at)) == 8 && copies == 2, "until it is refreshed");
	ok(checks == 2, "the means are checked once between");
	ok(mem_load(&self.mem, address(at + 1000), out, sizeof(out)) && out[0] == 7 &&
			out[2999] == 7,
		"a load may cross lines and pages");
	ok(!mem_load(&self.mem, address(at + 8190), out, 4), "but not into a hole");
	ok(mem_load(&self.mem, address(at + 8190), out, 2), "what lies before it can be read");
	copies = 0;
	ok(!mem_u64(&self.mem, address(at + 8192)) && !mem_u64(&self.mem, address(at + 8200)) &&
			copies == 0,
		"a hole is asked for once");
	ok(!mem_u64(&self.mem, 16) && !mem_u64(&self.mem, UINT64_MAX - 7) &&
			!mem_u64(&self.mem, 0x8000000000000000),
		"nothing is at addresses that there are not");
	self_mem_open(&self, copy, NULL, self_no_lines());
	at[0] = 9;
	ok(mem_u8(&self.mem, address(at)) == 9 &&
			(at[0] = 10, mem_u8(&self.mem, address(at)) == 10),
		"without lines every load reads memory as it is");
}

static void test_in_place(void)
{
	static struct self_kept kept;
	char *at = pages(2);
	struct self_mem self;
	uint64_t word;

	mprotect(at + 4096, 4096, PROT_NONE);
	memset(at, 7, 4096);
	self_mem_open(&self, copy, &kept, self_no_lines());
	copies = 0;
	self_kept_add(&kept, address(at), address(at + 2048));
	ok(mem_u64(&self.mem, address(at + 2040)) && copies == 0, "what is kept is read in place");
	ok(mem_u64(&self.mem, address(at + 2041)) && copies == 1, "but not what leads out of it");
	self_kept_add(&kept, address(at), address(at + 4096));
	self_kept_add(&kept, address(at), address(at + 100));
	ok(mem_u64(&self.mem, address(at + 4088)) && copies == 1,
		"a range grows, and never shrinks");
	ok(!mem_u64(&self.mem, address(at + 4089)) && copies == 2, "up to its end");
	self_mem_open(&self, copy, NULL, self_no_lines());
	self_mem_stack(&self, address(at + 8), address(at + 4096));
	copies = 0;
	ok(mem_u64(&self.mem, address(at + 8)) && mem_u64(&self.mem, address(at + 4088)) &&
			mem_load_u64(&self.mem, address(at + 8), &word) && copies == 0,
		"so is the stack");
	ok(mem_u64(&self.mem, address(at)) && copies == 1, "not below its pointer");
	ok(!mem_u64(&self.mem, address(at + 4090)) && copies == 2, "nor across its end");
	self_mem_stack(&self, address(at), address(at) + 4);
	ok(mem_u32(&self.mem, address(at)) && copies == 3, "nor where there is none");
}

/* --- what does not change ------------------------------------------------------------------------ */

static uint64_t constant(const struct self_mem *self, uint64_t owner, const void *at)
{
	uint64_t word = 0;

	return mem_load_constant(&self->mem, owner, address(at), &word, sizeof(word)) ? word : 0;
}

static void test_constants(void)
{
	static struct self_constants constants;
	static SELF_LINES_OF(SELF_LINES) lines;
	static struct self_kept kept;
	char *at = pages(3), out[3000];
	struct self_mem self;

	munmap(at + 8192, 4096);
	memset(at, 7, 8192);
	self_mem_open(&self, copy, &kept, self_lines(&lines));
	self_keep_constants(&self, &constants, 1);
	copies = 0;
	ok(constant(&self, 1, at) == 0x0707070707070707 && copies == 1, "a constant is copied");
	memset(at, 8, 8192);
	self_mem_refresh(&self);
	ok(constant(&self, 1, at + 2040) == 0x0707070707070707 && copies == 1,
		"its line is kept for the next walk");
	ok(constant(&self, 2, at) == 0x0808080808080808 && copies == 2,
		"but not for another owner at its place");
	memset(at, 9, 8192);
	self_mem_refresh(&self);
	self_keep_constants(&self, &constants, 2);
	ok(constant(&self, 1, at) == 0x0909090909090909 && copies == 3, "nor for another epoch");
	ok(mem_u64(&self.mem, address(at)) == 0x0909090909090909 && copies == 3,
		"the walk has the line, too");
	self_mem_refresh(&self);
	ok(constant(&self, 0, at) == 0x0909090909090909 && copies == 4,
		"what has no owner is not kept");
	ok(mem_load_constant(&self.mem, 1, address(at + 1000), out, sizeof(out)) && out[0] == 9 &&
			out[2999] == 9,
		"a load may cross lines and pages");
	ok(!mem_load_constant(&self.mem, 1, address(at + 8190), out, 4) &&
			!constant(&self, 1, at + 8192) &&
			!mem_load_constant(&self.mem, 1, UINT64_MAX - 3, out, 8),
		"a hole is not there");
	ok(mem_load_constant(&self.mem, 1, address(at + 8190), out, 2), "what lies before it is");
	self_kept_add(&kept, address(at), address(at + 4096));
	copies = 0;
	memset(at, 10, 4096);
	ok(constant(&self, 1, at) == 0x0a0a0a0a0a0a0a0a && copies == 0,
		"what stays mapped is read in place");
}

/* A line that is the same in a later epoch is not copied again; one that was still being written is. */
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
			"a line that has changed is copied");
	}
	copies = 0;
	for (uint32_t epoch = 4; epoch < 9; epoch++) {
		self_mem_refresh(&self);
		self_keep_constants(&self, &constants, epoch);
		constant(&self, 1, at);
	}
	is_int(copies, 0, "one that was found unchanged is not, in any later epoch");
	constant(&self, 2, at);
	is_int(copies, 1, "but for another owner");
}

static struct self_constants shared;
static uint64_t *numbers; /* each word is its own address */

#define SHARED_WORDS (1u << 18)

/* Returns NULL when each word was right. */
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
	ok(!own && !other, "two threads that fill the same rows read what is there");
}

/* --- pages that come and go ---------------------------------------------------------------------- */

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

/* No handler is installed: a load that faulted would end this program. */
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
	diag("%lu words read, %lu not there", (unsigned long)read, (unsigned long)failed);
	ok(read && failed, "memory that comes and goes is read, or it is not there");
}

int main(void)
{
	test_lines();
	test_in_place();
	test_constants();
	test_confirmed();
	test_shared();
	test_storm();
	return tap_done();
}
