/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual threads that wait without a carrier, put together by what they do: state, class of what they wait for, stack.
 *
 * They are read while the JVM runs (or stands still): one that goes on meanwhile is left out. Of more than PARKED_LOOKS
 * a random part is looked at, and each stands for as many as were passed over. One thread.
 */
#ifndef JHOT_DUMP_PARKED_H
#define JHOT_DUMP_PARKED_H

#include "dump/dump.h"
#include "dump/java.h"
#include "dump/remote.h"
#include "dump/stack.h"

#define PARKED_LOOKS 16384u /* of each set of threads, about */

/*
 * Fills the groups of the dump, the largest first; what cannot be done goes into its note, if that is free.
 * reader NULL: none of them are called anything.
 */
void parked_take(const struct walk_layout *layout, struct remote *remote, struct stack_namer *namer,
	struct java_reader *reader, struct dump *out);

#endif
