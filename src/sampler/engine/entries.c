/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware breakpoints on the entries of compiled code. */
#include "sampler/engine/entries.h"

#include "base/clock.h"
#include "sampler/engine/arms.h"
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

/* --- the cost of a hit -------------------------------------------------------------------------- */

#define COUNT_ONLY    (1ull << 40) /* no record in any burst */
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

	if (fd < 0)
		return HIT_NS;
	raw(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0);
	uint64_t began = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint32_t i = 0; i < MEASURED_HITS; i++)
		hit_me();
	uint64_t ns = (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began) / MEASURED_HITS;
	perf_fd_close(fd, NULL);
	return ns ? ns : 1;
}

/* Entries per second that keep to the budget. */
static uint64_t entries_allowed(const struct sampler *s, const struct entries *e)
{
	uint64_t budget_ns = s->budget.per_mille * NS_PER_MS / HITS_PART;

	if (!budget_ns)
		return ENTRIES_PER_SECOND;
	uint64_t allowed = budget_ns / e->hit_ns;
	return allowed < ENTRIES_PER_SECOND ? allowed + 1 : ENTRIES_PER_SECOND;
}

/* --- the code ----------------------------------------------------------------------------------- */

/* A place for other code: unused, or of code that is not entered any more; NULL: there is none. */
static struct entries_code *entries_place(struct sampler *s, struct entries *e)
{
	struct entries_code *stale = NULL;

	for (uint32_t i = 0; i < ENTRIES_CODES; i++) {
		struct entries_code *code = &e->codes[i];

		if (!atomic_load(&code->end))
			return code;
		if (code_of_method(s->layout, &s->mem, code->method) != code->nmethod)
			stale = code;
	}
	return stale;
}

bool entries_follow(struct sampler *s, struct entries *e, uint64_t method)
{
	uint64_t nmethod = code_of_method(s->layout, &s->mem, method);
	struct code_blob blob;

	if (!nmethod || atomic_load(&e->off))
		return false;
	for (uint32_t i = 0; i < ENTRIES_CODES; i++)
		if (atomic_load(&e->codes[i].end) && e->codes[i].nmethod == nmethod &&
			e->codes[i].method == method)
			return false;
	struct entries_code *code = entries_place(s, e);
	if (!code || !code_cache_at(s->layout, &s->mem, nmethod, &blob) ||
		blob.kind != CODE_NMETHOD || code_method(s->layout, &blob) != method)
		return false;
	uint64_t entry = code_verified_entry(s->layout, &blob);
	if (entry < blob.start || entry >= blob.end)
		return false;
	if (!e->allowed) {
		e->hit_ns = hit_ns();
		e->allowed = entries_allowed(s, e);
	}
	atomic_store(&code->end, 0);
	code->entry = entry;
	code->method = method;
	code->nmethod = nmethod;
	atomic_store(&code->start, blob.code);
	atomic_store(&code->end, blob.end);
	e->bursts.spoiled = true;
	return true;
}

void entries_forget(struct entries *e)
{
	for (uint32_t i = 0; i < ENTRIES_CODES; i++)
		atomic_store(&e->codes[i].end, 0);
	e->bursts.on = e->bursts.counting = false;
	e->in_second = 0;
	atomic_store(&e->off, 0);
}

/* --- threads ------------------------------------------------------------------------------------ */

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

