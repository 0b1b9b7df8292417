/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses at which JDK 8 reports allocations, as the front end finds them. */
#ifndef JHOT_TESTS_SAMPLER_DRIVER_TRAP_H
#define JHOT_TESTS_SAMPLER_DRIVER_TRAP_H

#include "wire/layout.h"

#include <sys/types.h>

/* Fills in the breakpoint for starting alloc; leaves *out unchanged if libjvm has no symbols or needs none. */
void driver_trap(pid_t pid, struct wire_perf_event *out);

#endif
