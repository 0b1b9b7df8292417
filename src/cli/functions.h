/* SPDX-License-Identifier: Apache-2.0 */
/* Native functions of a JVM by name, for perf events on them: a perf_events_function. */
#ifndef JHOT_CLI_FUNCTIONS_H
#define JHOT_CLI_FUNCTIONS_H

#include "base/err.h"

#include <stdint.h>

/*
 * functions_find: ctx is the pid (pid_t *). What a library exports is found first, in the order of the
 * mappings; then what the symbol tables and separate debug files tell.
 */
int functions_find(
	void *ctx, const char *library, const char *function, uint64_t *address, struct err *err);

#endif
