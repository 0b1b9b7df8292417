/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry of the sampling handler: which stack it runs on, how much of the interrupted stack it uses, and how stacks
 * are released; the buffers that walks write to.
 */
#include "sampler/signal/entry.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "sampler/engine/ctimer.h"
#include "tests/tap.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define STACKS SIG_STACKS

static _Atomic uintptr_t ran_at, interrupted_at, frame_at;
static _Atomic int32_t ran_tid;
static _Atomic uint32_t runs, waiting, leave, without_buffer;
static _Atomic int jumps, waits;
static sigjmp_buf back;
static struct scratch *buffers;

/* In the agent this is the actual handler. */
void sig_handle(int sig, siginfo_t *info, void *ucontext, int32_t tid)
{
	const ucontext_t *context = ucontext;
	struct scratch *scratch = sig_scratch_acquire(buffers);

	without_buffer += !scratch;
	(void)sig;
	(void)info;
	ran_at = (uintptr_t)__builtin_frame_address(0);
	frame_at = (uintptr_t)ucontext;
#if defined(__x86_64__)
	interrupted_at = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#else
	interrupted_at = (uintptr_t)context->uc_mcontext.sp;
#endif
	ran_tid = tid;
	runs++;
	if (jumps)
		siglongjmp(back, 1);
	waiting += waits;
	while (waits && !leave)
		raw(SYS_sched_yield);
	if (scratch)
		sig_scratch_release(scratch);
}

static void signal_self(void)
{
	raw(SYS_tgkill, getpid(), raw_gettid(), SIGURG);
}

static void test_stack(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	signal_self();
	ok(runs == 1, "the handler runs");
	ok(ran_tid == raw_gettid(), "the handler gets the thread's tid");
	ok(ran_at > here + (1 << 20) || ran_at < here - (1 << 20),
		"the handler runs on another stack");
	ok(interrupted_at <= here && interrupted_at > here - (1 << 16),
		"the handler gets the interrupted stack pointer");
}

/* --- use of the interrupted stack --------------------------------------------------------------- */

#define SMALL 65536
static unsigned char *small;
static uint32_t runs_before;

static void *small_main(void *arg)
{
	(void)arg;
	memset(small, 0x5a, SMALL / 2); /* this thread runs in the other half */
	signal_self();
	return NULL;
}

static void test_untouched(void)
{
	size_t free = 0;
	pthread_attr_t attr;
	pthread_t thread;

	small = aligned_alloc(4096, SMALL);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, small, SMALL);
	runs_before = runs;
	pthread_create(&thread, &attr, small_main, NULL);
	pthread_join(thread, NULL);
	ok(runs == runs_before + 1, "a thread with a small stack is interrupted");
	while (free < SMALL / 2 && small[free] == 0x5a)
		free++;
	/* The kernel's frame has the siginfo and the return address below the ucontext. */
	ok(small + free == small + SMALL / 2 || (uintptr_t)small + free >= frame_at - 512,
		"nothing is written below the kernel's frame");
}

/* --- releasing stacks --------------------------------------------------------------------------- */

static void test_jumps(void)
{
	volatile int left = 4 * STACKS;

	jumps = 1;
	runs_before = runs;
	sigsetjmp(back, 1);
	if (left-- > 0)
		signal_self();
	jumps = 0;
	ok(runs == runs_before + 4 * STACKS, "a thread that left the handler by siglongjmp can "
					     "enter it again, any number of times");
	is_int(without_buffer, 0,
		"a thread that left the handler by siglongjmp gets its buffer again");
}

static void *waits_main(void *arg)
{
	(void)arg;
	signal_self();
	return NULL;
}

/* Walks outside of handlers, while every handler has a buffer. */
static void test_callbacks(void)
{
	struct scratch *buffer[SAMPLER_SCRATCH - STACKS];
	uint32_t count = 0;

	while (count < SAMPLER_SCRATCH - STACKS && (buffer[count] = sig_scratch_acquire(buffers)))
		count++;
	is_int(count, SAMPLER_SCRATCH - STACKS,
		"callbacks get buffers while every handler has one");
	ok(!sig_scratch_acquire(buffers), "one buffer more is refused");
	while (count)
		sig_scratch_release(buffer[--count]);
}

static void test_exhausted(void)
{
	siginfo_t info = {.si_code = SI_TIMER};
	pthread_t threads[STACKS];

	waits = 1;
	for (int i = 0; i < STACKS - 1;
		i++) /* the main thread still has the stack that it left by siglongjmp */
		pthread_create(&threads[i], NULL, waits_main, NULL);
	for (int ms = 0; ms < 5000 && waiting < STACKS - 1; ms++)
		usleep(1000);
	ok(waiting == STACKS - 1, "all stacks are in use at once");
	is_int(without_buffer, 0, "each handler has a buffer of its own");
	test_callbacks();
	runs_before = runs;
	pthread_create(&threads[STACKS - 1], NULL, waits_main, NULL);
	pthread_join(threads[STACKS - 1], NULL);
	ok(runs == runs_before, "a signal without_buffer a free stack is refused");
	ok(sig_refused_consume() == 0, "a refused signal that is not a timer's is not counted");
	info.si_value.sival_int = ENGINE_COOKIE;
	sig_refuse(SIGURG, &info);
	ok(sig_refused_consume() == 1 && sig_refused_consume() == 0,
		"a refused timer signal is counted once");
	leave = 1;
	for (int i = 0; i < STACKS - 1; i++)
		pthread_join(threads[i], NULL);
	waits = 0;
	runs_before = runs;
	pthread_create(&threads[0], NULL, waits_main, NULL);
	pthread_join(threads[0], NULL);
	ok(runs == runs_before + 1, "after the handlers returned a stack is available again");
}

int main(void)
{
	struct raw_sigaction action = raw_sigaction_make(sig_sample, SA_RESTART, ~0ull);

	buffers = raw_map(SAMPLER_SCRATCH * sizeof(*buffers));
	raw_sigaction_set(SIGURG, &action, NULL);
	test_stack();
	test_untouched();
	test_jumps();
	test_exhausted();
	return tap_done();
}
