/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unmounted virtual threads, grouped by state, class of the object that they wait for, and stack.
 *
 * The JVM runs while they are read; threads that are mounted during the reading are skipped. If there are more than PARKED_SCANS
 * threads, a random sample is read and its counts are extrapolated. Single-threaded.
 */
#ifndef JHOT_DUMP_PARKED_H
#define JHOT_DUMP_PARKED_H

#include "dump/dump.h"
#include "dump/java.h"
#include "dump/remote.h"
#include "dump/stack.h"

#define PARKED_SCANS 16384u /* approximate maximum of threads examined per set */

/*
 * Fills in the groups of the dump, largest first. Problems go into its note, if that is empty. reader NULL: names are omitted.
 */
void parked_capture(const struct walk_layout *layout, struct remote *remote,
	struct stack_namer *namer, struct java_reader *reader, struct dump *out);

#endif
