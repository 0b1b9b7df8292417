/* SPDX-License-Identifier: Apache-2.0 */
/* Loads by HotSpot's SafeFetch: its code, and a handler that knows it as HotSpot's does. */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/tap.h"
#include "walk/load/mem.h"
#include "walk/load/regs.h"

static uint64_t code_at;
static const struct fetch_code *code_now;
static volatile int faults;

/* on_fault: a load of either size goes on behind its return, in turns as HotSpot's handler has it and as ours does. */
static void on_fault(int sig, siginfo_t *info, void *ucontext)
{
	uint64_t pc = regs_pc(ucontext);
	bool library = code_now == &fetch_library, ours = faults++ & 1;

	(void)sig, (void)info;
	if (ours && fetch_recover(ucontext))
		return;
	if (pc == code_at + code_now->word32)
		regs_set_pc(ucontext, pc + (library ? 3 : 2));
	else if (pc == code_at + code_now->word64)
		regs_set_pc(ucontext, pc + (library ? 4 : 3));
	else
		_exit(99);
}

static void code_put(const struct fetch_code *code)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, code->bytes, code->count);
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	code_at = (uintptr_t)page;
	code_now = code;
	fetch_use(code, code_at, true);
}

static bool load(const void *addr, void *out, size_t bytes)
{
	return fetch_load(NULL, (uintptr_t)addr, out, bytes);
}

/* all_sizes: everything at each place before a hole is read, and nothing that runs into it. */
static bool all_sizes(const uint8_t *hole)
{
	for (size_t before = 0; before <= 40; before++) {
		for (size_t bytes = 0; bytes <= before; bytes++) {
			uint8_t out[48] = {0};

			if (!load(hole - before, out, bytes) || memcmp(out, hole - before, bytes) ||
				out[bytes])
				return false;
			if (load(hole - before, out, before + 1))
				return false;
		}
	}
	return true;
}

static const struct walk_mem fetched = {.load = fetch_load, .is_fetched = true};

static void test_code(const struct fetch_code *code, const char *name)
{
	uint8_t *pages =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t out, failing[] = {0x9d3a6f1c58e2b704ull, ~0x9d3a6f1c58e2b704ull};

	for (int i = 0; i < 2 * 4096; i++)
		pages[i] = (uint8_t)(i * 7 + 1);
	mprotect(pages + 2 * 4096, 4096, PROT_NONE);
	code_put(code);
	diag("%s", name);
	ok(all_sizes(pages + 2 * 4096), "all sizes before a hole, and none that runs into it");
	ok(load(&failing[0], &out, 8) && out == failing[0] && load(&failing[1], &out, 8) &&
			out == failing[1] && load(&failing[0], &out, 4),
		"what stands for a failure is read, too");
	faults = 0;
	ok(!load((void *)16, &out, 8) && !load((void *)16, &out, 4) && !mem_u64(&fetched, 16) &&
			!mem_u32(&fetched, 4092),
		"a field of no object");
	ok(!faults, "which is not tried");
	ok(!load((void *)0x8000000000000000ull, &out, 8) && !mem_u64(&fetched, 1ull << 63) &&
			!load(pages + 2 * 4096, &out, 8),
		"an address that is none, and a page that is not there");
	ok(faults > 0, "they did fault");
}

int main(void)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	uint64_t out;

	if (!fetch_library.bytes) {
		ok(!fetch_ready(), "not known for this CPU");
		return tap_done();
	}
	sigaction(SIGSEGV, &sa, NULL);
	ok(!fetch_ready() && !load(&out, &out, 8), "nothing is read before its code is known");
	test_code(&fetch_library, "in libjvm");
	test_code(&fetch_stubs, "among the stubs");
	return tap_done();
}
