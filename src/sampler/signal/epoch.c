/* SPDX-License-Identifier: Apache-2.0 */
/* Session epochs, as seen by handlers. */
#include "sampler/signal/signal.h"

struct sig_epoch sig_epochs[SIG_EPOCHS];
_Atomic uint32_t sig_epoch_current;

struct sampler *sig_session(void)
{
	return atomic_load(&sig_epochs[atomic_load(&sig_epoch_current)].session);
}

/*
 * Threads that enter are counted on the current side. Only threads that had read the index before the last switch are
 * still added to the other side, and they have read nothing else of the session yet. So first the inactive side must
 * drain; then the sides are switched, and the side that has become inactive must drain as well.
 */
bool sig_passed(struct sampler *s, uint32_t *step)
{
	struct sig_epoch *epoch = &sig_epochs[s->session_epoch];
	uint32_t side = atomic_load(&epoch->side);

	for (; *step < 2; ++*step, side ^= 1) {
		if (atomic_load(&epoch->inside[side ^ 1]))
			return false;
		if (*step == 0)
			atomic_store(&epoch->side, side ^ 1);
	}
	*step = 0;
	return true;
}
