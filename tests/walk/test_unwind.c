/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinding this process, against libunwind: inside libc's functions one instruction at a time, from signal handlers,
 * across signal frames and alternate stacks. Hostile blocks and stacks are refused.
 */
#include "tests/tap.h"
#include "tests/walk/self_table.h"
#include "walk/load/arch.h"

#define UNW_LOCAL_ONLY
#include <errno.h>
#include <libunwind.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <zlib.h>

#define DEPTH 64

static struct unwind_table *table;
static struct walk_mem memory;

struct frames {
	unsigned count;
	enum unwind_result end;
	uint64_t pc[DEPTH];
};

static struct walk_regs regs_of(const ucontext_t *uc)
{
	struct walk_regs r = {0};

#if defined(__x86_64__)
	r.pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	r.sp = (uint64_t)uc->uc_mcontext.gregs[REG_RSP];
	r.fp = (uint64_t)uc->uc_mcontext.gregs[REG_RBP];
#else
	r.pc = uc->uc_mcontext.pc;
	r.sp = uc->uc_mcontext.sp;
	r.fp = uc->uc_mcontext.regs[29];
	r.link = uc->uc_mcontext.regs[30];
#endif
	return r;
}

/*
 * Code without rows on aarch64, which the walk decodes instead: the signal trampoline, which the kernel's vDSO does
 * not describe since Linux 5.8, and the linker's stubs, which it leaves through the link register.
 */
static enum unwind_result step_beside_rows(struct walk_regs *r, bool exact)
{
	static const struct unwind_rule trampoline = {.cfa = UNWIND_CFA_SIGNAL},
					stub = {.cfa = UNWIND_CFA_SP};

	if (!ARCH_HAS_LINK)
		return UNWIND_NO_ROW;
	if (!exact && arch_at_trampoline(&memory, r->pc))
		return unwind_apply(&trampoline, &memory, r, exact);
	return exact ? unwind_apply(&stub, &memory, r, exact) : UNWIND_NO_ROW;
}

static void ours(const ucontext_t *uc, struct frames *f)
{
	struct walk_regs r = regs_of(uc);
	bool exact = true;

	for (f->count = 0; f->count < DEPTH; exact = f->end == UNWIND_OK_EXACT) {
		f->pc[f->count++] = r.pc;
		f->end = unwind_step(table, &memory, &r, exact);
		if (f->end == UNWIND_NO_ROW)
			f->end = step_beside_rows(&r, exact);
		if (f->end > UNWIND_OK_EXACT)
			return;
	}
}

static void theirs(ucontext_t *uc, struct frames *f)
{
	unw_cursor_t cursor;
	unw_word_t pc;

	f->count = 0;
	if (unw_init_local2(&cursor, (void *)uc, UNW_INIT_SIGNAL_FRAME))
		return;
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &pc) || !pc)
			return;
		f->pc[f->count++] = pc;
	} while (f->count < DEPTH && unw_step(&cursor) > 0);
}

/* --- comparing, in handlers --------------------------------------------------------------------------- */

struct comparison {
	unsigned stacks, same, differ, no_rule;
	unsigned depth_max;
	struct frames mine, other; /* the first that differ */
};

static struct comparison now;

static bool frames_same(const struct frames *a, const struct frames *b)
{
	return a->count == b->count && !memcmp(a->pc, b->pc, a->count * sizeof a->pc[0]);
}

static void compare(ucontext_t *uc)
{
	static struct frames a, b;

	ours(uc, &a);
	theirs(uc, &b);
	now.stacks++;
	if (a.count > now.depth_max)
		now.depth_max = a.count;
	if (a.end == UNWIND_NO_RULE) {
		now.no_rule++;
	} else if (a.end == UNWIND_ROOT && frames_same(&a, &b)) {
		now.same++;
	} else {
		if (!now.differ++) {
			now.mine = a;
			now.other = b;
		}
	}
}

static void diag_frames(const char *who, const struct frames *f)
{
	char line[40 * DEPTH];
	size_t n = 0;

	for (unsigned i = 0; i < f->count; i++) {
		const struct unwind_module *m = unwind_find(table, f->pc[i]);

		n += (size_t)snprintf(line + n, sizeof line - n, " %td:%#" PRIx64,
			m ? m - table->modules : -1,
			m ? f->pc[i] - m->start + m->file_offset : f->pc[i]);
	}
	diag("%s (end %d):%s", who, (int)f->end, f->count ? line : "");
}

