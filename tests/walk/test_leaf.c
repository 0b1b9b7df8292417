/* SPDX-License-Identifier: Apache-2.0 */
/* A comparator in a module without unwind rows, called by libc's qsort, which has them: the callers found match libunwind's. */
#include "tests/tap.h"
#include "tests/walk/self_table.h"
#include "walk/walk.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "walk/load/regs.h"

#define DEPTH 32

static const struct unwind_table *partial;
static struct walk_mem memory;
static int stacks, same;
static char first_mismatch[1024];

static void compare(ucontext_t *uc)
{
	struct walk_frame frames[DEPTH];
	struct walk_regs regs;
	struct walk_thread thread = {.rows = partial};
	struct walk_result r;
	unw_cursor_t cursor;
	unw_word_t pc;
	bool agree = true;
	uint32_t count = 0;

	regs_read(uc, &regs);
	r = walk_stack(NULL, &memory, &regs, &thread, frames, DEPTH);
	unw_init_local2(&cursor, (void *)uc, UNW_INIT_SIGNAL_FRAME);
	/* Only within libc: the caller of qsort is in the module partial rows. */
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		agree &= count < r.count && frames[count].value == pc - (count ? 1 : 0);
		count++;
	} while (unw_step(&cursor) > 0 &&
		 (count == 1 || unwind_find(partial, frames[count - 1].value)));
	stacks++;
	same += agree && count > 2;
	if (!agree && !first_mismatch[0])
		snprintf(first_mismatch, sizeof(first_mismatch),
			"%u of %u frames, the second is %lx", count, r.count,
			r.count > 1 ? (unsigned long)frames[1].value : 0ul);
}

static void on_trap(int sig, siginfo_t *info, void *ucontext)
{
	(void)sig;
	(void)info;
	compare(ucontext);
#if defined(__aarch64__)
	((ucontext_t *)ucontext)->uc_mcontext.pc += 4;
#endif
}

static int compare_ints(const void *a, const void *b)
{
#if defined(__aarch64__)
	__asm__ volatile("brk #0");
#else
	__asm__ volatile("int3");
#endif
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* All rows except those of the module with this function. */
static struct unwind_table *table_without(const struct unwind_table *all, uint64_t pc)
{
	struct unwind_table *t = calloc(1, sizeof(*t) + all->count * sizeof(all->modules[0]));

	for (uint32_t i = 0; i < all->count; i++)
		if (pc < all->modules[i].start || pc >= all->modules[i].end)
			t->modules[t->count++] = all->modules[i];
	return t;
}

#if defined(__aarch64__)
/*
 * Code without a row in a module with rows, like the linker's stubs, too far from its neighbours for their rows to
 * apply. Its caller keeps a frame pointer.
 */
void bare(void);
__asm__(".text\n"
	"	.skip 128\n"
	".type bare, @function\n"
	"bare:\n"
	"	brk #0\n"
	"	ret\n"
	".size bare, . - bare\n"
	"	.skip 128\n");

static const struct unwind_rule *row_at(const struct unwind_table *all, void (*fn)(void))
{
	const struct walk_regs regs = {.pc = (uint64_t)(uintptr_t)fn};
	const struct unwind_rule *rule = unwind_rule_of(all, &regs, true);

	return rule && rule->cfa != UNWIND_CFA_NONE ? rule : NULL;
}

static void test_stub(const struct unwind_table *all)
{
	partial = all;
	stacks = same = 0;
	for (int i = 0; i < 3; i++)
		bare();
	ok(stacks == 3 && !row_at(all, bare), "a stub without a row was interrupted");
	is_int(same, stacks, "the callers of the stub match libunwind's");
}
#else
static void test_stub(const struct unwind_table *all)
{
	(void)all; /* libc keeps no frame pointers that lead past the caller */
}
#endif

int main(void)
{
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	struct unwind_table *all = self_table();
	int numbers[64];

	if (!self_libc_has_cfi(all))
		tap_skip_all(NO_LIBC_CFI);
	partial = table_without(all, (uint64_t)(uintptr_t)compare_ints);
	is_int(partial->count, all->count - 1, "the table lacks only this program's rows");
	memory = self_mem();
	for (int i = 0; i < 64; i++)
		numbers[i] = i * 37 % 64;
	sigaction(SIGTRAP, &sa, NULL);
	qsort(numbers, 64, sizeof(numbers[0]), compare_ints);
	ok(stacks > 100, "the comparator was interrupted %d times", stacks);
	is_int(same, stacks, "the comparator's callers in libc match libunwind's each time");
	test_stub(all);
	if (first_mismatch[0])
		diag("%s", first_mismatch);
	return tap_done();
}
