/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows that the front end sends: collected, checked, published to handlers.
 *
 * Pieces are copied out of the shared staging area into private memory; only when a module's rows are whole
 * and unwind_rows_check has passed there do walks see them, through sampler.unwind. Each change makes a new table;
 * what no table names any longer is unmapped when all walks that may read it are over, and waited for by nobody.
 * At most WIRE_UNWIND_BUDGET bytes. Publisher only.
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
	uint32_t module; /* its id */
	uint32_t bytes;
	struct unwind_rows *rows;
	uint64_t start, end, file_offset;
};

/*
 * Memory that no table names any more, but that walks which began before may still read. It is unmapped when all
 * who were inside then have left the room; if there is too much of it at once, the rest stays until the session's end.
 */
struct unwind_retired {
	void *memory;
	uint32_t bytes;
};

/* In zeroed memory but for s. */
struct unwind_recv {
	struct sampler *s;
	struct unwind_block blocks[UNWIND_RECV_BLOCKS];
	uint64_t used; /* bytes of all blocks and of the one that is arriving */

	/* the one that is arriving */
	uint32_t module, total, have;
	struct unwind_rows *arriving;

	uint32_t generation;        /* of the newest table */
	bool changed;               /* blocks came or left since the table was made */
	struct unwind_table *table; /* that is published */
	uint32_t table_bytes;

	uint32_t step;           /* of sig_passed, for the first `passing` of the retired */
	uint32_t passing, count; /* retired */
	struct unwind_retired retired[UNWIND_RECV_RETIRED];
};

/* What a table of so many modules takes. */
#define UNWIND_RECV_TABLE_BYTES(modules) \
	(uint32_t)(sizeof(struct unwind_table) + (modules) * sizeof(struct unwind_module))

/* Unpublishes and unmaps everything. Nobody may be in the session's room. */
void unwind_recv_done(struct unwind_recv *u);

/*
 * unwind_recv_pieces: a WIRE_OP_UNWIND with so many bytes in the staging area. How many pieces were taken, or if none
 * was: -EINVAL (a malformed piece, or malformed rows), -ENOENT (no such mapping any more), -ENOSPC (budget),
 * -ENOMEM, -EAGAIN (rows that are given up are still in use: send the same again).
 */
int unwind_recv_pieces(struct unwind_recv *u, const unsigned char *staging, uint64_t staging_bytes,
	uint64_t bytes);

/* After modules_refresh: forget the rows of mappings that are gone. */
void unwind_recv_prune(struct unwind_recv *u);

#endif
