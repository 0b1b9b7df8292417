/* SPDX-License-Identifier: Apache-2.0 */
/* The table of session epochs: which are in use, and when the memory of an ended session may be freed. */
#include "sampler/session/epochs.h"

#include "base/clock.h"
#include "sampler/session/memory.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#define POLL_NS 500000

/* Sessions whose sig_epoch was not empty at their end, by its index. */
static _Atomic(struct sampler *) epochs_retired[SIG_EPOCHS];
static _Atomic uint64_t retained_bytes;

static bool epoch_is_empty(const struct sig_epoch *epoch)
{
	return !atomic_load(&epoch->inside[0]) && !atomic_load(&epoch->inside[1]);
}

bool epochs_acquire(struct sampler *s)
{
	bool found = false;

	for (uint32_t i = 0; i < SIG_EPOCHS; i++) {
		struct sig_epoch *epoch = &sig_epochs[i];

		if (atomic_load(&epoch->session) || !epoch_is_empty(epoch))
			continue;
		struct sampler *retired = atomic_exchange(&epochs_retired[i], NULL);
		if (retired) {
			atomic_fetch_sub(&retained_bytes, retired->memory_bytes);
			sampler_free(retired);
		}
		s->session_epoch = found ? s->session_epoch : i;
		found = true;
	}
	return found;
}

void epochs_open(struct sampler *s)
{
	atomic_store(&sig_epochs[s->session_epoch].session, s);
	atomic_store(&sig_epoch_current, s->session_epoch);
}

void epochs_close(struct sampler *s)
{
	atomic_store(&sig_epochs[s->session_epoch].session, NULL);
}

bool epochs_drain(struct sampler *s, uint64_t ns)
{
	uint64_t end = clock_mono_ns() + ns;

	while (!(s->drained = epoch_is_empty(&sig_epochs[s->session_epoch])) &&
		clock_mono_ns() < end)
		raw_sleep(POLL_NS);
	return s->drained;
}

void epochs_release(struct sampler *s)
{
	if (atomic_fetch_sub(&s->references, 1) > 1)
		return;
	if (s->drained) {
		sampler_free(s);
		return;
	}
	atomic_fetch_add(&retained_bytes, s->memory_bytes);
	/* An earlier session retained there stays mapped for good, and is counted. */
	(void)atomic_exchange(&epochs_retired[s->session_epoch], s);
}

int epochs_spawn(struct sampler *s, const struct spawn *how)
{
	atomic_fetch_add(&s->references, 1);
	int error = spawn(how);
	if (error)
		atomic_fetch_sub(&s->references, 1);
	return error;
}

void epochs_thread_ends(struct sampler *s, _Atomic uint32_t *left)
{
	atomic_store(left, 1);
	raw_futex_wake(left);
	epochs_release(s);
}

uint64_t epochs_retained(void)
{
	return atomic_load(&retained_bytes);
}
