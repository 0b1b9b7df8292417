/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of sampled allocations while the interval changes: their sum equals what the threads have allocated.
 *
 * The JVM is simulated: as in HotSpot's threadHeapSampler.cpp, the distance to a thread's next sample is drawn when
 * one of its objects has been sampled, from the interval at that time.
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

int main(void)
{
	check_sum("one interval", (uint64_t[]){65536, 65536}, 2);
	check_sum("a longer interval", (uint64_t[]){16384, 524288}, 2);
	check_sum("a shorter interval", (uint64_t[]){524288, 16384}, 2);
	check_sum("intervals that swing", (uint64_t[]){16384, 524288, 16384, 262144, 65536}, 5);
	return tap_done();
}
