/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which signal the engines send: the first of a short list that nobody handles.
 *
 * SA_ONSTACK: a thread that has set up an alternate stack has done so because its own may be too
 * small (Go's rule for programs that embed it). SA_RESTART: as little of the target as possible
 * sees EINTR.
 */
#include "sampler/raw.h"
#include "sampler/sig.h"

#include <errno.h>

static const int sig_candidates[] = {SIGPROF, SIGVTALRM, SIGSTKFLT};

bool sig_owned(int sig)
{
	struct raw_sigaction now;

	return raw_sigaction_get(sig, &now) == 0 && now.handler == (void *)sig_sample;
}

static bool sig_take_free(int sig)
{
	struct raw_sigaction ours = raw_sigaction_make(sig_sample, SA_RESTART | SA_ONSTACK, 0), now;

	if (raw_sigaction_get(sig, &now) < 0 ||
		(now.handler != (void *)SIG_DFL && now.handler != (void *)SIG_IGN))
		return false;
	return raw_sigaction_set(sig, &ours, NULL) == 0;
}

int sig_choose(void)
{
	for (size_t i = 0; i < sizeof(sig_candidates) / sizeof(sig_candidates[0]); i++) {
		if (sig_owned(sig_candidates[i]) || sig_take_free(sig_candidates[i]))
			return sig_candidates[i];
	}
	return -EBUSY;
}