static void thread_enable(struct entries_thread *t, bool enable)
{
	for (uint32_t i = 0; i < ENTRIES_CODES; i++)
		if (t->fds[i] >= 0)
			raw(SYS_ioctl, t->fds[i],
				enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* A record per `entries`. Hits without a record are cheaper, and the kernel does not throttle them. */
static void thread_period(struct entries_thread *t, uint64_t entries)
{
	for (uint32_t i = 0; i < ENTRIES_CODES; i++)
		if (t->fds[i] >= 0)
			raw(SYS_ioctl, t->fds[i], PERF_EVENT_IOC_PERIOD, &entries);
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
	for (uint32_t i = 0; i < ENTRIES_CODES && error >= 0 && !e->bursts.on; i++)
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
	if (e->bursts.on)
		thread_period(t, COUNT_ONLY);
	t->counted = false;
	e->threads++;
	atomic_store_explicit(&slot->call.ring, t->ring, memory_order_release);
}

/* Entries in the ring that have not been reported; empties it. */
static uint32_t ring_drop(struct entries_thread *t)
{
	struct perf_samples samples;
	struct perf_entry entry;
	uint32_t count = 0;

	sig_perf_open(&samples, t->ring);
	while (sig_perf_entry(&samples, &entry))
		count++;
	sig_perf_close(&samples);
	return count;
}

/* Entries of the thread in this burst. */
static uint64_t thread_burst(struct entries_thread *t)
{
	uint64_t entries = 0;

	for (uint32_t i = 0; i < ENTRIES_CODES; i++)
		if (t->fds[i] >= 0)
			entries += perf_fd_count(t->fds[i]).count - t->before[i];
	ring_drop(t);
	t->bursts = false;
	return entries;
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
	if (t->bursts)
		e->bursts.ended += thread_burst(t);
	uint32_t dropped = t->dropped + (e->bursts.on ? 0 : ring_drop(t));
	entries_close(t);
	*t = (struct entries_thread){.ring = NULL, .dropped = dropped};
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
	if (!t->ring || t->closing || !head || e->bursts.on)
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
	out->count += t->dropped;
	t->dropped = 0;
	t->counted = !samples.lost;
	if (now - e->second_ns > NS_PER_S) {
		e->second_ns = now;
		e->in_second = 0;
	}
	e->in_second += out->count;
}

/* --- bursts ------------------------------------------------------------------------------------ */

#define BURST_PERIOD_NS (500 * NS_PER_MS) /* between the begins of two bursts, on average */
#define BURST_LEAST_NS  (1 * NS_PER_MS)

static void burst_begin(struct entries *e, struct entries_thread *threads, uint32_t count)
{
	e->bursts.begins_ns = clock_mono_ns();
	for (uint32_t i = 0; i < count; i++) {
		struct entries_thread *t = &threads[i];

		if (!t->ring || t->closing)
			continue;
		for (uint32_t j = 0; j < ENTRIES_CODES; j++)
			t->before[j] = t->fds[j] >= 0 ? perf_fd_count(t->fds[j]).count : 0;
		t->bursts = true;
		thread_enable(t, true);
	}
	e->bursts.counting = true;
	e->bursts.spoiled = false;
	e->bursts.ended = 0;
	e->bursts.began_ns = clock_mono_ns();
	e->bursts.next_ns = e->bursts.began_ns + e->bursts.length_ns;
}

/* Schedules the next burst: as long as the budget permits at this rate, entries per second. */
static void burst_schedule(struct entries *e, uint64_t now, double rate)
{
	double length = (double)e->allowed * (double)BURST_PERIOD_NS / (rate > 1 ? rate : 1);
	uint64_t most = BURST_PERIOD_NS / 4;

	e->bursts.length_ns = length < (double)most ? (uint64_t)length : most;
	if (e->bursts.length_ns < BURST_LEAST_NS)
		e->bursts.length_ns = BURST_LEAST_NS;
	e->bursts.next_ns = now + BURST_PERIOD_NS / 2 + arms_random(BURST_PERIOD_NS);
}

/*
 * Returns the rate, entries per second. A thread that never pauses makes more calls without breakpoints, by the time of the hits; one
 * that waits for work does not. This thread may have lost its core while it began or ended the burst. The estimate is in the middle of
 * these limits. There is none of a burst in which breakpoints were moved.
 */
static double burst_end(struct entries *e, struct entries_thread *threads, uint32_t count,
	struct entries_estimate *out)
{
	double shortest = (double)(clock_mono_ns() - e->bursts.began_ns);

	for (uint32_t i = 0; i < count; i++)
		if (threads[i].bursts)
			thread_enable(&threads[i], false);
	uint64_t now = clock_mono_ns();
	double longest = (double)(now - e->bursts.begins_ns);
	double least = (double)e->bursts.ended / longest, most = least;
	for (uint32_t i = 0; i < count; i++) {
		double entries = threads[i].bursts ? (double)thread_burst(&threads[i]) : 0;
		double busy = entries * (double)e->hit_ns;

		least += entries / longest;
		most += entries / (busy < shortest / 2 ? shortest - busy : shortest / 2);
	}
	double span = (double)(now - e->bursts.since_ns);
	e->bursts.counting = false;
	if (!e->bursts.spoiled) {
		*out = (struct entries_estimate){
			.entries = (uint64_t)((least + most) / 2 * span + 0.5),
			.doubt = (uint64_t)((most - least) / 2 * span + 0.5),
			.since_ns = e->bursts.since_ns};
		e->bursts.since_ns = now;
	}
	burst_schedule(e, now, least * (double)NS_PER_S);
	return least * (double)NS_PER_S;
}

/* Records all entries again. */
static void bursts_off(struct entries *e, struct entries_thread *threads, uint32_t count)
{
	e->bursts.on = false;
	e->in_second = 0;
	for (uint32_t i = 0; i < count; i++) {
		threads[i].counted = false;
		if (!threads[i].ring || threads[i].closing)
			continue;
		thread_period(&threads[i], 1);
		thread_enable(&threads[i], true);
	}
}

uint64_t entries_bursts(struct entries *e, struct entries_thread *threads, uint32_t count,
	struct entries_estimate *out)
{
	uint64_t now = clock_mono_ns();

	*out = (struct entries_estimate){.entries = 0};
	if (!e->bursts.on && (!e->allowed || e->in_second <= e->allowed))
		return UINT64_MAX;
	if (!e->bursts.on) {
		e->bursts.on = true;
		e->bursts.since_ns = now;
		for (uint32_t i = 0; i < count; i++) {
			if (!threads[i].ring)
				continue;
			thread_enable(&threads[i], false);
			thread_period(&threads[i], COUNT_ONLY);
		}
		burst_schedule(e, now,
			(double)e->in_second * (double)NS_PER_S / (double)(now - e->second_ns + 1));
	} else if (now >= e->bursts.next_ns && !e->bursts.counting) {
		burst_begin(e, threads, count);
	} else if (now >= e->bursts.next_ns) {
		if (burst_end(e, threads, count, out) < (double)e->allowed / 2)
			bursts_off(e, threads, count);
	}
	now = clock_mono_ns();
	return !e->bursts.on ? UINT64_MAX : e->bursts.next_ns > now ? e->bursts.next_ns - now : 0;
}
