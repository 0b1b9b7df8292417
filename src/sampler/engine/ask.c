/* SPDX-License-Identifier: Apache-2.0 */
/* Requesting a sample from a thread. */
#include "sampler/engine/ask.h"

#include "base/clock.h"
#include "sampler/engine/collect.h"
#include "sampler/engine/ctimer.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#define WAIT_TRIES 20 /* of 1 ms each */

bool ask_signal(struct sampler *s, struct thread_slot *slot, uint32_t event)
{
	int32_t signo = sampler_signal(s, slot);
	siginfo_t info = {.si_signo = signo, .si_code = SI_QUEUE};
	/* Others are judged by the publisher's last reading. */
	bool read_now = sampler_native(slot) || atomic_load(&slot->collect.unread);

	if (read_now ? !collect_permits(s, slot) : atomic_load(&slot->collect.refused) != 0)
		return false;
	info.si_value.sival_int = (int)(ENGINE_COOKIE | event);
	info.si_pid = s->pid;
	return raw(SYS_rt_tgsigqueueinfo, s->pid, atomic_load(&slot->tid), signo, &info) >= 0;
}

void ask_unanswered(struct sampler *s, struct thread_slot *slot, enum thread_ask who,
	uint32_t event, uint32_t state)
{
	bool refused = atomic_load(&slot->collect.refused);
	struct stack_sample sample = {.event = event,
		.state = state,
		.count = 1,
		.weight = atomic_exchange(&slot->asked[who], 0)};

	if (!sample.weight)
		return;
	if (!refused)
		counters_add(&s->counters, COUNTER_UNANSWERED, 1);
	sig_frame_record(s, slot, 0,
		s->unknown_frames[refused ? WALK_BREAK_COLLECTS : WALK_BREAK_NO_FRAME], &sample);
}

void ask_wait(struct sampler *s, enum thread_ask who)
{
	struct thread_slot *slot = NULL;
	uint32_t asked = 1;

	for (int i = 0; i < WAIT_TRIES && asked; i++) {
		asked = 0;
		while ((slot = threads_after(s->threads, slot)))
			asked += atomic_load(&slot->asked[who]) != 0;
		if (asked)
			raw_sleep(NS_PER_MS);
	}
}