/* If libunwind cannot unwind libc there is nothing to compare with. */
static void report(const char *what, unsigned least)
{
	if (!self_libc_has_cfi(table)) {
		tap_skip(what, NO_LIBC_CFI);
		now = (struct comparison){0};
		return;
	}
	ok(now.stacks >= least && now.same == now.stacks, "%s: %u stacks match libunwind's", what,
		now.same);
	diag("stacks %u, differ %u, without a rule %u, deepest %u", now.stacks, now.differ,
		now.no_rule, now.depth_max);
	if (now.differ) {
		diag_frames("rows", &now.mine);
		diag_frames("libunwind", &now.other);
	}
	now = (struct comparison){0};
}

static void on_signal(int sig, siginfo_t *info, void *ucontext)
{
	(void)sig;
	(void)info;
	compare(ucontext);
}

static void handle(int sig, void (*fn)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa = {.sa_sigaction = fn, .sa_flags = SA_SIGINFO | flags};

	sigaction(sig, &sa, NULL);
}

/* --- work to interrupt -------------------------------------------------------------------------------- */

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static volatile double sink;

/* No long decimals: libc's mpn_* functions push registers without describing it in their CFI. */
static void work(void)
{
	static int numbers[64];
	static unsigned char in[300], out[600], back[300];
	char text[256];
	uLongf out_bytes = sizeof out, back_bytes = sizeof back;
	struct timespec ts;

	for (int i = 0; i < 64; i++)
		numbers[i] = (i * 7919) % 64;
	qsort(numbers, 64, sizeof numbers[0], compare_ints);
	snprintf(text, sizeof text, "%s %d %lx %p %-20s|", "text", numbers[5], 4711L, (void *)in,
		"pad");
	sink = pow(1.0001, numbers[9] + 100.5) + sin(1e22) + strtol(text + 5, NULL, 10);
	for (size_t i = 0; i < sizeof in; i++)
		in[i] = (unsigned char)(i % 251 * (i / 17));
	compress2(out, &out_bytes, in, sizeof in, 6);
	uncompress(back, &back_bytes, out, out_bytes);
	free(realloc(malloc(100), 5000));
	clock_gettime(CLOCK_MONOTONIC, &ts);
	memmove(in + 1, in, sizeof in - 1);
	sink += (double)strlen(text) + (double)getppid();
}

/* --- one instruction at a time ------------------------------------------------------------------------ */

#if defined(__x86_64__)
static unsigned steps, stride;

static void on_step(int sig, siginfo_t *info, void *ucontext)
{
	(void)sig;
	(void)info;
	if (steps++ % stride == 0)
		compare(ucontext);
}

/* Separate functions, as inline assembly could not describe its pushes in the caller's CFI. */
void trap_on(void);
void trap_off(void);
#define TRAP_FUNCTION(name, change)              \
	".type " name ", @function\n" name ":\n" \
	"	.cfi_startproc\n"                      \
	"	pushfq\n"                              \
	"	.cfi_adjust_cfa_offset 8\n"            \
	"	" change ", (%rsp)\n"            \
	"	popfq\n"                               \
	"	.cfi_adjust_cfa_offset -8\n"           \
	"	ret\n"                                 \
	"	.cfi_endproc\n"
__asm__(".text\n" TRAP_FUNCTION("trap_on", "orl $0x100") TRAP_FUNCTION("trap_off", "andl $~0x100"));

static void test_every_instruction(void)
{
	int numbers[] = {3, 1, 5, 4, 2};

	handle(SIGTRAP, on_step, 0);
	stride = 1;
	trap_on();
	qsort(numbers, 5, sizeof numbers[0], compare_ints);
	trap_off();
	report("every instruction of a qsort", 500);
	work(); /* completes lazy binding: ld.so keeps a stack pointer in rbx there, which no row can express */
	stride = 7;
	trap_on();
	work();
	trap_off();
	diag("%u instructions", steps);
	report("one in 7 of qsort, printf, pow, deflate, malloc, clock_gettime", 5000);
}
#else
static void test_every_instruction(void)
{
	diag("single-stepping is tested on x86-64 only");
}
#endif

/* --- signals at arbitrary points ---------------------------------------------------------------------- */

static void *work_until(void *enough)
{
	while (now.stacks < *(unsigned *)enough)
		work();
	return NULL;
}

