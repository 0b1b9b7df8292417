/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a JVM's heap is so full that attaching, which allocates some Java objects, could make an allocation fail. Most
 * JVMs survive that; some options end the JVM, run a command or write the heap to a file.
 */
#ifndef JHOT_ATTACH_JVM_HEAP_H
#define JHOT_ATTACH_JVM_HEAP_H

#include "attach/jvm/hsperf.h"

/* In bytes. left: what the last collection left of the maximum, -1: unknown. most: the maximum. */
struct heap {
	int64_t left, most;
};

/*
 * True for Serial, Parallel and CMS: each generation has its own maximum, and nothing can be allocated in the survivor spaces.
 * With other collectors each generation may grow to the whole heap.
 */
bool heap_is_divided(const struct hsperf *perf);
struct heap heap_read(const struct hsperf *perf);
/* True when the options, separated by blanks or NULs, contain one by which a failed allocation has consequences. */
bool heap_has_option(const char *options, size_t bytes);

#endif
