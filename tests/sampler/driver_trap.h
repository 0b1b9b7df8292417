/* SPDX-License-Identifier: Apache-2.0 */
/* Where JDK 8 reports allocations, as found by the front end. */
#ifndef JHOT_TESTS_SAMPLER_DRIVER_TRAP_H
#define JHOT_TESTS_SAMPLER_DRIVER_TRAP_H

#include "wire/layout.h"

#include <sys/types.h>

/* For the start of alloc; nothing where libjvm has no symbols, or needs none. */
void driver_trap(pid_t pid, struct wire_perf_event *out);

#endif
