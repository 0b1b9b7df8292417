/* SPDX-License-Identifier: Apache-2.0 */
/* Vitals by second. */
#include "tui/time/time.h"

#define REACH_S 10

const struct vitals_second *history_at(const struct profile *p, uint32_t second)
{
	for (uint32_t back = 0; back <= REACH_S && back <= second; back++) {
		const struct vitals_second *v = profile_vitals(p, second - back);

		if (v)
			return v;
	}
	return NULL;
}

static int64_t value_of(const struct vitals_second *v, enum history_what what)
{
	switch (what) {
	case HISTORY_CPU: return v->cpu_pct;
	case HISTORY_HEAP: return v->heap_used;
	case HISTORY_GC: return v->gc_pct_x10;
	default: return v->safepoint_pct_x10;
	}
}

void history_values(
	const struct profile *p, enum history_what what, uint32_t second, int64_t *out, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t back = (uint32_t)(n - 1 - i);
		const struct vitals_second *v =
			back <= second ? profile_vitals(p, second - back) : NULL;

		out[i] = v ? value_of(v, what) : -1;
	}
}
