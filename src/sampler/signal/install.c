/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which signal the engines send: the first of a short list that nobody handles.
 *
 * First those that a process without a handler ignores: a library that puts back what it found before us would have
 * the next signal of the others end the process.
 *
 * SA_ONSTACK: a thread that has set up an alternate stack has done so because its own may be too
 * small (Go's rule for programs that embed it). SA_RESTART: as little of the target as possible
 * sees EINTR. All that can wait is blocked meanwhile, by the kernel's own call, since libc leaves out the signal of
 * pthread_cancel: a thread that ended or jumped out of the handler would never give back what it holds there.
 */
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include <errno.h>

static const int sig_candidates[] = {SIGURG, SIGWINCH, SIGPROF, SIGVTALRM, SIGSTKFLT};

#define SIG_BIT(sig) (1ull << ((sig)-1))
/* What a thread brings upon itself: blocked, it would end the process. */
#define SIG_FAULTS                                                                 \
	(SIG_BIT(SIGSEGV) | SIG_BIT(SIGBUS) | SIG_BIT(SIGTRAP) | SIG_BIT(SIGILL) | \
		SIG_BIT(SIGFPE) | SIG_BIT(SIGSYS))

static bool sig_owned(int sig)
{
	struct raw_sigaction now;

	return raw_sigaction_get(sig, &now) == 0 && now.handler == (void *)sig_sample;
}

static bool sig_take_free(int sig)
{
	struct raw_sigaction ours = raw_sigaction_make(
				     sig_sample, SA_RESTART | SA_ONSTACK, ~SIG_FAULTS),
			     now;

	if (raw_sigaction_get(sig, &now) < 0 ||
		(now.handler != (void *)SIG_DFL && now.handler != (void *)SIG_IGN))
		return false;
	return raw_sigaction_set(sig, &ours, NULL) == 0;
}

bool sig_keep(int sig)
{
	return sig_owned(sig) || sig_take_free(sig);
}

int sig_choose(void)
{
	for (size_t i = 0; i < sizeof(sig_candidates) / sizeof(sig_candidates[0]); i++) {
		if (sig_keep(sig_candidates[i]))
			return sig_candidates[i];
	}
	return -EBUSY;
}
