/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for whom: what each thread said of its lock, put together when all of them have been seen.
 *
 * The threads were not seen at one instant, so an owner may have let go meanwhile. One thread.
 */
#ifndef JHOT_DUMP_LOCKS_H
#define JHOT_DUMP_LOCKS_H

#include "dump/dump.h"
#include "dump/java.h"

struct locks;

struct locks *locks_new(void);
void locks_free(struct locks *l);

/* Thread number `index` of the dump has this JavaThread and these facts. */
void locks_note(
	struct locks *l, uint32_t index, uint64_t java_thread, const struct java_facts *facts);

/* Fills every thread's lock. layout may be NULL: then there is nothing to fill. */
void locks_resolve(struct locks *l, const struct walk_layout *layout, const struct walk_mem *mem,
	struct dump *d);

#endif
