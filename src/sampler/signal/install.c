/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the engines' signal: the first of a short list without a handler, or whose handler remains from an agent of
 * another version.
 *
 * Signals that are ignored by default come first: if a library restores the disposition from before the session, the
 * next signal of one of the others would terminate the process.
 *
 * SA_ONSTACK is set only where a runtime in this process needs it (install_on_alternate): the kernel's frame takes up
 * to 3.5 kB with AVX-512, more than some alternate stacks have, and no thread can read the size of another's alternate
 * stack. Without the flag the frame is pushed onto the thread's current stack.
 *
 * SA_RESTART keeps EINTR from the target as far as possible. The handler blocks everything except faults, by the
 * kernel's own call, since libc excludes the signal of pthread_cancel: a thread that ended in the handler, or jumped
 * out of it, would never release the resources that it holds there.
 */
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include <errno.h>

static const int sig_candidates[] = {SIGURG, SIGWINCH, SIGPROF, SIGVTALRM, SIGSTKFLT};
/* The first entries of the list are ignored by default. */
#define SIG_IGNORED 2

/*
 * glibc reserves this signal for pthread_cancel, musl for timers that start threads; both exclude it from the
 * signals that programs can block, wait for or handle. glibc installs its handler with the first pthread_cancel, over
 * ours; it ignores signals whose si_code is not SI_TKILL. Up to glibc 2.33 the handler is installed from the start, and
 * the reserved signal is not used.
 *
 * It is a real-time signal: when RLIMIT_SIGPENDING, shared by all processes of a user, is exhausted, the kernel sends
 * perf's signal as a plain SIGIO, which would terminate the process. So SIGIO must be ours as well.
 */
#define SIG_RESERVED 32

#define SIG_BIT(sig) (1ull << ((sig)-1))
/* Synchronous faults. Blocked, they would terminate the process. */
#define SIG_FAULTS                                                                 \
	(SIG_BIT(SIGSEGV) | SIG_BIT(SIGBUS) | SIG_BIT(SIGTRAP) | SIG_BIT(SIGILL) | \
		SIG_BIT(SIGFPE) | SIG_BIT(SIGSYS))

typedef bool leftover_fn(struct sampler *s, uint64_t handler);

/*
 * True when a runtime in this process runs code on stacks too small for a signal frame. Go does; its runtime gives
 * each of its threads an alternate stack of 32 kB and handles SIGFPE and SIGURG on it. HotSpot and its libraries do
 * not set SA_ONSTACK. If Go is loaded later, it replaces our handler of SIGURG, or adds the flag to it.
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

/*
 * True when our handler is installed, already or now. Replaces no foreign handler, except one for which leftover()
 * returns true; leftover may be NULL.
 */
static bool sig_install(int sig, struct sampler *s, leftover_fn *leftover)
{
	unsigned long flags = SA_RESTART | (install_on_alternate() ? SA_ONSTACK : 0);
	struct raw_sigaction wanted = raw_sigaction_make(sig_sample, flags, ~SIG_FAULTS), now;

	if (raw_sigaction_get(sig, &now) < 0)
		return false;
	if (now.handler == wanted.handler && (now.flags & SA_ONSTACK) == (flags & SA_ONSTACK))
		return true;
	if (now.handler == wanted.handler)
		return raw_sigaction_set(sig, &wanted, NULL) == 0;
	if (now.handler != (void *)SIG_DFL && now.handler != (void *)SIG_IGN &&
		!(leftover && leftover(s, (uint64_t)(uintptr_t)now.handler)))
		return false;
	return raw_sigaction_set(sig, &wanted, NULL) == 0;
}

bool sig_reinstall(int sig)
{
	return sig_install(sig, NULL, NULL);
}

bool sig_reinstall_reserved(int sig)
{
	return sig_reinstall(SIGIO) && sig_reinstall(sig);
}

int sig_choose(struct sampler *s, uint64_t collected, leftover_fn *leftover)
{
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(sig_candidates) / sizeof(sig_candidates[0]); i++) {
			int sig = sig_candidates[i];

			if ((round == 0) == !(collected & SIG_BIT(sig)) &&
				sig_install(sig, s, leftover))
				return sig;
		}
	}
	return -EBUSY;
}

int sig_choose_again(uint64_t collected)
{
	for (size_t i = 0; i < SIG_IGNORED; i++) {
		int sig = sig_candidates[i];

		if (!(collected & SIG_BIT(sig)) && sig_install(sig, NULL, NULL))
			return sig;
	}
	return -EBUSY;
}

int sig_choose_reserved(struct sampler *s, uint64_t collected, leftover_fn *leftover)
{
	return !(collected & SIG_BIT(SIG_RESERVED)) && sig_install(SIGIO, s, leftover) &&
			       sig_install(SIG_RESERVED, s, leftover)
		       ? SIG_RESERVED
		       : -EBUSY;
}
