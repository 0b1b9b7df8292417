/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGSEGV and SIGBUS: a fault of a guarded load is skipped, everything else goes on as if we were
 * not here.
 *
 * Ours is installed with the mask and flags of the handler it covers, so that one runs exactly as
 * the kernel would have run it. When somebody installs a handler on top of ours in the middle of a
 * session (and chains to us), the next level goes on top of that; a level that was covered stays
 * as a pass-through for good, which is why each has an entry function and a predecessor of its
 * own.
 */
#include "sampler/raw.h"
#include "sampler/sig.h"

#include "walk/guard.h"

#include <errno.h>

#define FAULT_LEVELS 4

static const int fault_signals[] = {SIGSEGV, SIGBUS};
#define FAULT_SIGNALS (sizeof(fault_signals) / sizeof(fault_signals[0]))

struct fault_level {
	struct raw_sigaction old[FAULT_SIGNALS];
	_Atomic uint32_t reset[FAULT_SIGNALS]; /* old had SA_RESETHAND and has run */
	bool installed[FAULT_SIGNALS];         /* may still be called by someone */
};

static struct fault_level fault_levels[FAULT_LEVELS];

/* fault_default: let the kernel do what it does without a handler. */
static void fault_default(int sig, const siginfo_t *info)
{
	struct raw_sigaction plain = {.handler = (void *)SIG_DFL};

	raw_sigaction_set(sig, &plain, NULL);
	if (info->si_code <= 0) /* sent, not a fault: it will not come again by itself */
		raw(SYS_tgkill, raw(SYS_getpid), raw_gettid(), sig);
}

static void fault_pass(struct fault_level *level, int sig, siginfo_t *info, void *context)
{
	size_t i = sig == SIGSEGV ? 0 : 1;
	struct raw_sigaction *old = &level->old[i];

	if (old->handler == (void *)SIG_IGN && info->si_code <= 0)
		return;
	if (old->handler == (void *)SIG_DFL || old->handler == (void *)SIG_IGN ||
		(old->flags & SA_RESETHAND && atomic_exchange(&level->reset[i], 1)))
		fault_default(sig, info);
	else
		((void (*)(int, siginfo_t *, void *))old->handler)(sig, info, context);
}

static void fault_handle(struct fault_level *level, int sig, siginfo_t *info, void *context)
{
	struct sampler *s;

	if (info->si_code > 0 && guard_recover(context))
		return;
	s = sig_enter();
	if (s)
		counters_add(&s->counters, COUNTER_FAULTS_PASSED, 1);
	sig_leave();
	fault_pass(level, sig, info, context);
}

#define FAULT_ENTRY(n)                                                       \
	static void fault_entry_##n(int sig, siginfo_t *info, void *context) \
	{                                                                    \
		fault_handle(&fault_levels[n], sig, info, context);          \
	}
FAULT_ENTRY(0)
FAULT_ENTRY(1)
FAULT_ENTRY(2)
FAULT_ENTRY(3)

static void (*const fault_entries[FAULT_LEVELS])(int, siginfo_t *, void *) = {
	fault_entry_0, fault_entry_1, fault_entry_2, fault_entry_3};

/* fault_level_of: which of our entries this action is, -1 if none. */
static int fault_level_of(const struct raw_sigaction *action)
{
	for (int level = 0; level < FAULT_LEVELS; level++) {
		if (action->handler == (void *)fault_entries[level])
			return level;
	}
	return -1;
}

static int fault_install(size_t i)
{
	struct raw_sigaction now, ours;
	int error = raw_sigaction_get(fault_signals[i], &now);

	if (error < 0 || fault_level_of(&now) >= 0)
		return error;
	for (int level = 0; level < FAULT_LEVELS; level++) {
		struct fault_level *l = &fault_levels[level];

		if (l->installed[i])
			continue;
		l->old[i] = now;
		l->installed[i] = true;
		atomic_store(&l->reset[i], 0);
		ours = raw_sigaction_make(
			fault_entries[level], now.flags & ~(unsigned long)SA_RESETHAND, now.mask);
		return raw_sigaction_set(fault_signals[i], &ours, NULL);
	}
	return -EBUSY;
}

int sig_fault_ensure(void)
{
	for (size_t i = 0; i < FAULT_SIGNALS; i++) {
		int error = fault_install(i);

		if (error < 0)
			return error;
	}
	return 0;
}

void sig_fault_leave(void)
{
	for (size_t i = 0; i < FAULT_SIGNALS; i++) {
		struct raw_sigaction now;
		int level;

		if (raw_sigaction_get(fault_signals[i], &now) < 0)
			continue;
		level = fault_level_of(&now);
		if (level < 0 ||
			raw_sigaction_set(fault_signals[i], &fault_levels[level].old[i], NULL) < 0)
			continue;
		fault_levels[level].installed[i] = false;
	}
}