/* Whether this runs under user-mode emulation, which lacks process_vm_readv. */
static bool is_emulated(void)
{
	char byte = 0, copy;
	struct iovec from = {&byte, 1}, to = {&copy, 1};

	return ARCH_HAS_LINK && process_vm_readv(getpid(), &to, 1, &from, 1, 0) < 0 &&
	       errno == ENOSYS;
}

static void test_timer(void)
{
	struct itimerval timer = {{0, 997}, {0, 997}}, off = {{0, 0}, {0, 0}};
	unsigned enough = 300;
	pthread_t thread;
	sigset_t prof;

	/* In one of fifteen runs libunwind crashes after a signal, or reports a function as its own caller. */
	if (is_emulated()) {
		tap_skip("signals of a timer in a thread",
			"libunwind is unreliable under emulation");
		return;
	}
	handle(SIGPROF, on_signal, SA_RESTART);
	/* The worker has another root than main; this thread is excluded. */
	pthread_create(&thread, NULL, work_until, &enough);
	sigemptyset(&prof);
	sigaddset(&prof, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &prof, NULL);
	setitimer(ITIMER_PROF, &timer, NULL);
	pthread_join(thread, NULL);
	setitimer(ITIMER_PROF, &off, NULL);
	pthread_sigmask(SIG_UNBLOCK, &prof, NULL);
	report("signals of a timer in a thread", enough);
}

static void on_outer(int sig, siginfo_t *info, void *ucontext)
{
	int numbers[] = {3, 1, 2};

	(void)sig;
	(void)info;
	(void)ucontext;
	qsort(numbers, 3, sizeof numbers[0], compare_ints);
	raise(SIGUSR2);
}

static int raise_and_compare(const void *a, const void *b)
{
	raise(SIGUSR1);
	return compare_ints(a, b);
}

static void test_nested(void)
{
	static char alternate[65536];
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
	int numbers[] = {5, 2, 8, 1, 9, 3};

	sigaltstack(&stack, NULL);
	handle(SIGUSR2, on_signal, 0);
	handle(SIGUSR1, on_outer, 0);
	qsort(numbers, 6, sizeof numbers[0], raise_and_compare);
	report("a handler in a handler in a qsort callback", 6);
	handle(SIGUSR1, on_outer, SA_ONSTACK);
	qsort(numbers, 6, sizeof numbers[0], raise_and_compare);
	report("a handler in a handler on another stack in a qsort callback", 6);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}

static volatile int fault_at;

static void on_fault(int sig, siginfo_t *info, void *ucontext)
{
	ucontext_t *uc = ucontext;

	(void)sig;
	(void)info;
	compare(uc);
#if defined(__x86_64__) /* continue with a valid address */
	uc->uc_mcontext.gregs[REG_RDI] = (greg_t)(uintptr_t)&fault_at;
#else
	uc->uc_mcontext.regs[0] = (uintptr_t)&fault_at;
#endif
}

__attribute__((noinline)) static int load_from(const int *p)
{
	int v;

#if defined(__x86_64__)
	__asm__ volatile("mov (%1), %0" : "=r"(v) : "D"(p)); /* the handler repairs rdi */
#else
	register const int *at __asm__("x0") = p;

	__asm__ volatile("ldr %w0, [%1]" : "=r"(v), "+r"(at));
#endif
	return v;
}

static void test_fault(void)
{
	handle(SIGSEGV, on_fault, 0);
	is_int(load_from(NULL), 0, "the handler repairs a fault");
	report("a fault in a leaf function", 1);
	signal(SIGSEGV, SIG_DFL);
}

/* --- hostile blocks ----------------------------------------------------------------------------------- */

static struct unwind_rows *copy_of(const struct unwind_rows *r)
{
	struct unwind_rows *c = malloc(r->bytes);

	memcpy(c, r, r->bytes);
	return c;
}

static void refuse(const struct unwind_rows *good, size_t word, uint32_t value, const char *why)
{
	struct unwind_rows *c = copy_of(good);

	((uint32_t *)c)[word] = value;
	ok(!unwind_rows_check(c, good->bytes), "a damaged block is refused: %s", why);
	free(c);
}

