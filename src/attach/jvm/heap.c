/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the sizes of the heap's spaces, which HotSpot updates in each collection. */
#include "attach/jvm/heap.h"

#include <string.h>

#define GENERATIONS 2
#define SPACES      3
#define MOST        (INT64_MAX / 16)

/* The value of a counter; 0 if there is none. */
static int64_t value_of(const struct hsperf *perf, int index)
{
	int64_t value = hsperf_long(perf, index);

	return value > 0 && value < MOST ? value : 0;
}

bool heap_is_divided(const struct hsperf *perf)
{
	static const char *const collectors[] = {
		"Serial", "Copy", "Parallel", "PS", "PCopy", "ParNew"};
	char name[64];

	hsperf_string(perf, hsperf_find(perf, "sun.gc.collector.0.name"), name, sizeof(name));
	for (size_t i = 0; i < sizeof(collectors) / sizeof(collectors[0]); i++)
		if (!strncmp(name, collectors[i], strlen(collectors[i])))
			return true;
	return false;
}

struct heap heap_read(const struct hsperf *perf)
{
	bool divided = heap_is_divided(perf);
	int64_t used = 0, most = 0;

	for (int g = 0; g < GENERATIONS; g++) {
		int64_t limit =
			value_of(perf, hsperf_findf(perf, "sun.gc.generation.%d.maxCapacity", g));

		most = divided ? most + limit : limit > most ? limit : most;
		for (int s = 0; s < SPACES; s++)
			used += value_of(
				perf, hsperf_findf(perf, "sun.gc.generation.%d.space.%d.%s", g, s,
					      divided && g == 0 && s > 0 ? "capacity" : "used"));
	}
	if (!most || !used)
		return (struct heap){-1, -1};
	return (struct heap){used < most ? most - used : 0, most};
}

bool heap_has_option(const char *options, size_t bytes)
{
	static const char *const found[] = {"+ExitOnOutOfMemoryError", "+CrashOnOutOfMemoryError",
		"+HeapDumpOnOutOfMemoryError", ":OnOutOfMemoryError="};

	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
		if (bytes && memmem(options, bytes, found[i], strlen(found[i])))
			return true;
	return false;
}
