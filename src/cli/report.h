/* SPDX-License-Identifier: Apache-2.0 */
/* What stderr is told: errors, notes, and how long a JVM has been attached to. */
#ifndef JHOT_CLI_REPORT_H
#define JHOT_CLI_REPORT_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"
#include "base/patience.h"

#include <signal.h>
#include <stdio.h>

/* A title line, then what happened / try one of / details; and a note of one line. */
void report_error(FILE *out, const struct err *err);
void report_note(FILE *out, const char *note); /* "": nothing */

/*
 * What a terminal is told while a JVM is attached to, and the signal that ends it: nothing in the first second, which is
 * more than it takes as a rule. Embedded: begin, give its patience to whoever waits, done.
 */
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
