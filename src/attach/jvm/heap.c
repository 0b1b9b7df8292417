/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the sizes of the heap's spaces, which HotSpot updates in each collection. The maximum of each generation of Serial, Parallel
 * and CMS is its own, and nothing can be allocated in their survivor spaces; with other collectors each generation may grow to
 * the whole heap.
 */
#include "attach/jvm/heap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GENERATIONS 2
#define SPACES      3
#define MOST        (INT64_MAX / 16)

/* The value of a counter; 0 if there is none. */
__attribute__((format(printf, 2, 3))) static int64_t value_of(
	const struct hsperf *perf, const char *format, ...)
{
	char name[64];
	va_list ap;

	va_start(ap, format);
	vsnprintf(name, sizeof(name), format, ap);
	va_end(ap);
	int64_t value = hsperf_long(perf, hsperf_find(perf, name));
	return value > 0 && value < MOST ? value : 0;
}

static bool has_survivors(const struct hsperf *perf)
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
	bool apart = has_survivors(perf);
	int64_t used = 0, most = 0;

	for (int g = 0; g < GENERATIONS; g++) {
		int64_t limit = value_of(perf, "sun.gc.generation.%d.maxCapacity", g);

		most = apart ? most + limit : limit > most ? limit : most;
		for (int s = 0; s < SPACES; s++)
			used += value_of(perf, "sun.gc.generation.%d.space.%d.%s", g, s,
				apart && g == 0 && s > 0 ? "capacity" : "used");
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
