/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request that each thread works for, as published by libraries in the program: OTEP 4947, a thread-local pointer to a record.
 *
 *   front end  finds the pointer's place in the mapped libraries: struct wire_contexts
 *   publisher  contexts_set: stores the places; contexts_tick: forgets the sets of attributes
 *   handler    sig_context_add: follows the pointer through the kernel, checks the record, and appends it to the stack
 *
 * A runtime may create threads whose thread pointer is not libc's. Such a thread publishes nothing that could be found: its thread
 * pointer does not lead to a descriptor with its thread id.
 *
 * Samples are kept apart by the record's attributes, as a frame outside of the outermost one. There are at most CONTEXTS_SETS
 * different sets in CONTEXTS_NS; samples of further ones get a common frame and are counted (COUNTER_CONTEXTS_LOST). Trace and
 * span id differ with each request, so the publisher removes them from the trace and reports them as LINKS.
 */
#ifndef JHOT_SAMPLER_CONTEXTS_H
#define JHOT_SAMPLER_CONTEXTS_H

#include "sampler/sampler.h"
#include "wire/control.h"

#define CONTEXTS_SETS  512u
#define CONTEXTS_SLOTS 1024u /* a power of two */
#define CONTEXTS_NS    60000000000ull
/* Longest attributes of a record. The specification recommends at most 612 bytes; others count as no record. */
#define CONTEXTS_BYTES 1024u

struct contexts {
	/* Incremented by each command, which writes the other one of `where` before. */
	_Atomic uint32_t version;
	struct wire_contexts where[2];
	/* Hashes of the sets of attributes seen since the last reset, open addressing; 0: empty. */
	_Atomic uint32_t sets_used;
	_Atomic uint64_t sets[CONTEXTS_SLOTS];
	uint64_t reset_ns; /* publisher */
	/* Offset from the thread pointer to the thread's id in libc's descriptor of the thread; 0: unknown. */
	int64_t tid_place;
};

/* Stores the struct wire_contexts of a command, or stops reading if it has no place. 0 or -errno. Publisher only. */
int contexts_set(struct sampler *s, const char *text);
/* Makes space for other sets of attributes once CONTEXTS_NS have passed. Publisher only. */
void contexts_tick(struct sampler *s, uint64_t now);

#endif
