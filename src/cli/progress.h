/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a terminal is told while a JVM is attached to, and the signal that ends it.
 *
 * Nothing in the first second, which is more than it takes as a rule. Embedded: init, give its patience to whoever
 * waits, done.
 */
#ifndef JHOT_CLI_PROGRESS_H
#define JHOT_CLI_PROGRESS_H

#include "attach/jvm/hotspot.h"
#include "base/patience.h"

#include <signal.h>

struct progress {
	const struct hotspot *jvm;
	const volatile sig_atomic_t *stop; /* not 0: give up; NULL: nothing is caught */
	uint64_t begin_ns;
	bool shown;
};

struct patience progress_begin(
	struct progress *p, const struct hotspot *jvm, const volatile sig_atomic_t *stop);
void progress_done(struct progress *p); /* the line is empty again */

#endif
