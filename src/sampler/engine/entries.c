/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware breakpoints on the entries of compiled code. */
#include "sampler/engine/entries.h"

#include "base/clock.h"
#include "sampler/engine/perf_fd.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "walk/hotspot/code_cache.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <sys/ioctl.h>

#if defined(__aarch64__)
#define ENTRY_SP     PERF_REG_ARM64_SP
#define ENTRY_PUSHED 0u /* bytes between sp and the end of the callers' frames */
#else
#define ENTRY_SP     PERF_REG_X86_SP
#define ENTRY_PUSHED 8u
#endif

static int entry_open(uint64_t address, int32_t tid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr) < PERF_ATTR_SIZE_VER5 ? sizeof(attr) : PERF_ATTR_SIZE_VER5,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER,
		.sample_regs_user = 1ull << ENTRY_SP,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC};

	return perf_fd_breakpoint(&attr, address, tid);
}

/* --- what a hit costs -------------------------------------------------------------------------- */

#define MEASURED_HITS 32u
#define HIT_NS        (5 * NS_PER_US) /* assumed if it cannot be measured */
#define HITS_PART     2u              /* hits may use one part in this many of the budget */

static volatile uint32_t hits;

__attribute__((noinline)) static void hit_me(void)
{
	hits++;
}

/* The CPU time of a hit, measured on this thread. */
static uint64_t hit_ns(void)
{
	int fd = entry_open((uint64_t)(uintptr_t)hit_me, raw_gettid());
	uint64_t began, ns;

	if (fd < 0)
		return HIT_NS;
	raw(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0);
	began = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint32_t i = 0; i < MEASURED_HITS; i++)
		hit_me();
	ns = (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began) / MEASURED_HITS;
	perf_fd_close(fd, NULL);
	return ns ? ns : 1;
}

/* Entries per second that keep to the budget. */
static uint64_t entries_allowed(const struct sampler *s)
{
	uint64_t budget_ns = s->budget.per_mille * NS_PER_MS / HITS_PART, allowed;

	if (!budget_ns)
		return ENTRIES_PER_SECOND;
	allowed = budget_ns / hit_ns();
	return allowed < ENTRIES_PER_SECOND ? allowed + 1 : ENTRIES_PER_SECOND;
}

bool entries_learn(struct sampler *s, struct entries *e, uint64_t pc)
{
	struct entries_code *code = &e->codes[e->next % ENTRIES_CODES];
	struct code_blob blob;
	uint64_t entry;

	if (!e->allowed)
		e->allowed = entries_allowed(s);
	if (atomic_load(&e->off) || entries_recorded(e, pc) ||
		!code_cache_find(s->layout, &s->mem, pc, &blob) || blob.kind != CODE_NMETHOD ||
		code_osr_entry(s->layout, &blob))
		return false;
	entry = code_verified_entry(s->layout, &blob);
	if (entry < blob.start || entry >= blob.end)
		return false;
	atomic_store(&code->end, 0);
	code->entry = entry;
	atomic_store(&code->start, blob.code);
	atomic_store(&code->end, blob.end);
	e->next++;
	return true;
}

/* Closes all descriptors, and unmaps the ring, which belongs to the first. */
static void entries_close(struct entries_thread *t)
{
	for (uint32_t i = ENTRIES_CODES; i-- > 0;) {
		if (t->fds[i] >= 0)
			perf_fd_close(t->fds[i], i ? NULL : t->ring);
		t->fds[i] = -1;
	}
	t->ring = NULL;
}

void entries_arm(
	struct sampler *s, struct entries *e, struct entries_thread *t, struct thread_slot *slot)
{
	int error = 0;

	if (t->ring || t->closing || e->full || atomic_load(&e->off))
		return;
	for (uint32_t i = 0; i < ENTRIES_CODES; i++) {
		t->fds[i] = -1;
		if (!atomic_load(&e->codes[i].end) || error < 0)
			continue;
		t->fds[i] = entry_open(e->codes[i].entry, atomic_load(&slot->tid));
		if (t->fds[i] < 0)
			error = t->fds[i];
		else if (!t->ring)
			t->ring = perf_fd_ring(t->fds[i], &error);
		else
			error = (int)raw(
				SYS_ioctl, t->fds[i], PERF_EVENT_IOC_SET_OUTPUT, t->fds[0]);
	}
	/* A filter may forbid ioctl: then there would be no entries. */
	for (uint32_t i = 0; i < ENTRIES_CODES && error >= 0; i++)
		if (t->fds[i] >= 0)
			error = (int)raw(SYS_ioctl, t->fds[i], PERF_EVENT_IOC_ENABLE, 0);
	if (!t->ring || error < 0) {
		/* Limits on descriptors and locked memory leave the breakpoints that are set. */
		if (atomic_load(&slot->tid) && error < 0 && error != -ESRCH) {
			e->full = true;
			atomic_store(&e->off, !e->threads);
		}
		entries_close(t);
		return;
	}
	t->counted = false;
	e->threads++;
	atomic_store_explicit(&slot->call.ring, t->ring, memory_order_release);
}

bool entries_disarm(struct entries *e, struct entries_thread *t, struct thread_slot *slot)
{
	if (!t->ring)
		return true;
	/* Another thread may have the slot by now. */
	if (atomic_load(&slot->call.ring) == t->ring)
		atomic_store(&slot->call.ring, NULL);
	t->closing = true;
	for (uint32_t i = 0; i < ENTRIES_CODES; i++)
		if (t->fds[i] >= 0)
			perf_fd_disable(t->fds[i]);
	if (atomic_load(&slot->tid) && atomic_load(&slot->inside))
		return false;
	entries_close(t);
	*t = (struct entries_thread){.ring = NULL};
	e->threads--;
	e->full = false;
	return true;
}

void entries_report(struct entries *e, struct entries_thread *t, uint64_t head, uint64_t end,
	uint64_t now, struct entries_report *out)
{
	struct perf_samples samples;
	struct perf_entry entry;

	*out = (struct entries_report){.counted = false};
	if (!t->ring || t->closing || !head)
		return;
	sig_perf_open(&samples, t->ring);
	samples.head = head - 1 < samples.head ? head - 1 : samples.head;
	while (sig_perf_entry(&samples, &entry)) {
		out->count++;
		out->first_ns = out->first_ns ? out->first_ns : entry.time_ns;
		if (entry.sp + ENTRY_PUSHED != end)
			continue;
		out->here++;
		out->last_ns = entry.time_ns;
	}
	sig_perf_close(&samples);
	out->counted = t->counted && !samples.lost;
	t->counted = !samples.lost;
	if (now - e->second_ns > NS_PER_S) {
		e->second_ns = now;
		e->in_second = 0;
	}
	e->in_second += out->count;
	if (e->in_second > e->allowed)
		atomic_store(&e->off, 1);
}
