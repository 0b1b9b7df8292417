/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives unwind rows from the front end: collects, validates and publishes them to handlers.
 *
 * Chunks are copied from the shared staging area into private memory. Walks see a module's rows, through
 * sampler.unwind, only when they are complete and unwind_rows_check has accepted them. Each change creates a new table;
 * memory no longer referenced is unmapped once all walks that may still read it have ended. Nothing waits for that.
 * Uses at most WIRE_UNWIND_BUDGET bytes. Publisher only.
 */
#ifndef JHOT_SAMPLER_SESSION_UNWIND_RECV_H
#define JHOT_SAMPLER_SESSION_UNWIND_RECV_H

#include "sampler/publish/modules.h"
#include "sampler/sampler.h"
#include "walk/frames/unwind.h"

#define UNWIND_RECV_BLOCKS  256u
#define UNWIND_RECV_RETIRED 512u

/* The rows of one mapping. module 0: the block is free. */
struct unwind_block {
	uint32_t module; /* the mapping's id */
	uint32_t bytes;
	struct unwind_rows *rows;
	uint64_t start, end, file_offset;
};

/*
 * Memory that no table references any more but that earlier walks may still read. It is unmapped when all threads that
 * were inside the session at that time have left; memory beyond the array's size is not recorded and stays mapped.
 */
struct unwind_retired {
	void *memory;
	uint32_t bytes;
};

/* Starts in zeroed memory, except for s. */
struct unwind_recv {
	struct sampler *s;
	struct unwind_block blocks[UNWIND_RECV_BLOCKS];
	uint64_t used; /* bytes of blocks, tables, retired memory and the rows being received */

	/* the rows being received */
	uint32_t module, total, have;
	struct unwind_rows *arriving;

	uint32_t generation;        /* of the newest table */
	bool changed;               /* true when blocks have changed since the table was built */
	struct unwind_table *table; /* the published one */
	uint32_t table_bytes;

	uint32_t step; /* state of sig_passed for the first `passing` entries of retired */
	uint32_t passing, count; /* entries of retired */
	struct unwind_retired retired[UNWIND_RECV_RETIRED];
};

/* Size of a table of this many modules. */
#define UNWIND_RECV_TABLE_BYTES(modules) \
	(uint32_t)(sizeof(struct unwind_table) + (modules) * sizeof(struct unwind_module))

/* Unpublishes and unmaps everything. Requires that no thread is inside the session. */
void unwind_recv_done(struct unwind_recv *u);

/*
 * Receives the chunks of a WIRE_OP_UNWIND: `bytes` bytes of the staging area. Returns the number of chunks accepted, or
 * if there was none: -EINVAL (malformed chunk or rows), -ENOENT (no such mapping), -ENOSPC (over budget), -ENOMEM,
 * -EAGAIN (retired rows are still in use: send the same again).
 */
int unwind_recv_chunks(struct unwind_recv *u, const unsigned char *staging, uint64_t staging_bytes,
	uint64_t bytes);

/* Retires the rows of mappings that no longer exist. Call it after modules_refresh. */
void unwind_recv_prune(struct unwind_recv *u);

#endif
