/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the lookup of session/. */
#include "tests/sampler/driver_trap.h"

#include "session/alloc_trap.h"

void driver_trap(pid_t pid, struct wire_perf_event *out)
{
	struct symbols *symbols;
	struct alloc_trap trap;
	struct hotspot jvm;
	struct err err;

	if (hotspot_check(pid, &jvm, &err) || !alloc_trap_needed(&jvm))
		return;
	symbols = symbols_new(pid, jvm.nspid);
	if (!alloc_trap_find(&jvm, symbols, &trap, &err))
		*out = (struct wire_perf_event){.type = WIRE_PERF_BREAKPOINT,
			.config = trap.in_buffer,
			.config1 = trap.outside,
			.config2 = trap.bytes_argument};
	symbols_free(symbols);
}
