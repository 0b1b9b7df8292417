/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of sampled allocations: their sums by site equal what the threads have allocated, while the interval changes,
 * and on JDK 17, whose sampler is inaccurate where objects are allocated outside of the thread's buffer.
 *
 * The JVM is simulated: as in HotSpot's threadHeapSampler.cpp, the distance to a thread's next sample is drawn when
 * one of its objects has been sampled, from the interval at that time. For JDK 17 so are the thread's buffers, with sizes
 * as of G1 with regions of 1 MB.
 */
#include "tests/tap.h"

#include "sampler/engine/alloc/alloc.h"

#include <math.h>

#define THREADS 2000
#define BYTES   (1 << 20) /* allocated by a thread between two changes */

static uint64_t seed = 88172645463325252u;

/* An exponential variate with this mean; xorshift, so the sequence is fixed. */
static double distance(double mean)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return -mean * log(((double)(seed >> 11) + 0.5) / 9007199254740992.0);
}

/* Each thread allocates under one interval after the other. Returns the sum of weights over the sum of bytes. */
static double share_sampled(const uint64_t *intervals, int count)
{
	static const uint64_t sizes[] = {24, 1000, 56, 30000};
	struct walk_layout layout = {.jdk = ALLOC_EXACT};
	double bytes = 0, weight = 0;

	for (int thread = 0; thread < THREADS; thread++) {
		struct alloc_past past = {.interval = 0};
		double left = distance((double)intervals[0]);

		for (int i = 0; i < count; i++)
			for (uint64_t n = 0, done = 0; done < BYTES; n++) {
				struct alloc_object o = {.size = sizes[n % 4]};

				done += o.size;
				bytes += (double)o.size;
				left -= (double)o.size;
				if (left > 0)
					continue;
				weight += (double)alloc_weight(&layout, &past, &o, intervals[i]);
				left = distance((double)intervals[i]);
			}
	}
	return weight / bytes;
}

static void check_sum(const char *name, const uint64_t *intervals, int count)
{
	double share = share_sampled(intervals, count);

	diag("%s: weights add up to %.3f of the bytes", name, share);
	ok(share > 0.95 && share < 1.05,
		"%s: the sum of the weights is within 5 %% of the allocated bytes", name);
}

/* --- JDK 17 ---------------------------------------------------------------------------------- */

#define REGION   ((uint64_t)1 << 20)
#define BUFFER   (REGION / 2)
#define EDEN     ((uint64_t)600 << 20)
#define RETAINED ((uint64_t)10000 << 20)
#define INCREMENT \
	32 /* bytes that an object outside adds to the limit of what may be left over in a buffer */
#define HUMONGOUS ((uint64_t)1 << 40)

enum { LARGE, SMALL, GARBAGE, SITES };

struct thread {
	struct walk_layout layout;
	struct alloc_past past;
	uint64_t interval, until, pending; /* HotSpot's sampler */
	uint64_t start, top, end, all_end, limit;
	uint64_t heap, region_end, used; /* the regions; bytes since the last collection */
	uint64_t all, epoch, refills, slow, waste, filled;
	double bytes[SITES], weight[SITES];
};

static void thread_sampled(struct thread *t, int site, uint64_t size, uint64_t at)
{
	struct alloc_object o = {.size = size,
		.at = at,
		.start = t->start,
		.top = t->top,
		.end = t->end,
		.buffer_bytes = BUFFER,
		.outside = at < t->start || at >= t->top,
		.counted = t->start != 0,
		.all = t->all + (t->top - t->start),
		.epoch = t->epoch,
		.inside = t->filled - t->waste - (t->end - t->top),
		.waste = t->waste,
		.refills = (uint32_t)t->refills,
		.slow = (uint32_t)t->slow,
		.here = (uint32_t)((t->limit - BUFFER / 64) / INCREMENT),
		.pending = t->pending,
		.next = t->until};

	t->weight[site] += (double)alloc_weight(&t->layout, &t->past, &o, t->interval);
}

/* ThreadHeapSampler::check_for_sampling */
static void thread_check(struct thread *t, int site, uint64_t size, uint64_t since, uint64_t at)
{
	if (size + since < t->until) {
		t->until -= size + since;
		return;
	}
	t->until = (uint64_t)distance((double)t->interval) + 1;
	thread_sampled(t, site, size, at);
}

/* ThreadLocalAllocBuffer::set_sample_end */
static void thread_place(struct thread *t, bool reset)
{
	uint64_t left = t->end - t->top;

	t->pending = reset ? 0 : t->pending;
	t->pending += left > t->until ? t->until : left;
	if (left > t->until)
		t->end = t->top + (t->until & ~(uint64_t)7);
}

static uint64_t heap_acquire(struct thread *t, uint64_t size, uint64_t *bytes)
{
	uint64_t at;

	if (t->region_end - t->heap < size) {
		t->heap = t->region_end;
		t->region_end += REGION;
	}
	at = t->heap;
	*bytes = *bytes < t->region_end - at ? *bytes : t->region_end - at;
	t->heap += *bytes;
	t->used += *bytes;
	return at;
}

