/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGSEGV and SIGBUS: a fault of a guarded load is skipped, everything else goes on as if we were
 * not here.
 *
 * Ours is installed with the mask and flags of the handler it covers, so that one runs exactly as
 * the kernel would have run it. When somebody installs a handler on top of ours in the middle of a
 * session (and chains to us), the next level goes on top of that. Whoever has seen a level may put it
 * back or call it at any time later, so each has an entry function of its own and covers the same
 * handler for good.
 *
 * Handlers that were saved and put back in any order can come to call each other in a circle: what is
 * called from a fault is marked in that fault's own context, and a level that is called a second time
 * goes on with what was there before all of ours.
 */
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/load/fetch.h"
#include "walk/load/guard.h"

#include <errno.h>
#include <ucontext.h>

#define FAULT_LEVELS 8

/* Whether ours of SIGSEGV is relied on by who does not ask the kernel each time. Never again once it was gone. */
enum { TRUST_NOT_YET, TRUST_OURS, TRUST_LOST };
static _Atomic uint32_t fault_trust;

static const int fault_signals[] = {SIGSEGV, SIGBUS};
#define FAULT_SIGNALS (sizeof(fault_signals) / sizeof(fault_signals[0]))

struct fault_level {
	struct raw_sigaction old; /* never changes once it is used */
	_Atomic uint32_t reset;   /* old had SA_RESETHAND and has run */
	bool used;
};

static struct fault_level fault_levels[FAULT_SIGNALS][FAULT_LEVELS];

/* While a handler is exchanged it is not sure yet which one is covered: faults come again until it is. */
static _Atomic uint32_t fault_moving[FAULT_SIGNALS];

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
	struct raw_sigaction *old = &level->old;

	if (old->handler == (void *)SIG_IGN && info->si_code <= 0)
		return;
	if (old->handler == (void *)SIG_DFL || old->handler == (void *)SIG_IGN ||
		(old->flags & SA_RESETHAND && atomic_exchange(&level->reset, 1)))
		fault_default(sig, info);
	else
		((void (*)(int, siginfo_t *, void *))old->handler)(sig, info, context);
}

/*
 * fault_marks: which levels this fault is in, by bits. In a field of its context that the kernel leaves empty and does
 * not look at when the handler returns.
 */
#define FAULT_MARK  0x6a686f7400000000ull
#define FAULT_MARKS 0xffffffffull
static uint64_t fault_marks(const void *context)
{
	uint64_t link = (uintptr_t)((const ucontext_t *)context)->uc_link;

	return (link & ~FAULT_MARKS) == FAULT_MARK ? link & FAULT_MARKS : 0;
}

static void fault_mark(void *context, uint64_t marks)
{
	((ucontext_t *)context)->uc_link = (void *)(uintptr_t)(marks ? FAULT_MARK | marks : 0);
}

/* fault_hand_on: to what this level covers; in a circle to what was there first, and then to the kernel. */
static void fault_hand_on(uint32_t number, int sig, siginfo_t *info, void *context)
{
	struct fault_level *levels = fault_levels[sig == SIGSEGV ? 0 : 1];
	uint64_t marks = fault_marks(context), mine = 1ull << number;
	uint64_t first = 1ull << FAULT_LEVELS;

	if (!(marks & mine)) {
		fault_mark(context, marks | mine);
		fault_pass(&levels[number], sig, info, context);
	} else if (!(marks & first)) {
		fault_mark(context, marks | first);
		fault_pass(&levels[0], sig, info, context);
	} else {
		fault_default(sig, info);
	}
	fault_mark(context, marks);
}

static void fault_handle(uint32_t number, int sig, siginfo_t *info, void *context)
{
	_Atomic uint32_t *inside;
	struct sampler *s;

	if (info->si_code > 0 && (guard_recover(context) || fetch_recover(context)))
		return;
	if (info->si_code > 0 && atomic_load(&fault_moving[sig == SIGSEGV ? 0 : 1]))
		return;
	s = sig_enter(&inside);
	if (s)
		counters_add(&s->counters, COUNTER_FAULTS_PASSED, 1);
	sig_leave(inside);
	fault_hand_on(number, sig, info, context);
}

#define FAULT_ENTRY(n)                                                       \
	static void fault_entry_##n(int sig, siginfo_t *info, void *context) \
	{                                                                    \
		fault_handle(n, sig, info, context);                         \
	}
