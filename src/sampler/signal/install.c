/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which signal the engines send: the first of a short list that nobody handles, or whose handler is one that an agent of
 * another version has left.
 *
 * First those that a process without a handler ignores: a library that puts back what it found before us would have
 * the next signal of the others end the process.
 *
 * SA_ONSTACK only where a runtime in this process needs it (install_on_alternate): the kernel's frame takes up to 3.5 kB
 * with AVX-512, more than some alternate stacks have, and nobody can read the size of another thread's alternate
 * stack. Without the flag the frame goes to the stack that the thread runs on.
 *
 * SA_RESTART: as little of the target as possible sees EINTR. All that can wait is blocked meanwhile, by the kernel's own
 * call, since libc leaves out the signal of pthread_cancel: a thread that ended or jumped out of the handler would
 * never give back what it holds there.
 */
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include <errno.h>

static const int sig_candidates[] = {SIGURG, SIGWINCH, SIGPROF, SIGVTALRM, SIGSTKFLT};
#define SIG_IGNORED \
	2 /* the first two of the list: ignored by default where no handler is installed */

/*
 * glibc keeps it for pthread_cancel, musl for timers that start threads, and both out of what programs can block, wait for
 * or handle. glibc installs its handler with the first pthread_cancel, over ours; that passes over signals whose
 * si_code is not SI_TKILL. Up to glibc 2.33 the handler is there from the start, and we do without.
 *
 * It is a real-time signal: where RLIMIT_SIGPENDING, which all processes of a user share, is used up, the kernel sends
 * perf's as a plain SIGIO, which would end the process. So SIGIO must be ours as well.
 */
#define SIG_RESERVED 32

#define SIG_BIT(sig) (1ull << ((sig)-1))
/* What a thread brings upon itself: blocked, it would end the process. */
#define SIG_FAULTS                                                                 \
	(SIG_BIT(SIGSEGV) | SIG_BIT(SIGBUS) | SIG_BIT(SIGTRAP) | SIG_BIT(SIGILL) | \
		SIG_BIT(SIGFPE) | SIG_BIT(SIGSYS))

typedef bool left_fn(struct sampler *s, uint64_t handler);

/*
 * install_on_alternate: does a runtime in this process run code on stacks too small for a signal? Go does, by its rule
 * gives each of its threads an alternate stack of 32 kB, and handles SIGFPE and SIGURG on it. HotSpot and its libraries
 * do not set SA_ONSTACK. Go that is loaded later takes SIGURG, or adds the flag to our handler.
 */
static bool install_on_alternate(void)
{
	static const int of_runtimes[] = {SIGFPE, SIGURG};
	struct raw_sigaction now;

	for (size_t i = 0; i < sizeof(of_runtimes) / sizeof(of_runtimes[0]); i++) {
		if (raw_sigaction_get(of_runtimes[i], &now) == 0 && now.flags & SA_ONSTACK &&
			now.handler != (void *)SIG_DFL && now.handler != (void *)SIG_IGN &&
			now.handler != (void *)(uintptr_t)sig_sample)
			return true;
	}
	return false;
}

/* sig_take: ours is there already, or in the place of nobody's. left: or of one of which it says so; NULL: of none. */
static bool sig_take(int sig, struct sampler *s, left_fn *left)
{
	unsigned long flags = SA_RESTART | (install_on_alternate() ? SA_ONSTACK : 0);
	struct raw_sigaction ours = raw_sigaction_make(sig_sample, flags, ~SIG_FAULTS), now;

	if (raw_sigaction_get(sig, &now) < 0)
		return false;
	if (now.handler == ours.handler && (now.flags & SA_ONSTACK) == (flags & SA_ONSTACK))
		return true;
	if (now.handler == ours.handler)
		return raw_sigaction_set(sig, &ours, NULL) == 0;
	if (now.handler != (void *)SIG_DFL && now.handler != (void *)SIG_IGN &&
		!(left && left(s, (uint64_t)(uintptr_t)now.handler)))
		return false;
	return raw_sigaction_set(sig, &ours, NULL) == 0;
}

bool sig_keep(int sig)
{
	return sig_take(sig, NULL, NULL);
}

bool sig_keep_reserved(int sig)
{
	return sig_keep(SIGIO) && sig_keep(sig);
}

int sig_choose(struct sampler *s, uint64_t collected, left_fn *left)
{
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(sig_candidates) / sizeof(sig_candidates[0]); i++) {
			int sig = sig_candidates[i];

			if ((round == 0) == !(collected & SIG_BIT(sig)) && sig_take(sig, s, left))
				return sig;
		}
	}
	return -EBUSY;
}

int sig_choose_again(uint64_t collected)
{
	for (size_t i = 0; i < SIG_IGNORED; i++) {
		int sig = sig_candidates[i];

		if (!(collected & SIG_BIT(sig)) && sig_take(sig, NULL, NULL))
			return sig;
	}
	return -EBUSY;
}

int sig_choose_reserved(struct sampler *s, uint64_t collected, left_fn *left)
{
	return !(collected & SIG_BIT(SIG_RESERVED)) && sig_take(SIGIO, s, left) &&
			       sig_take(SIG_RESERVED, s, left)
		       ? SIG_RESERVED
		       : -EBUSY;
}
