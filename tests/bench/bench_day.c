/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the front end over a day of a program whose threads and classes come and go (tests/session/day.h): per
 * simulated hour the peak resident size, the size of the model, and the CPU time. `make bench ROWS=day`
 *
 *    bench_day [HOURS [SAMPLES_PER_SECOND]]
 */
#include "tests/session/day.h"

#include <malloc.h>
#include <stdlib.h>

static double resident_mb(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (double)pages * 4096 / 1e6;
}

int main(int argc, char **argv)
{
	uint32_t hours = argc > 1 ? (uint32_t)atoi(argv[1]) : 24;
	uint32_t samples = argc > 2 ? (uint32_t)atoi(argv[2]) : 200;
	static struct day d;

	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 8 << 20); /* as jhot does */
	day_init(&d);
	printf("hour   resident MB   model MB   stacks   methods   threads (ever)   CPU s\n");
	for (uint32_t hour = 1; hour <= hours; hour++) {
		uint64_t start = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID), model = 0;
		double most = 0, now;

		for (int i = 0; i < 3600; i++) {
			day_second(&d, samples);
			if (i % 10)
				continue;
			now = resident_mb();
			most = now > most ? now : most;
			if (profile_info(d.profile).bytes > model)
				model = profile_info(d.profile).bytes;
		}
		printf("%4u %13.1f %10.1f %8u %9u %9u (%u) %7.1f\n", hour, most,
			(double)model / 1e6, profile_info(d.profile).stacks,
			profile_method_count(d.profile), profile_thread_count(d.profile),
			d.next_thread,
			(double)(clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / NS_PER_S);
		fflush(stdout);
	}
	printf("= %u h of a program: memory of the front end | jhot | MB | - | %.1f\n", hours,
		resident_mb());
	if (d.rejected || reader_stats(d.reader)->unknown_traces)
		printf("wrong: %u records, %u unknown traces\n", d.rejected,
			(uint32_t)reader_stats(d.reader)->unknown_traces);
	day_done(&d);
	return 0;
}
