/* SPDX-License-Identifier: Apache-2.0 */
/* Output on stderr: errors, notes, and a progress line while a JVM is being attached. Single-threaded. */
#ifndef JHOT_CLI_REPORT_H
#define JHOT_CLI_REPORT_H

#include "attach/jvm/hotspot.h"
#include "base/err.h"
#include "base/patience.h"

#include <signal.h>
#include <stdio.h>

/* Prints a title and up to three blocks: what happened, try one of, details. */
void report_error(FILE *out, const struct err *err);
void report_note(FILE *out, const char *note); /* one line, cleaned; nothing for "" */

/*
 * A progress line on a terminal while a JVM is being attached, shown after one second, and a signal
 * that cancels the attach. Embedded: progress_begin, pass the returned patience to the waiting
 * call, progress_done.
 */
struct progress {
	const struct hotspot *jvm;
	const volatile sig_atomic_t *stop; /* cancel when not 0; NULL: cannot be cancelled */
	uint64_t begin_ns;
	bool shown;
};

struct patience progress_begin(
	struct progress *p, const struct hotspot *jvm, const volatile sig_atomic_t *stop);
void progress_done(struct progress *p); /* clears the line */

#endif
