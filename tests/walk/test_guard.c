/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded loads on memory that cannot be read, from many threads and from within handlers. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/tap.h"
#include "walk/load/guard.h"
#include "walk/load/mem.h"
#include "walk/load/regs.h"

static const struct walk_mem mem = GUARD_MEM;
static volatile sig_atomic_t chained, nested_bad, nested;
static char *volatile foreign_fault;
static volatile uint64_t nowhere = 16;
static size_t page;

static void on_fault(int sig, siginfo_t *info, void *ucontext)
{
	if (guard_recover(ucontext))
		return;
	/* Not ours: a JVM would deal with it. Here the page is made readable. */
	chained++;
	if (mprotect((void *)((uintptr_t)info->si_addr & ~(page - 1)), page, PROT_READ))
		_exit(99);
}

static bool load(const void *addr, size_t bytes)
{
	char out[64];

	return mem.load(&mem, (uintptr_t)addr, out, bytes);
}

/* A timer's handler loads guarded too, good and bad, whatever it interrupted. */
static void on_timer(int sig)
{
	uint64_t value = 0, here = 42;

	nested++;
	if (mem.load(&mem, 8, &value, sizeof(value)) ||
		!mem.load(&mem, (uintptr_t)&here, &value, sizeof(value)) || value != 42)
		nested_bad = 1;
}

static void *hammer(void *arg)
{
	uint64_t value = 0, here = (uintptr_t)arg;
	intptr_t bad = 0;

	for (int i = 0; i < 20000; i++) {
		bad += mem.load(&mem, 16, &value, sizeof(value));
		bad += !mem.load(&mem, (uintptr_t)&here, &value, sizeof(value)) || value != here;
		bad += mem_u64(&mem, nowhere) != 0 || mem_u64(&mem, (uintptr_t)&here) != here;
	}
	return (void *)bad;
}

static void handlers_install(void)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	struct sigaction timer = {.sa_handler = on_timer, .sa_flags = SA_RESTART};

	/* In this handler a fault would be fatal: nobody who loads may interrupt it. */
	sigfillset(&sa.sa_mask);
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	sigaction(SIGPROF, &timer, NULL);
}

static void test_values(void)
{
	static const char text[] = "0123456789abcdefghijklmnopq";
	char out[sizeof(text)];

	for (size_t n = 0; n <= sizeof(text); n++) {
		memset(out, 'x', sizeof(out));
		if (!mem.load(&mem, (uintptr_t)text, out, n) || memcmp(out, text, n) ||
			(n < sizeof(out) && out[n] != 'x')) {
			ok(false, "%zu bytes are copied exactly", n);
			return;
		}
	}
	ok(true, "0..%zu bytes are copied exactly", sizeof(text));
}

static void test_unreadable(void)
{
	char *two =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *none = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *file = tmpfile();
	char *hole = mmap(NULL, page, PROT_READ, MAP_SHARED, fileno(file), 0);

	munmap(two + page, page);
	ok(!load(NULL, 8), "NULL");
	ok(!load((void *)4096, 1), "a small address");
	ok(!load((void *)0x7ff8000000000000ull, 8), "an address that is not canonical");
	ok(!load((void *)UINTPTR_MAX, 8), "the end of the address space");
	ok(!load(none, 8), "a page without access");
	ok(load(two + page - 8, 8), "the last word before a hole");
	ok(!load(two + page - 4, 8), "a word that runs into a hole");
	ok(!load(two + page - 8, 16), "two words, the second in a hole");
	ok(!load(two + page - 3, 4), "bytes that run into a hole");
	ok(!load(hole, 8), "SIGBUS: a mapping beyond its file's end");
	ok(chained == 0, "none of these reached the other handler");
	munmap(two, page);
	munmap(hole, page);
	fclose(file);
	foreign_fault = none;
}

/* The loads that are one instruction in their caller. */
static void test_words(void)
{
	static const unsigned char text[] = {0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9};
	uint64_t at = (uintptr_t)text + 1, word = 0;
	char *two =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t end = (uintptr_t)two + page,
		 bad[] = {0, 4096, 0x7ff8000000000000ull, UINTPTR_MAX, end, end - 1};
	unsigned wrong = 0;

	munmap(two + page, page);
	memset(two, 'x', page);
	ok(mem_u64(&mem, at) == 0xf9f8f7f6f5f4f3f2ull && mem_u32(&mem, at) == 0xf5f4f3f2u &&
			mem_u16(&mem, at) == 0xf3f2u && mem_u8(&mem, at) == 0xf2u,
		"words of each size are read, from any address");
	ok(mem_load_u64(&mem, at, &word) && word == 0xf9f8f7f6f5f4f3f2ull, "and surely so");
	for (unsigned bytes = 1; bytes <= 8; bytes++)
		wrong += mem_word(&mem, at, bytes) !=
			 (0xf9f8f7f6f5f4f3f2ull & (~0ull >> (64 - 8 * bytes)));
	is_int(wrong, 0, "by their size");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		wrong += mem_load_u64(&mem, bad[i], &word) || mem_u64(&mem, bad[i]) ||
			 mem_u32(&mem, bad[i]) || mem_u16(&mem, bad[i]) ||
			 (bad[i] != end - 1 && mem_u8(&mem, bad[i]));
	is_int(wrong, 0, "what cannot be read is 0, and surely not read");
	is_int(mem_u8(&mem, end - 1), 'x', "the last byte before a hole");
	is_int(chained, 0, "none of these reached the other handler");
	munmap(two, page);
}

static void test_foreign(void)
{
	volatile char c = *foreign_fault;

	(void)c;
	is_int(chained, 1, "a fault elsewhere is not claimed");
}

static void test_storm(void)
{
	enum { THREADS = 4 };
	pthread_t threads[THREADS];
	struct itimerval it = {.it_interval = {0, 500}, .it_value = {0, 500}};
	intptr_t bad = 0;

	setitimer(ITIMER_PROF, &it, NULL);
	for (int round = 0; round < 50 && (round < 2 || nested < 20); round++) {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, hammer, (void *)(uintptr_t)(i + 1));
		for (int i = 0; i < THREADS; i++) {
			void *result;

			pthread_join(threads[i], &result);
			bad += (intptr_t)result;
		}
	}
	it = (struct itimerval){0};
	setitimer(ITIMER_PROF, &it, NULL);
	is_int(bad, 0, "threads that load good and bad addresses at once");
	ok(nested >= 20, "the timer's handler came in between (%d times)", (int)nested);
	ok(!nested_bad, "and its own loads were right");
}

int main(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	handlers_install();
	test_values();
	test_unreadable();
	test_words();
	test_foreign();
	test_storm();
	return tap_done();
}