FAULT_ENTRY(0)
FAULT_ENTRY(1)
FAULT_ENTRY(2)
FAULT_ENTRY(3)
FAULT_ENTRY(4)
FAULT_ENTRY(5)
FAULT_ENTRY(6)
FAULT_ENTRY(7)

static void (*const fault_entries[FAULT_LEVELS])(int, siginfo_t *, void *) = {fault_entry_0,
	fault_entry_1, fault_entry_2, fault_entry_3, fault_entry_4, fault_entry_5, fault_entry_6,
	fault_entry_7};

/* fault_level_of: which of our entries this action is, -1 if none. */
static int fault_level_of(const struct raw_sigaction *action)
{
	for (int level = 0; level < FAULT_LEVELS; level++) {
		if (action->handler == (void *)fault_entries[level])
			return level;
	}
	return -1;
}

static bool fault_same(const struct raw_sigaction *a, const struct raw_sigaction *b)
{
	return a->handler == b->handler && a->flags == b->flags && a->mask == b->mask;
}

/* fault_level_for: the level that covers this action; one more if there is none yet; NULL: there are too many. */
static struct fault_level *fault_level_for(size_t i, const struct raw_sigaction *covered)
{
	for (struct fault_level *l = fault_levels[i]; l < fault_levels[i] + FAULT_LEVELS; l++) {
		if (l->used && !fault_same(&l->old, covered))
			continue;
		l->old = *covered;
		l->used = true;
		atomic_store(&l->reset, 0);
		return l;
	}
	return NULL;
}

/*
 * fault_exchange: `to` in the place of `from`. Another's that came in between is put back on top, and all is as if we
 * had not been there: -EAGAIN.
 */
static int fault_exchange(
	size_t i, const struct raw_sigaction *from, const struct raw_sigaction *to)
{
	struct raw_sigaction expected = *from, put = *to, was;
	int error, wrong = 0;

	atomic_store(&fault_moving[i], 1);
	while ((error = raw_sigaction_set(fault_signals[i], &put, &was)) == 0 &&
		!fault_same(&was, &expected)) {
		expected = put;
		put = was;
		wrong = -EAGAIN;
	}
	atomic_store(&fault_moving[i], 0);
	return error < 0 ? error : wrong;
}

static void trust_lose(void)
{
	uint32_t ours = TRUST_OURS;

	atomic_compare_exchange_strong(&fault_trust, &ours, TRUST_LOST);
}

bool sig_fault_trusted(void)
{
	return atomic_load_explicit(&fault_trust, memory_order_relaxed) == TRUST_OURS;
}

static int fault_install(size_t i)
{
	struct raw_sigaction now, ours;
	struct fault_level *level;
	int error = raw_sigaction_get(fault_signals[i], &now);

	if (error < 0 || fault_level_of(&now) >= 0)
		return error;
	if (i == 0)
		trust_lose();
	level = fault_level_for(i, &now);
	if (!level)
		return -EBUSY;
	ours = raw_sigaction_make(fault_entries[level - fault_levels[i]],
		now.flags & ~(unsigned long)SA_RESETHAND, now.mask);
	return fault_exchange(i, &now, &ours);
}

int sig_fault_ensure(void)
{
	int worst = 0;
	uint32_t not_yet = TRUST_NOT_YET;

	for (size_t i = 0; i < FAULT_SIGNALS; i++) {
		int error = fault_install(i);

		if (error < 0 && error != -EAGAIN)
			worst = error;
	}
	if (sig_fault_ours())
		atomic_compare_exchange_strong(&fault_trust, &not_yet, TRUST_OURS);
	return worst;
}

bool sig_fault_ours(void)
{
	struct raw_sigaction now;

	if (raw_sigaction_get(SIGSEGV, &now) == 0 && fault_level_of(&now) >= 0)
		return true;
	trust_lose();
	return false;
}

void sig_fault_leave(void)
{
	uint32_t ours = TRUST_OURS;

	atomic_compare_exchange_strong(&fault_trust, &ours, TRUST_NOT_YET);
	for (size_t i = 0; i < FAULT_SIGNALS; i++) {
		struct raw_sigaction now;
		int level;

		if (raw_sigaction_get(fault_signals[i], &now) < 0)
			continue;
		level = fault_level_of(&now);
		if (level >= 0)
			fault_exchange(i, &now, &fault_levels[i][level].old);
	}
}