static void thread_outside(struct thread *t, int site, uint64_t size)
{
	uint64_t bytes = size, at = HUMONGOUS;

	if (size < REGION / 2)
		at = heap_acquire(t, size, &bytes);
	t->all += size;
	thread_check(t, site, size, 0, at);
	if (t->start)
		thread_place(t, false);
}

static void thread_retire(struct thread *t)
{
	t->all += t->top - t->start;
	t->start = t->top = t->end = t->all_end = 0;
}

static void thread_collect(struct thread *t)
{
	thread_retire(t);
	t->epoch = t->all;
	t->refills = t->slow = t->waste = t->filled = t->used = 0;
}

/* MemAllocator::allocate */
static void thread_allocate(struct thread *t, int site, uint64_t size)
{
	uint64_t bytes = BUFFER + size < REGION / 2 ? BUFFER + size : REGION / 2, at = t->top,
		 pending;

	t->bytes[site] += (double)size;
	if (t->used > EDEN)
		thread_collect(t);
	if (t->start && t->top + size <= t->end) {
		t->top += size;
		return;
	}
	t->end = t->all_end;
	if (t->start && t->top + size <= t->end) {
		t->top += size;
		thread_check(t, site, size, t->pending, at);
		thread_place(t, t->pending != 0);
		return;
	}
	if (t->start && t->end - t->top > t->limit) {
		t->limit += INCREMENT;
		t->slow++;
		thread_outside(t, site, size);
		return;
	}
	t->waste += t->end - t->top;
	thread_retire(t);
	if (bytes < size) {
		thread_outside(t, site, size);
		return;
	}
	t->start = heap_acquire(t, size > 2048 ? size : 2048, &bytes);
	t->top = t->start + size;
	t->end = t->all_end = t->start + bytes;
	t->refills++;
	t->filled += bytes;
	t->limit = BUFFER / 64;
	pending = t->pending;
	thread_check(t, site, size, pending, t->start);
	thread_place(t, pending != 0);
}

static bool close_to(double got, double wanted, double most)
{
	return fabs(got - wanted) <= most;
}

/* Objects of two sizes in pairs, and ten times as many bytes of arrays. */
static void check_sites(uint64_t large, uint64_t small, uint64_t garbage, uint64_t interval)
{
	static struct thread t;
	uint64_t due = 0;
	double share, got;

	t = (struct thread){.interval = interval, .heap = REGION, .region_end = 2 * REGION};
	t.layout.jdk = 17;
	t.layout.tlab_refills.offset = 24; /* the other offsets are 0, which is known, too */
	t.until = (uint64_t)distance((double)interval) + 1;
	while (t.bytes[LARGE] + t.bytes[SMALL] < (double)RETAINED) {
		thread_allocate(&t, LARGE, large);
		thread_allocate(&t, SMALL, small);
		for (due += 10 * (large + small); t.bytes[GARBAGE] < (double)due;)
			thread_allocate(&t, GARBAGE, garbage);
	}
	share = t.bytes[LARGE] / (t.bytes[LARGE] + t.bytes[SMALL]);
	got = t.weight[LARGE] / (t.weight[LARGE] + t.weight[SMALL]);
	diag("%lu and %lu bytes beside %lu, every %lu: %.3f of their bytes, %.3f of the arrays', "
	     "share %.3f of %.3f",
		large, small, garbage, interval,
		(t.weight[LARGE] + t.weight[SMALL]) / (t.bytes[LARGE] + t.bytes[SMALL]),
		t.weight[GARBAGE] / t.bytes[GARBAGE], got, share);
	ok(close_to((t.weight[LARGE] + t.weight[SMALL]) / (t.bytes[LARGE] + t.bytes[SMALL]), 1,
		   0.06) &&
			close_to(t.weight[GARBAGE] / t.bytes[GARBAGE], 1, 0.05),
		"JDK 17: the bytes of %lu and %lu beside %lu, every %lu, are within 5 %%", large,
		small, garbage, interval);
	ok(close_to(got, share, 0.02),
		"JDK 17: the share of %lu and %lu beside %lu, every %lu, is within 2 points", large,
		small, garbage, interval);
}

static void check_families(void)
{
	static const uint64_t sizes[][2] = {
		{3056, 1016}, {60000, 1016}, {1016, 24}, {200000, 3056}};
	static const uint64_t garbage[] = {10000, 60000, 130000, 600000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t j = 0; j < sizeof(garbage) / sizeof(garbage[0]); j++) {
			check_sites(sizes[i][0], sizes[i][1], garbage[j], 65536);
			check_sites(sizes[i][0], sizes[i][1], garbage[j], 524288);
		}
}

int main(void)
{
	check_families();
	check_sum("one interval", (uint64_t[]){65536, 65536}, 2);
	check_sum("a longer interval", (uint64_t[]){16384, 524288}, 2);
	check_sum("a shorter interval", (uint64_t[]){524288, 16384}, 2);
	check_sum("intervals that swing", (uint64_t[]){16384, 524288, 16384, 262144, 65536}, 5);
	return tap_done();
}