static void test_hostile_blocks(void)
{
	const struct unwind_rows *good = table->modules[0].rows;
	size_t pages = 5, rows = pages + good->page_count + 1, rules = rows + good->row_count;

	ok(unwind_rows_check(good, good->bytes), "a good block passes the check");
	ok(!unwind_rows_check(good, good->bytes - 4), "a truncated block is refused");
	ok(!unwind_rows_check(good, 8), "a block shorter than its header is refused");
	refuse(good, 0, good->bytes + 4, "longer than its bytes");
	refuse(good, 2, good->page_count + 1, "one page too many");
	refuse(good, 2, 0xfffffffeu, "a page count that overflows sizes");
	refuse(good, 3, good->row_count + 3, "too many rows");
	refuse(good, 3, 0xffffffffu, "a row count that overflows sizes");
	refuse(good, 4, good->rule_count - 1, "too few rules");
	refuse(good, 1, 0xffffffffu, "a first page at the end of the address space");
	refuse(good, pages, 1, "a first page that does not begin with row 0");
	refuse(good, pages + good->page_count, good->row_count + 1, "a last page beyond the rows");
	refuse(good, pages + 1, 0xffffff00u, "a page beyond the rows");
	refuse(good, rows + 1, ((const uint32_t *)good)[rows], "a duplicate row");
	refuse(good, rows + 1, ((const uint32_t *)good)[rows + 1] | 0xffff0000u,
		"a row with an invalid rule");
	refuse(good, rules, 0x000000ffu, "a rule with an unknown CFA");
	refuse(good, rules, 0x0000ff03u, "a rule with an unknown location of fp");
	refuse(good, rules, 0x00ff0003u, "a rule with an unknown location of the return address");
}

/* Blocks with random damage either fail the check or answer lookups everywhere without touching other memory. */
static void test_damaged_blocks(void)
{
	const struct unwind_rows *good = table->modules[0].rows;
	uint64_t random = 7, sum = 0;
	unsigned passed = 0, refused = 0;

	for (int round = 0; round < 2000; round++) {
		struct unwind_rows *c = copy_of(good);

		for (int i = 0; i <= round % 3; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			((unsigned char *)c)[(random >> 20) % good->bytes] ^=
				(unsigned char)(random >> 56);
		}
		if (unwind_rows_check(c, good->bytes)) {
			passed++;
			for (uint64_t at = 0; at < 1u << 20; at += 4093) {
				const struct unwind_rule *rule = unwind_rows_find(c, at);

				sum += rule ? rule->cfa : 0;
			}
		} else {
			refused++;
		}
		free(c);
	}
	ok(passed && refused && sum,
		"random damage: %u blocks are refused, %u still pass and are searched safely",
		refused, passed);
}

/* --- hostile stacks ----------------------------------------------------------------------------------- */

static bool no_memory(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	(void)mem;
	(void)addr;
	(void)out;
	(void)bytes;
	return false;
}

static bool all_ones(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	(void)mem;
	(void)addr;
	memset(out, 0xff, bytes);
	return true;
}

static bool all_zero(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	(void)mem;
	(void)addr;
	memset(out, 0, bytes);
	return true;
}

static void test_hostile_stacks(void)
{
	const struct walk_mem none = {.load = no_memory, .ctx = NULL},
			      ones = {.load = all_ones, .ctx = NULL},
			      zero = {.load = all_zero, .ctx = NULL};
	const struct unwind_module *m = &table->modules[0];
	unsigned ends[UNWIND_STUCK + 1] = {0}, endless = 0;

	for (uint64_t pc = m->start; pc < m->end; pc++) {
		const struct walk_mem *memories[] = {&none, &ones, &zero};

		for (int i = 0; i < 3; i++) {
			struct walk_regs r = {.pc = pc, .sp = (uint64_t)-24, .fp = pc};
			enum unwind_result end = UNWIND_OK;
			int n = 0;

			for (; n < 10 && end <= UNWIND_OK_EXACT; n++)
				end = unwind_step(table, memories[i], &r, n == 0);
			endless += n == 10;
			ends[end]++;
		}
	}
	diag("roots %u, no row %u, faults %u, stuck %u", ends[UNWIND_ROOT], ends[UNWIND_NO_ROW],
		ends[UNWIND_FAULT], ends[UNWIND_STUCK]);
	ok(!endless && ends[UNWIND_FAULT] && ends[UNWIND_STUCK] && ends[UNWIND_NO_ROW],
		"stepping from every pc over unreadable, all-ones and all-zero stacks ends with a "
		"reason");
}

int main(void)
{
	table = self_table();
	memory = self_mem();
	test_every_instruction();
	test_timer();
	test_nested();
	test_fault();
	test_hostile_blocks();
	test_damaged_blocks();
	test_hostile_stacks();
	return tap_done();
}
