/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AsyncGetCallTrace, the only call into libjvm that a handler makes. On Java threads only: on others it would allocate
 * thread-local storage. The structures are those of HotSpot's forte.cpp.
 */
#include "sampler/jvm/walker_agct.h"

#include "walk/walk.h"

struct agct_frame {
	int32_t bci; /* -1 or -3: native method */
	void *method;
};

struct agct_trace {
	void *env;
	int32_t count;
	struct agct_frame *frames;
};

/* The id of a jmethodID; assigns one on first use. Lock-free. */
static uint32_t agct_id(struct agct *agct, uint64_t method)
{
	uint64_t hash = method * 0x9e3779b97f4a7c15ull;

	if (!method)
		return NAMES_ID_UNLOADED;
	for (uint32_t i = 0; i < AGCT_PROBES; i++) {
		uint32_t at = ((uint32_t)(hash >> 40) + i) % AGCT_METHODS;
		uint64_t found = atomic_load(&agct->methods[at].method);

		if (found == 0 &&
			atomic_compare_exchange_strong(&agct->methods[at].method, &found, method))
			found = method;
		if (found == method)
			return AGCT_FIRST_ID + at;
	}
	return NAMES_ID_FULL;
}

int sig_agct_walk(struct agct *agct, uint64_t java_thread, void *ucontext, void *buffer,
	uint32_t max, uint64_t *packed)
{
	struct agct_trace trace = {
		.env = (void *)(uintptr_t)(java_thread + (uint64_t)agct->env_offset),
		.frames = buffer,
	};

	agct->call(&trace, (int32_t)max, ucontext);
	for (int32_t i = 0; i < trace.count; i++) {
		uint32_t bci = trace.frames[i].bci < 0 ? WALK_BCI_UNKNOWN
						       : (uint32_t)trace.frames[i].bci & 0xffff;

		packed[i] = WALK_PACK_JAVA(
			WALK_JAVA, agct_id(agct, (uint64_t)(uintptr_t)trace.frames[i].method), bci);
	}
	return trace.count;
}
